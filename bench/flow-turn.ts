// What the flow policy adds to a turn of the coding agent that reads a file and writes another one. npm run bench -- --only flow
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { codingAgent } from '../src/coding-agent/index.ts';
import { calls, says, scriptedProvider } from '../src/testing/index.ts';
import { median } from './median.ts';

type Turns = { readonly cpuMs: number; readonly ms: number };

const turnsPerSession = 60;
const noteBytes = 4000;

/** Prints the time of a turn without the policy and with it, from sessions that alternate. */
export async function benchFlowTurn(rounds: number): Promise<void> {
  const found = { off: [] as Turns[], ask: [] as Turns[] };
  for (const mode of ['off', 'ask'] as const) await runSession(mode, 10);
  for (let round = 0; round < rounds * 2; round++)
    for (const mode of round % 2 === 0 ? (['off', 'ask'] as const) : (['ask', 'off'] as const))
      found[mode].push(await runSession(mode, turnsPerSession));
  const [off, ask] = [found.off, found.ask].map((turns) => ({
    cpuMs: Math.min(...turns.map(({ cpuMs }) => cpuMs)),
    ms: median(turns.map(({ ms }) => ms)),
  }));
  if (!off || !ask) return;
  const format = ({ cpuMs, ms }: Turns): string => `${ms.toFixed(2)} ms, cpu ${cpuMs.toFixed(2)} ms`;
  console.log(
    `a turn with two tool calls: policy off ${format(off)}; on ${format(ask)}: x${(ask.ms / off.ms).toFixed(3)}, cpu x${(ask.cpuMs / off.cpuMs).toFixed(3)}`,
  );
}

/** The time of a turn in a session of its own; each turn adds the text of another file. */
async function runSession(mode: 'off' | 'ask', turns: number): Promise<Turns> {
  const cwd = mkdtempSync(path.join(tmpdir(), 'fairlead-bench-flow-'));
  const configDir = path.join(cwd, '.config');
  mkdirSync(configDir);
  writeFileSync(path.join(configDir, 'config.json'), JSON.stringify({ flow: mode }));
  for (let i = 0; i < turns; i++) writeFileSync(path.join(cwd, `notes-${i}.md`), createNote(i));
  const model = scriptedProvider(
    Array.from({ length: turns }, (_, i) => [
      calls('read_file', { path: `notes-${i}.md` }),
      calls('write_file', { path: `summary-${i}.md`, content: `Summary of notes ${i}.` }),
      says(`I read notes-${i}.md and wrote summary-${i}.md.`),
    ]).flat(),
  );
  try {
    await using agent = await codingAgent({
      stateDir: path.join(cwd, '.state'),
      configDir,
      cwd,
      model,
      approve: () => true,
    });
    const session = await agent.session();
    const [began, cpu] = [performance.now(), process.cpuUsage()];
    for (let i = 0; i < turns; i++) await session.run(`Read notes-${i}.md and write summary-${i}.md.`);
    const { user, system } = process.cpuUsage(cpu);
    return { ms: (performance.now() - began) / turns, cpuMs: (user + system) / 1000 / turns };
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}

function createNote(seed: number): string {
  const words: string[] = [];
  for (let size = 0; size < noteBytes; size += (words.at(-1)?.length ?? 0) + 1)
    words.push(words.length % 9 === 0 ? `item${seed}x${words.length}` : `word${(words.length * 37 + seed) % 3000}`);
  return words.join(' ');
}
