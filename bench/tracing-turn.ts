// What the export of traces adds to a turn of the coding agent with two tool calls. npm run bench -- --only tracing
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { codingAgent } from '../src/coding-agent/index.ts';
import { calls, says, scriptedProvider } from '../src/testing/index.ts';
import { median } from './median.ts';

type Turn = { readonly cpuMs: number; readonly ms: number };

const turnsPerSession = 60;
/** Sessions that compile the code: a program that exports traces usually runs for long. */
const warmUpRounds = 6;

/** A receiver in a process of its own, as in practice: it reads requests and accepts them. */
const receiverProgram = `
const server = require('node:http').createServer((request, response) => {
  request.resume().on('end', () => response.end());
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));`;

/** Prints what tracing adds to a turn: the median difference of pairs of turns, one without tracing and one with it, directly after each other. */
export async function benchTracingTurn(rounds: number): Promise<void> {
  const receiver = spawn(process.execPath, ['-e', receiverProgram], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(receiver.stdout, 'data')) as [Buffer];
  const endpoint = `http://127.0.0.1:${String(line).trim()}`;
  const off: Turn[] = [];
  const on: Turn[] = [];
  try {
    for (let round = 0; round <= rounds + warmUpRounds; round++) {
      await using without = await openSession();
      await using traced = await openSession(endpoint);
      for (let i = 0; i < turnsPerSession; i++) {
        const early = i % 2 === 0 ? await traced.run(i) : undefined;
        const base = await without.run(i);
        const other = early ?? (await traced.run(i));
        if (round > warmUpRounds) {
          off.push(base);
          on.push(other);
        }
      }
    }
  } finally {
    receiver.kill();
  }
  const describe = (key: keyof Turn): string => {
    const base = median(off.map((turn) => turn[key]));
    const added = median(on.map((turn, i) => turn[key] - (off[i]?.[key] ?? 0)));
    return `${base.toFixed(2)} ms + ${added.toFixed(3)} ms, x${(1 + added / base).toFixed(3)}`;
  };
  console.log(
    `a turn with two tool calls, without tracing + what it adds (${off.length} pairs): cpu ${describe('cpuMs')}; wall ${describe('ms')}`,
  );
}

/** Opens a session of its own, which is traced if there is a receiver. */
async function openSession(endpoint?: string): Promise<AsyncDisposable & { run(turn: number): Promise<Turn> }> {
  const cwd = mkdtempSync(path.join(tmpdir(), 'fairlead-bench-tracing-'));
  const configDir = path.join(cwd, '.config');
  mkdirSync(configDir);
  const tracing = endpoint === undefined ? {} : { tracing: { endpoint } };
  writeFileSync(path.join(configDir, 'config.json'), JSON.stringify(tracing));
  for (let i = 0; i < turnsPerSession; i++) writeFileSync(path.join(cwd, `notes-${i}.md`), `Notes ${i}.\n`.repeat(100));
  const model = scriptedProvider(
    Array.from({ length: turnsPerSession }, (_, i) => [
      calls('read_file', { path: `notes-${i}.md` }),
      calls('write_file', { path: `summary-${i}.md`, content: `Summary of notes ${i}.` }),
      says(`I read notes-${i}.md and wrote summary-${i}.md.`),
    ]).flat(),
  );
  const agent = await codingAgent({ stateDir: path.join(cwd, '.state'), configDir, cwd, model, approve: () => true });
  if (endpoint !== undefined && (await agent.resolve()).trace === undefined)
    throw new Error('The agent is not traced.');
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
