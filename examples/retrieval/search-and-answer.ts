// Indexes a folder, searches it by words and by vectors, and answers a question with citations that are checked.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  answerFromDocuments,
  createDocumentIndex,
  createEvidenceSearch,
  openSqliteStorage,
  type EmbeddingModel,
} from 'fairlead/retrieval';

const directory = mkdtempSync(path.join(tmpdir(), 'fairlead-example-'));
mkdirSync(path.join(directory, 'docs'));
writeFileSync(
  path.join(directory, 'docs/leave.md'),
  '# Handbook\n\n## Leave\n\nEvery employee has 28 days of leave.\n',
);
writeFileSync(path.join(directory, 'docs/garage.md'), '# Garage\n\nWe mend an automobile within a day.\n');

// Any model that returns a vector for each text. This one counts two groups of words, so that the example needs no server.
const embedding: EmbeddingModel = {
  name: 'example',
  embed: async (texts) =>
    texts.map((text) => [
      text.match(/car|automobile|vehicle/gi)?.length ?? 0,
      text.match(/holiday|leave|vacation/gi)?.length ?? 0,
      0.1,
    ]),
};

const index = createDocumentIndex({
  root: path.join(directory, 'docs'),
  storage: await openSqliteStorage(path.join(directory, 'index.db')),
  embedding,
});
const report = await index.update();
console.log(`${report.files} files, ${report.passages} passages, ${report.vectors} vectors`);

const { lexical, semantic, hits } = await index.search('how much vacation', { limit: 3 });
console.log(lexical.length, 'by words;', semantic[0]?.source.path, 'by meaning');
for (const { rank, source, lexicalRank, semanticRank } of hits)
  console.log(rank, source.path, source.lines, source.hash.slice(0, 12), lexicalRank, semanticRank);
assert.equal(hits[0]?.source.path, 'leave.md');

const answer = await answerFromDocuments({
  question: 'How many days of leave do I have?',
  search: async (query, options) => (await index.search(query, options)).hits,
  // One request to a model without tools; this stand-in cites a passage that exists and one that does not.
  model: async () => ({ text: 'You have 28 days [1]. Lunch is free [9].', spent: {} }),
  isCurrent: (source) => index.isCurrent(source),
});
console.log(answer.text, answer.citations[0]?.source, answer.removed);
assert.equal(answer.text, 'You have 28 days [1]. Lunch is free.');
assert.deepEqual(answer.uncited, ['Lunch is free.']);

// Evidence for the claims of fairlead/checks.
const search = createEvidenceSearch(index);
const [evidence] = await search('mend automobile', { limit: 1, signal: AbortSignal.timeout(10_000) });
assert.equal(evidence?.source.path, 'garage.md');

await index.close();
rmSync(directory, { recursive: true });
