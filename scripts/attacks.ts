// Runs every test that names an attack and prints what became of each, beside what may: `npm run attacks [-- --save]`. Fails where the two differ.
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { run } from 'node:test';
import { attacks, attacksIn, sightingIn } from './attacks/list.ts';
import { rowOf, type Standing } from './attacks/row.ts';
import { keep } from './measure/keep.ts';

const root = path.resolve(import.meta.dirname, '..');
const files = globSync(['src/**/*.test.ts', 'test/**/*.test.ts'], { cwd: root })
  .map((file) => path.join(root, file))
  .filter(
    (file) => attacksIn(readFileSync(file, 'utf8')).length > 0 || /\[attack \$\{/.test(readFileSync(file, 'utf8')),
  );

const standings = new Map<number, Standing>();
const standingOf = (attack: number): Standing => {
  const standing = standings.get(attack) ?? { passed: 0, failed: 0, skipped: 0, saw: [], figures: [] };
  standings.set(attack, standing);
  return standing;
};
const failures: string[] = [];
const stream = run({ cwd: root, files, concurrency: 2, testNamePatterns: [/\battacks? \d/] });
stream.on('test:pass', ({ name, skip }) => {
  for (const attack of attacksIn(name))
    standingOf(attack)[skip === undefined || skip === false ? 'passed' : 'skipped']++;
});
stream.on('test:fail', ({ name }) => {
  failures.push(name);
  for (const attack of attacksIn(name)) standingOf(attack).failed++;
});
stream.on('test:diagnostic', ({ message }) => {
  const seen = sightingIn(message);
  if (seen === undefined) return;
  const standing = standingOf(seen.attack);
  standing.saw.push(...seen.saw);
  if (seen.figure) standing.figures.push(seen.figure);
});
for await (const _ of stream);

console.log('| attack | what is tried | may be | was | tests |\n|---|---|---|---|---|');
const rows = Object.keys(attacks).map((attack) => rowOf(Number(attack), standings.get(Number(attack))));
for (const { line } of rows) console.log(line);
const wrong = rows.filter(({ isRight }) => !isRight).length;
console.log(`\n${rows.length - wrong} as they may be, ${wrong} not.`);
for (const name of failures) console.log(`failed: ${name}`);
if (wrong > 0 || failures.length > 0) process.exitCode = 1;
if (process.argv.includes('--save')) {
  const tried = rows.filter(({ isSkipped }) => !isSkipped);
  const good = tried.filter(({ isRight }) => isRight).length;
  keep({ 'attacks-refused': { good, total: tried.length } }, 'npm run attacks -- --save');
}
