// What the flow policy adds to a turn of the coding agent that reads a file and writes another one. npm run bench -- --only flow
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { codingAgent } from '../src/coding-agent/index.ts';
import { calls, says, scriptedProvider } from '../src/testing/index.ts';
import { median } from './median.ts';

type Turn = { readonly cpuMs: number; readonly ms: number };

const turnsPerSession = 60;
const noteBytes = 4000;

/** Prints what the policy adds to a turn: the median difference of pairs of turns, one without the policy and one with it, directly after each other. */
export async function benchFlowTurn(rounds: number): Promise<void> {
  const off: Turn[] = [];
  const ask: Turn[] = [];
  for (let round = 0; round <= rounds; round++) {
    await using without = await openSession('off');
    await using withPolicy = await openSession('ask');
    for (let i = 0; i < turnsPerSession; i++) {
      const isFirst = i % 2 === 0;
      const early = isFirst ? await withPolicy.run(i) : undefined;
      const base = await without.run(i);
      const other = early ?? (await withPolicy.run(i));
      // The first round compiles the code.
      if (round > 0) {
        off.push(base);
        ask.push(other);
      }
    }
  }
  const describe = (key: keyof Turn): string => {
    const base = median(off.map((turn) => turn[key]));
    const added = median(ask.map((turn, i) => turn[key] - (off[i]?.[key] ?? 0)));
    return `${base.toFixed(2)} ms + ${added.toFixed(2)} ms, x${(1 + added / base).toFixed(3)}`;
  };
  console.log(
    `a turn with two tool calls, policy off + what it adds (${off.length} pairs): cpu ${describe('cpuMs')}; wall ${describe('ms')}`,
  );
}

/** Opens a session of its own; each turn adds the text of another file. */
async function openSession(mode: 'off' | 'ask'): Promise<AsyncDisposable & { run(turn: number): Promise<Turn> }> {
  const cwd = mkdtempSync(path.join(tmpdir(), 'fairlead-bench-flow-'));
  const configDir = path.join(cwd, '.config');
  mkdirSync(configDir);
  writeFileSync(path.join(configDir, 'config.json'), JSON.stringify({ flow: mode }));
  for (let i = 0; i < turnsPerSession; i++) writeFileSync(path.join(cwd, `notes-${i}.md`), createNote(i));
  const model = scriptedProvider(
    Array.from({ length: turnsPerSession }, (_, i) => [
      calls('read_file', { path: `notes-${i}.md` }),
      calls('write_file', { path: `summary-${i}.md`, content: `Summary of notes ${i}.` }),
      says(`I read notes-${i}.md and wrote summary-${i}.md.`),
    ]).flat(),
  );
  const agent = await codingAgent({
    stateDir: path.join(cwd, '.state'),
    configDir,
    cwd,
    model,
    approve: () => true,
  });
  const session = await agent.session();
  return {
    async run(turn) {
      const [began, cpu] = [performance.now(), process.cpuUsage()];
      await session.run(`Read notes-${turn}.md and write summary-${turn}.md.`);
      const { user, system } = process.cpuUsage(cpu);
      return { ms: performance.now() - began, cpuMs: (user + system) / 1000 };
    },
    async [Symbol.asyncDispose]() {
      await agent[Symbol.asyncDispose]();
      rmSync(cwd, { recursive: true, force: true });
    },
  };
}

function createNote(seed: number): string {
  const words: string[] = [];
  for (let size = 0; size < noteBytes; size += (words.at(-1)?.length ?? 0) + 1)
    words.push(words.length % 9 === 0 ? `item${seed}x${words.length}` : `word${(words.length * 37 + seed) % 3000}`);
  return words.join(' ');
}
