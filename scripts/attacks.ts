// Runs every test that names an attack and prints its outcome beside the allowed ones: `npm run attacks [-- --save]`. Fails if they differ.
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { run } from 'node:test';
import { attacks, parseAttackIds, parseAttackObservation } from './attacks/catalogue.ts';
import { createReportRow, type AttackResult } from './attacks/report-row.ts';
import { saveMeasurements } from './measure/save.ts';

const root = path.resolve(import.meta.dirname, '..');
const files = globSync(['src/**/*.test.ts', 'test/**/*.test.ts'], { cwd: root })
  .map((file) => path.join(root, file))
  .filter(
    (file) => parseAttackIds(readFileSync(file, 'utf8')).length > 0 || /\[attack \$\{/.test(readFileSync(file, 'utf8')),
  );

const attackResults = new Map<number, AttackResult>();
const getAttackResult = (attack: number): AttackResult => {
  const standing = attackResults.get(attack) ?? { passed: 0, failed: 0, skipped: 0, saw: [], figures: [] };
  attackResults.set(attack, standing);
  return standing;
};
const failures: string[] = [];
const stream = run({ cwd: root, files, concurrency: 2, testNamePatterns: [/\battacks? \d/] });
stream.on('test:pass', ({ name, skip }) => {
  for (const attack of parseAttackIds(name))
    getAttackResult(attack)[skip === undefined || skip === false ? 'passed' : 'skipped']++;
});
stream.on('test:fail', ({ name }) => {
  failures.push(name);
  for (const attack of parseAttackIds(name)) getAttackResult(attack).failed++;
});
stream.on('test:diagnostic', ({ message }) => {
  const seen = parseAttackObservation(message);
  if (seen === undefined) return;
  const standing = getAttackResult(seen.attack);
  standing.saw.push(...seen.saw);
  if (seen.figure) standing.figures.push(seen.figure);
});
for await (const _ of stream);

console.log('| attack | description | allowed | observed | tests |\n|---|---|---|---|---|');
const rows = Object.keys(attacks).map((attack) => createReportRow(Number(attack), attackResults.get(Number(attack))));
for (const { line } of rows) console.log(line);
const wrongCount = rows.filter(({ isRight }) => !isRight).length;
console.log(`\n${rows.length - wrongCount} with an allowed outcome, ${wrongCount} without.`);
for (const name of failures) console.log(`failed: ${name}`);
if (wrongCount > 0 || failures.length > 0) process.exitCode = 1;
if (process.argv.includes('--save')) {
  const tried = rows.filter(({ isSkipped }) => !isSkipped);
  const good = tried.filter(({ isRight }) => isRight).length;
  saveMeasurements({ 'attacks-refused': { good, total: tried.length } }, 'npm run attacks -- --save');
}
