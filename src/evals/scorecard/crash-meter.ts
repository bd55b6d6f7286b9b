// Measures crashes: runs of the program are killed at random moments and resumed, and their effects are counted in a file.
import { spawn } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Agent, defineTool, fileSession } from '../../agent/index.ts';
import { FairleadError, toArray, type Provider } from '../../core/index.ts';
import type { ScorecardMeter } from './types.ts';

const effectsPerRun = 6;
const effectMs = 40;
const maxKillsPerRun = 3;
const processTimeoutMs = 60_000;

/** The arguments of the program with which it runs, or resumes, one run that can be killed. */
export const crashChildArgs = (folder: string): readonly string[] => ['scorecard', 'crash-child', folder];

/** Runs or resumes the run in a folder. Returns whether it ended with its answer. */
export async function runCrashChild(folder: string): Promise<boolean> {
  const send = defineTool({
    name: 'send',
    description: 'Has an effect outside.',
    effect: 'external',
    input: { type: 'object', properties: { number: { type: 'number' } } },
    async run({ number }) {
      await pause(effectMs * Math.random());
      appendFileSync(path.join(folder, 'effects'), `${number}\n`);
      await pause(effectMs * Math.random());
      return 'sent';
    },
  });
  const agent = new Agent({ model: sendingModel, tools: [send], maxTurns: 100 });
  const session = await agent.session({ store: fileSession(path.join(folder, 'session.jsonl')) });
  try {
    const { state } = session;
    if (state.ended?.reason === 'answered') return true;
    const { reason } = await (state.messages.length === 0 ? session.run('Send everything.') : session.run());
    return reason === 'answered';
  } finally {
    await session.close();
  }
}

/** A model that has one effect after the other; the number of results says which one is next. */
const sendingModel: Provider = {
  family: 'scripted',
  model: 'sending',
  price: { input: 0, output: 0 },
  async *stream({ messages }) {
    const results = toArray(messages).flatMap(({ parts }) => parts.filter(({ type }) => type === 'tool-result'));
    const isDone = results.length >= effectsPerRun;
    yield {
      type: 'end',
      message: {
        role: 'assistant',
        parts: isDone
          ? [{ type: 'text', text: 'All sent.' }]
          : [{ type: 'tool-call', id: `c${results.length}`, tool: 'send', input: { number: results.length } }],
      },
      finishReason: isDone ? 'stop' : 'tool-calls',
      usage: { input: 0, output: 0 },
      model: 'sending',
    };
  },
};

/** Runs that are killed at random moments, each up to three times, and resumed. */
export const crashMeter: ScorecardMeter = {
  ids: ['crash-runs-ended', 'effects-once'],
  async measure({ program, crashRuns = 10, signal }) {
    if (!program)
      throw new FairleadError('scorecard/no-program', 'It kills the program, and none was given.', { blame: 'user' });
    const root = mkdtempSync(path.join(tmpdir(), 'fairlead-scorecard-'));
    const counts = { ended: 0, kills: 0, once: 0, happened: 0 };
    try {
      const start = performance.now();
      const trial = mkdtempSync(path.join(root, 'run-'));
      if ((await runChild(program, trial, processTimeoutMs, signal)) !== 'answered')
        throw new FairleadError('scorecard/no-run', 'A run that was not killed did not end.', { blame: 'harness' });
      const wholeMs = performance.now() - start;
      for (let i = 0; i < crashRuns; i++) {
        signal.throwIfAborted();
        const folder = mkdtempSync(path.join(root, 'run-'));
        let end = await runChild(program, folder, wholeMs * (0.3 + 0.7 * Math.random()), signal);
        let kills = end === 'killed' ? 1 : 0;
        while (end === 'killed' && !signal.aborted) {
          const isLast = kills >= maxKillsPerRun;
          end = await runChild(
            program,
            folder,
            isLast ? processTimeoutMs : wholeMs * (0.3 + 0.7 * Math.random()),
            signal,
          );
          if (isLast) break;
          kills += end === 'killed' ? 1 : 0;
        }
        const effects = readEffects(folder);
        counts.kills += kills;
        counts.ended += end === 'answered' ? 1 : 0;
        counts.happened += effects.size;
        counts.once += [...effects.values()].filter((count) => count === 1).length;
      }
    } finally {
      rmSync(root, { recursive: true, force: true, maxRetries: 5 });
    }
    signal.throwIfAborted();
    const about = `runs that were killed ${counts.kills} times in all`;
    return {
      'crash-runs-ended': { good: counts.ended, total: crashRuns, about },
      'effects-once': { good: counts.once, total: counts.happened, about },
    };
  },
};

/** Starts the program and kills it after a time, if it has not ended before. */
async function runChild(
  [command = '', ...args]: readonly string[],
  folder: string,
  killAfterMs: number,
  signal: AbortSignal,
): Promise<'answered' | 'killed' | 'failed'> {
  const child = spawn(command, [...args, ...crashChildArgs(folder)], { stdio: 'ignore' });
  const timer = setTimeout(() => child.kill('SIGKILL'), killAfterMs);
  const onAbort = (): void => void child.kill('SIGKILL');
  signal.addEventListener('abort', onAbort, { once: true });
  const { promise, resolve } = Promise.withResolvers<'answered' | 'killed' | 'failed'>();
  child.on('error', () => resolve('failed'));
  child.on('exit', (code, killed) => resolve(killed === 'SIGKILL' ? 'killed' : code === 0 ? 'answered' : 'failed'));
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}

/** How often each effect happened. */
function readEffects(folder: string): ReadonlyMap<string, number> {
  let lines: readonly string[] = [];
  try {
    lines = readFileSync(path.join(folder, 'effects'), 'utf8').trimEnd().split('\n');
  } catch {
    // The run was killed before its first effect.
  }
  return new Map(
    Map.groupBy(lines, (line) => line)
      .entries()
      .map(([line, all]) => [line, all.length]),
  );
}
