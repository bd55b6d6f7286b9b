// An answer of about 2,000 words and the log of 1,000 events that it is the last answer of: what the deterministic layer is measured with.
import type { Event, Fact } from '../src/core/index.ts';

/** Prose of answers: one sentence of four has words that a claim could have. */
const prose: readonly string[] = [
  'The cache holds the last value of each key, so a reader does not wait for a writer when the disk is slow or the queue is long.',
  'Each worker takes one job at a time from the queue and writes its result to the table before it asks the server for another.',
  'When a lease ends before its result is there, the next worker that asks gets the job, which is why a job may start two times.',
  'The tests passed a fake clock to the scheduler, and the last value was used until the entry expired or we removed it by hand.',
];

/** Words of the prose, and words that another answer has in their place. */
const otherWords: readonly (readonly [word: string, other: string])[] = [
  ['cache', 'store'],
  ['value', 'number'],
  ['worker', 'thread'],
  ['queue', 'stack'],
  ['disk', 'network'],
  ['table', 'ledger'],
];

/** An answer of about 2,000 words: prose, and a report with nine claims in the middle. The number of the answer selects words of the prose. */
function createAnswer(number: number): string {
  const report = [
    'I updated `src/part-1.ts` and src/part-2.ts, and then ran `npm test`, which exited with code 0.',
    '- `src/part-3.ts`: added a check',
    '- Created `src/part-4.ts`',
    'All 12 tests pass, and the linter is clean.',
    'The command printed `12 passing`.',
  ];
  const plain = Array.from({ length: 38 }, (_, i) => prose[i % prose.length]).join(' ');
  const paragraph = otherWords.reduce(
    (text, [word, other], i) => (((number >> i) & 1) === 1 ? text.replaceAll(word, other) : text),
    plain,
  );
  return [paragraph, ...report, paragraph].join('\n\n');
}

/** Edits and commands of 200 turns. */
function createFacts(answer: string): readonly Fact[] {
  const limits = { turns: 500, errors: 5, maxRetriesPerAnswer: 2, stuckAfter: 0, outputChars: 10_000 };
  const tools = [{ name: 'write_file', description: 'Writes.', input: { type: 'object' } }];
  const turn = (i: number): readonly Fact[] => {
    const isTest = i % 4 === 3;
    const call = `c${i}`;
    const tool = isTest ? 'run_command' : 'write_file';
    const input = isTest
      ? { command: 'npm test' }
      : { path: `src/part-${i % 50}.ts`, content: `export const a = ${i};\n` };
    const message = { role: 'assistant', parts: [{ type: 'tool-call', id: call, tool, input }] } as const;
    const data = isTest
      ? { code: 0, signal: null }
      : { path: `/p/src/part-${i % 50}.ts`, before: null, after: `hash ${i}`, diff: '' };
    return [
      { type: 'turn-started', turn: i + 1, inputs: [], notes: [] },
      {
        type: 'turn-ended',
        turn: i + 1,
        message,
        finishReason: 'tool-calls',
        usage: { input: 100, output: 20 },
        model: 'm',
        ms: 1,
      },
      { type: 'tool-started', call, tool, key: `k${i}` },
      {
        type: 'tool-ended',
        call,
        outcome: 'ok',
        text: isTest ? `${'ok\n'.repeat(200)}12 passing\n[Exit code: 0.]` : 'Written.',
        data,
        ms: 1,
      },
      { type: 'annotation-added', key: 'note', value: i },
    ];
  };
  return [
    { type: 'session-started', session: 's', nonce: 'n' },
    { type: 'epoch-started', epoch: 1, reason: 'started', system: '', tools, model: 'm' },
    { type: 'input-received', input: 'i', how: 'prompt', parts: [{ type: 'text', text: 'go' }] },
    { type: 'run-started', run: 'r', limits },
    ...Array.from({ length: 200 }, (_, i) => turn(i)).flat(),
    { type: 'turn-started', turn: 201, inputs: [], notes: [] },
    {
      type: 'turn-ended',
      turn: 201,
      message: { role: 'assistant', parts: [{ type: 'text', text: answer }] },
      finishReason: 'stop',
      usage: { input: 100, output: 20 },
      model: 'm',
      ms: 1,
    },
  ];
}

const toEvents = (facts: readonly Fact[]): readonly Event[] =>
  facts.map((fact, i): Event => ({
    ...fact,
    seq: i + 1,
    id: `e${i + 1}`,
    parent: i === 0 ? null : `e${i}`,
    time: '2026-01-01T00:00:00.000Z',
  }));

/** An answer of about 2,000 words, and a log of 1,000 events that it is the last answer of. Answers with different numbers below 64 differ. */
export function createLogInput(number = 0): { readonly answer: string; readonly events: readonly Event[] } {
  const answer = createAnswer(number);
  return { answer, events: toEvents(createFacts(answer)) };
}
