// Sessions of a given size, written as the store itself writes them.
import type { Fact, Log } from '../src/core/index.ts';
import { openJsonl } from '../src/stores/index.ts';

const createStartFacts = (): Fact[] => [
  { type: 'session-started', session: 'bench' },
  { type: 'epoch-started', epoch: 1, reason: 'started', system: 'You are a test.', tools: [], model: 'mock' },
];

const createTurnFacts = (n: number, result: string): Fact[] => [
  { type: 'turn-started', turn: n, inputs: n === 1 ? ['i1'] : [], notes: [] },
  {
    type: 'turn-ended',
    turn: n,
    message: { role: 'assistant', parts: [{ type: 'tool-call', id: `c${n}`, tool: 'noop', input: { i: n } }] },
    finishReason: 'tool-calls',
    usage: { input: 100, output: 10 },
    model: 'mock',
    ms: 1,
  },
  { type: 'tool-started', call: `c${n}`, tool: 'noop', key: `bench/c${n}` },
  { type: 'tool-ended', call: `c${n}`, outcome: 'ok', text: result, ms: 1 },
];

async function writeSession(file: string, turns: number, result: (n: number) => string): Promise<void> {
  const log: Log = await openJsonl(file);
  const head: Fact[] = [
    ...createStartFacts(),
    { type: 'input-received', input: 'i1', how: 'prompt', parts: [{ type: 'text', text: 'go' }] },
    {
      type: 'run-started',
      run: 'r1',
      limits: { turns: 1e9, errors: 5, maxRetriesPerAnswer: 2, stuckAfter: 0, outputChars: 1e9 },
    },
  ];
  let seq = (await log.append(0, head)).at(-1)?.seq ?? 0;
  for (let n = 1; n <= turns; n += 100) {
    const facts = Array.from({ length: Math.min(100, turns - n + 1) }, (_, i) =>
      createTurnFacts(n + i, result(n + i)),
    ).flat();
    seq = (await log.append(seq, facts)).at(-1)?.seq ?? seq;
  }
  await log.append(
    seq,
    [
      { type: 'turn-started', turn: turns + 1, inputs: [], notes: [] },
      {
        type: 'turn-ended',
        turn: turns + 1,
        message: { role: 'assistant', parts: [{ type: 'text', text: 'done' }] },
        finishReason: 'stop',
        usage: { input: 100, output: 10 },
        model: 'mock',
        ms: 1,
      },
      { type: 'run-ended', reason: 'answered' },
    ],
    { durable: true },
  );
  await log.close();
}

/** A session of about this many events. */
export const writeEvents = (file: string, events: number): Promise<void> =>
  writeSession(file, Math.floor((events - 7) / 4), (n) => `result ${n}`);

/** A session of this many messages, every second one a tool result of this size. */
export const writeMessages = (file: string, messages: number, size: number): Promise<void> =>
  writeSession(file, Math.floor((messages - 2) / 2), (n) =>
    `${n} The quick brown fox jumps over the lazy dog. `.repeat(Math.ceil(size / 46)).slice(0, size),
  );
