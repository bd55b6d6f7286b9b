// Measures what an option of the coding agent adds to a turn that reads a file and writes another one: sessions without and with the option take turns, directly after each other.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Agent } from '../src/agent/index.ts';
import { codingAgent } from '../src/coding-agent/index.ts';
import { calls, says, scriptedProvider } from '../src/testing/index.ts';
import { median } from './median.ts';

/** The processor time and the time of one turn, or of the work for several ones. */
export type TurnCost = { readonly cpuMs: number; readonly ms: number };

/** A session that runs one turn after another. */
export type TurnSession = AsyncDisposable & { readonly agent: Agent; run(turn: number): Promise<TurnCost> };

/** The two sessions of a round, and what is done after its turns. */
export type TurnPair = {
  readonly without: TurnSession;
  readonly withOption: TurnSession;
  /** Work for all turns of the session with the option; its cost is added to them in equal parts. */
  readonly finish?: () => Promise<TurnCost>;
};

/** How many turns are measured. */
export type TurnPairOptions = {
  readonly rounds: number;
  /** Rounds that only compile the code. */
  readonly warmUpRounds: number;
  readonly turnsPerSession: number;
  /** The rounds at the start of the process whose cost is returned too: no code is compiled before them. */
  readonly firstRounds?: number;
};

/** Returns a sentence with the median of the turns without the option and what the option adds: the median difference of the pairs, and the median of the work after the turns. */
export async function measureTurnPairs(
  open: () => Promise<TurnPair>,
  { rounds, warmUpRounds, turnsPerSession, firstRounds = 0 }: TurnPairOptions,
): Promise<string> {
  const first: MeasuredTurns = { off: [], on: [], finished: [] };
  const measured: MeasuredTurns = { off: [], on: [], finished: [] };
  for (let round = 0; round < rounds + warmUpRounds; round++) {
    const { without, withOption, finish } = await open();
    await using stack = new AsyncDisposableStack();
    stack.use(without);
    stack.use(withOption);
    const turns = round < firstRounds ? first : round < warmUpRounds ? undefined : measured;
    for (let i = 0; i < turnsPerSession; i++) {
      const early = i % 2 === 0 ? await withOption.run(i) : undefined;
      const base = await without.run(i);
      const other = early ?? (await withOption.run(i));
      turns?.off.push(base);
      turns?.on.push(other);
    }
    const rest = await finish?.();
    if (rest) turns?.finished.push(rest);
  }
  const start =
    first.off.length === 0 ? '' : `; the first turns of the process, ${describeTurns(first, turnsPerSession)}`;
  return `${describeTurns(measured, turnsPerSession)}${start}`;
}

/** The turns of some rounds, and the work after them, one for each round. */
type MeasuredTurns = { readonly off: TurnCost[]; readonly on: TurnCost[]; readonly finished: TurnCost[] };

function describeTurns({ off, on, finished }: MeasuredTurns, turnsPerSession: number): string {
  const describe = (key: keyof TurnCost): string => {
    const base = median(off.map((turn) => turn[key]));
    const inTurn = median(on.map((turn, i) => turn[key] - (off[i]?.[key] ?? 0)));
    const after = finished.length === 0 ? 0 : median(finished.map((rest) => rest[key])) / turnsPerSession;
    const parts = finished.length === 0 ? '' : ` (${inTurn.toFixed(3)} in the turn, ${after.toFixed(3)} after it)`;
    const added = inTurn + after;
    return `${base.toFixed(2)} ms + ${added.toFixed(3)} ms${parts}, x${(1 + added / base).toFixed(3)}`;
  };
  return `${off.length} pairs: cpu ${describe('cpuMs')}; wall ${describe('ms')}`;
}

/** Opens a session of its own with this config and these notes, one for each turn. */
export async function openTurnSession(config: object, notes: readonly string[]): Promise<TurnSession> {
  const cwd = mkdtempSync(path.join(tmpdir(), 'fairlead-bench-turn-'));
  const configDir = path.join(cwd, '.config');
  mkdirSync(configDir);
  writeFileSync(path.join(configDir, 'config.json'), JSON.stringify(config));
  for (const [i, note] of notes.entries()) writeFileSync(path.join(cwd, `notes-${i}.md`), note);
  const model = scriptedProvider(
    notes.flatMap((_, i) => [
      calls('read_file', { path: `notes-${i}.md` }),
      calls('write_file', { path: `summary-${i}.md`, content: `Summary of notes ${i}.` }),
      says(`I read notes-${i}.md and wrote summary-${i}.md.`),
    ]),
  );
  const agent = await codingAgent({ stateDir: path.join(cwd, '.state'), configDir, cwd, model, approve: () => true });
  const session = await agent.session();
  return {
    agent,
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
