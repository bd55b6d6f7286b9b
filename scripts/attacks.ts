// Runs every test that names an attack and prints what became of each: `npm run attacks`.
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { run } from 'node:test';
import { attacks, attacksIn } from './attacks/list.ts';

type Standing = { passed: number; failed: number; skipped: number };

const root = path.resolve(import.meta.dirname, '..');
const files = globSync(['src/**/*.test.ts', 'test/**/*.test.ts'], { cwd: root })
  .map((file) => path.join(root, file))
  .filter((file) => attacksIn(readFileSync(file, 'utf8')).length > 0);

const standings = new Map<number, Standing>();
const stream = run({ cwd: root, files, concurrency: 2, testNamePatterns: [/\battacks? \d/] });
const note = (title: string, how: keyof Standing): void => {
  for (const id of attacksIn(title)) {
    const standing = standings.get(id) ?? { passed: 0, failed: 0, skipped: 0 };
    standing[how] += 1;
    standings.set(id, standing);
  }
};
stream.on('test:pass', ({ name, skip }) => note(name, skip === undefined || skip === false ? 'passed' : 'skipped'));
stream.on('test:fail', ({ name }) => {
  note(name, 'failed');
  process.exitCode = 1;
});
for await (const _ of stream);

console.log('| attack | what is tried | outcome | tests |\n|---|---|---|---|');
for (const [id, [what, outcome]] of Object.entries(attacks)) {
  const standing = standings.get(Number(id));
  console.log(`| ${id} | ${what} | ${came(standing, outcome)} | ${standing?.passed ?? 0} |`);
}

function came(standing: Standing | undefined, outcome: string): string {
  if (standing === undefined) return 'no test';
  if (standing.failed > 0) return 'FAILED';
  return standing.passed > 0 ? outcome : 'skipped here';
}
