// Runs the deterministic verifiers over a trap set, or counts the sentences of documents that they support: npm run traps -- [--file traps.jsonl] [--coverage docs]
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import {
  defaultVerifiers,
  formatTrapReport,
  measureTraps,
  parseTraps,
  runVerifiers,
  splitClaims,
  verificationTraps,
  type Evidence,
} from '../src/checks/index.ts';

/** How many claims of documents are supported by these documents: each by its own, and each by all. */
async function measureCoverage(folder: string): Promise<string> {
  const documents = globSync('**/*.md', { cwd: folder }).map((path): Evidence => {
    const text = readFileSync(join(folder, path), 'utf8');
    return { source: { type: 'given', name: path }, text };
  });
  const counts = { claims: 0, own: 0, all: 0 };
  const { signal } = new AbortController();
  for (const document of documents)
    for (const claim of splitClaims(document.text)) {
      if (claim.kind === 'code') continue;
      const answer = claim.text;
      const single = { ...claim, span: { start: 0, end: answer.length } };
      const verify = async (evidence: readonly Evidence[]) =>
        (await runVerifiers(defaultVerifiers, single, { answer, evidence, signal })).verdict?.type === 'supported';
      counts.claims += 1;
      if (await verify([document])) counts.own += 1;
      if (await verify(documents)) counts.all += 1;
    }
  const share = (count: number): string =>
    `${count} of ${counts.claims} (${((100 * count) / counts.claims).toFixed(1)} %)`;
  return `${documents.length} documents\nsupported by their own document: ${share(counts.own)}\nsupported by all documents: ${share(counts.all)}`;
}

const { values } = parseArgs({ options: { file: { type: 'string' }, coverage: { type: 'string' } } });
if (values.coverage === undefined) {
  const traps = values.file === undefined ? verificationTraps : parseTraps(readFileSync(values.file, 'utf8'));
  const report = await measureTraps(traps);
  console.log(`${traps.length} traps\n${formatTrapReport(report)}`);
  process.exitCode = report.falseAccepts.count === 0 ? 0 : 1;
} else console.log(await measureCoverage(values.coverage));
