// Compares the support scorer with a reference implementation: node scripts/scorer-parity.ts <folder with verifier.mjs, verifier.json and examples.jsonl> [random pairs]
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { contentWords, scoreSupport, splitSentences, createRandom } from '../src/checks/index.ts';

type Scored = { readonly score: number; readonly probability: number; readonly features: readonly number[] };
type Reference = {
  readonly words: (text: string) => readonly string[];
  readonly sentences: (text: string) => readonly string[];
  readonly Verifier: {
    load(folder: URL): { support(claim: string, evidence: string | readonly string[]): Scored };
  };
};

const [folder, pairs = '2000'] = process.argv.slice(2);
if (folder === undefined) throw new Error('Give the folder of the reference implementation.');
const folderUrl = pathToFileURL(path.resolve(folder) + path.sep);
const reference = (await import(new URL('verifier.mjs', folderUrl).href)) as Reference;
const scorer = reference.Verifier.load(folderUrl);

let maxFeature = 0;
let maxScore = 0;
let unequal = 0;
function compare(claim: string, evidence: string | readonly string[]): number {
  const expected = scorer.support(claim, evidence);
  const actual = scoreSupport(claim, evidence);
  for (const [index, value] of expected.features.entries())
    maxFeature = Math.max(maxFeature, Math.abs(value - (actual.features[index] ?? Number.NaN)));
  maxScore = Math.max(maxScore, Math.abs(expected.score - actual.score));
  const texts = typeof evidence === 'string' ? [claim, evidence] : [claim, ...evidence];
  for (const text of texts) {
    if (contentWords(text).join(' ') !== reference.words(text).join(' ')) unequal += 1;
    if (splitSentences(text).join('\n') !== reference.sentences(text).join('\n')) unequal += 1;
  }
  return actual.score;
}

const rows = readFileSync(path.join(folder, 'examples.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as { readonly claim: string; readonly text: string; readonly score: number });
const recorded = Math.max(...rows.map(({ claim, text, score }) => Math.abs(compare(claim, text) - score)));
console.log(
  `${rows.length} examples: features differ by at most ${maxFeature}, scores by ${maxScore}; from the recorded scores by ${recorded.toExponential(1)}`,
);

// Random text of words, punctuation, white space and letters of other alphabets, in which sentences and numbers are frequent.
const pieces = [
  ...'the of Paris Berlin runs running tested 1,000.5 3.14 42 İstanbul ΣΟΦΟΣ straße 中文。 e.g. A. "Yes." (No!) x_y it’s don\'t \u212a \u00a0 ,'.split(
    ' ',
  ),
  '. ',
  '! ',
  '?\n',
  '." ',
  '\n\n',
  '  ',
  '\t',
  '.',
  ',',
  "'",
  '\u2028',
  '\u{1f600}',
];
const random = createRandom(7);
const randomText = (length: number): string =>
  Array.from({ length }, () => `${pieces[Math.floor(random() * pieces.length)]}${random() < 0.7 ? ' ' : ''}`).join('');
[maxFeature, maxScore] = [0, 0];
for (let pair = 0; pair < Number(pairs); pair++) {
  const claim = randomText(Math.floor(random() * 30));
  const evidence = randomText(Math.floor(random() * 400));
  compare(claim, random() < 0.5 ? evidence : splitSentences(evidence));
}
console.log(`${pairs} random pairs: features differ by at most ${maxFeature}, scores by ${maxScore}`);
console.log(`words or sentences that differ: ${unequal}`);
process.exitCode = unequal === 0 && maxFeature < 1e-9 && maxScore < 1e-9 && recorded < 1e-3 ? 0 : 1;
