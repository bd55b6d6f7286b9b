// Runs the tests that measure claims of the scorecard, and saves the counts: `npm run measure`. A failed test measures nothing.
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { run } from 'node:test';
import { parseArgs } from 'node:util';
import type { RateCount } from '../src/fleet/health/index.ts';
import { saveMeasurements } from './measure/save.ts';
import { parseMeasuredIds, parseMeasurement } from './measure/diagnostic.ts';

const { values } = parseArgs({
  options: { root: { type: 'string', default: path.resolve(import.meta.dirname, '..') } },
});
const root = path.resolve(values.root);
const sources = globSync(['src/**/*.test.ts', 'test/**/*.test.ts'], { cwd: root }).map((file) => path.join(root, file));
const measuringFiles = sources.filter((file) => parseMeasuredIds(readFileSync(file, 'utf8')).length > 0);
const counts: Record<string, RateCount | undefined> = Object.fromEntries(
  measuringFiles.flatMap((file) => parseMeasuredIds(readFileSync(file, 'utf8'))).map((id) => [id, undefined]),
);
const failures: string[] = [];
const stream = run({ cwd: root, files: measuringFiles, concurrency: 1 });
stream.on('test:fail', ({ name }) => failures.push(name));
stream.on('test:diagnostic', ({ message }) => {
  const found = parseMeasurement(message);
  if (!found) return;
  const { good = 0, total = 0 } = counts[found.id] ?? {};
  counts[found.id] = { good: good + found.good, total: total + found.total };
});
for await (const _ of stream);

for (const [id, count] of Object.entries(counts))
  console.log(`${id.padEnd(20)} ${count ? `${count.good} of ${count.total}` : 'not measured'}`);
for (const name of failures) console.log(`failed: ${name}`);
saveMeasurements(counts, 'npm run measure');
if (failures.length > 0) process.exitCode = 1;
