// What measuring rules costs: 1,000 recorded sessions of 100 events folded with 50 rules, read from their files. npm run bench -- --only backtest
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { median } from './median.ts';
import { writeEvents } from './sessions.ts';

const rules = `
name: bench
builtIn: true
gates:
  - { type: read-before-edit }
  - { type: rate-limit, tool: noop, most: 20, per: run, name: many }
${Array.from({ length: 35 }, (_, i) => `  - { type: deny, name: never-${i}, tools: [tool_${i}], reason: No. }`).join('\n')}
`;

/** Prints how long the program takes to fold so many sessions. */
export async function benchBacktest(folder: string, rounds: number, sessions = 1000): Promise<void> {
  const shelf = path.join(folder, 'backtest');
  mkdirSync(shelf, { recursive: true });
  const first = path.join(shelf, 'session_0.jsonl');
  await writeEvents(first, 100);
  for (let i = 1; i < sessions; i++) copyFileSync(first, path.join(shelf, `session_${i}.jsonl`));
  const file = path.join(folder, 'rules.yaml');
  writeFileSync(file, rules);
  const bin = path.resolve(import.meta.dirname, '../src/cli/bin.ts');
  const took: number[] = [];
  let said = '';
  for (let round = 0; round < Math.min(rounds, 3); round++) {
    const since = performance.now();
    const ran = spawnSync(process.execPath, [bin, 'rules', 'backtest', file, shelf], {
      encoding: 'utf8',
      maxBuffer: 1e9,
    });
    if (ran.status !== 0) throw new Error(ran.stderr);
    took.push(performance.now() - since);
    said = ran.stdout.trim().split('\n').at(-1) ?? '';
  }
  console.log(`\nBacktest of ${sessions} sessions of 100 events with 50 rules, from the files`);
  console.log(`  ${(median(took) / 1000).toFixed(2)} s (${said})`);
}
