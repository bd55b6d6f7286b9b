// The loop, from a prompt to an answer, on a scripted provider.
import assert from 'node:assert/strict';
import test from 'node:test';
import { memoryLog } from '../stores/index.ts';
import {
  FairleadError,
  historyError,
  openSessionWriter,
  runLoop,
  runStateView,
  toArray,
  type ResolvedAgent,
  type Chunk,
  type Fact,
  type Limits,
  type Message,
  type ModelRequest,
  type RunState,
  type Tool,
} from './index.ts';

const limits: Limits = { turns: 9, errors: 5, maxRetriesPerAnswer: 2, stuckAfter: 5, outputChars: 1000 };
const says = (text: string): Message => ({ role: 'assistant', parts: [{ type: 'text', text }] });
const asks = (...tools: string[]): Message => ({
  role: 'assistant',
  parts: tools.map((tool, i) => ({ type: 'tool-call', id: `x${i}`, tool, input: { i } })),
});
const tool = (name: string, effect: Tool['effect'], act: () => unknown): Tool => ({
  name,
  description: name,
  input: { type: 'object' },
  effect,
  execute: act,
});

function agentOf(script: readonly Message[], tools: readonly Tool[], requests: ModelRequest[] = []): ResolvedAgent {
  return {
    system: 's',
    tools: new Map(tools.map((each) => [each.name, each])),
    rules: [],
    reminders: [],
    gates: [],
    stops: [],
    checks: [],
    settings: {},
    provider: {
      family: 'test',
      model: 'm',
      price: { input: 1, output: 1 },
      async *stream(request): AsyncIterable<Chunk> {
        requests.push(request);
        const message = script[requests.length - 1] as Message;
        yield {
          type: 'end',
          message,
          finishReason: message.parts.some((part) => part.type === 'tool-call') ? 'tool-calls' : 'stop',
          usage: { input: 10, output: 2 },
          model: 'm',
        };
      },
    },
  };
}

test('a run goes from a prompt through parallel tools to an answer, with results in call order', async () => {
  const requests: ModelRequest[] = [];
  const order: string[] = [];
  const slow = tool('slow', 'read', async () => {
    await new Promise((wake) => setTimeout(wake, 20));
    order.push('slow');
    return 'one';
  });
  const fast = tool('fast', 'read', () => {
    order.push('fast');
    return 'two';
  });
  const agent = agentOf([asks('slow', 'fast'), says('done')], [slow, fast], requests);
  const head = await openSessionWriter(memoryLog(), runStateView());
  await head.record([
    { type: 'session-started', session: 's1' },
    { type: 'epoch-started', epoch: 1, reason: 'started', system: 's', tools: [], model: 'm' },
    { type: 'input-received', input: 'i1', how: 'prompt', parts: [{ type: 'text', text: 'go' }] },
    { type: 'run-started', run: 'r1', limits },
  ]);
  const state = await runLoop(agent, {
    writer: head,
    signal: new AbortController().signal,
    onChunk: () => {},
    clock: () => performance.now(),
  });
  assert.equal(state.ended?.reason, 'answered');
  assert.deepEqual(order, ['fast', 'slow']);
  const results = toArray(state.messages)[2]?.parts.map((part) => (part.type === 'tool-result' ? part.text : ''));
  assert.deepEqual(results, ['one', 'two']);
  assert.equal(requests.length, 2);
  assert.equal(state.spent.calls, 2);
});

test('[A24] whichever append fails, the run ends with the error of the store, and continues once the log is writable', async () => {
  for (let n = 1; ; n++) {
    let saved = 0;
    let left = n;
    const log = memoryLog();
    const failing = {
      ...log,
      append: (...args: Parameters<typeof log.append>) =>
        --left === 0 ? Promise.reject(new Error(`append ${n} failed`)) : log.append(...args),
    };
    const agent = agentOf(
      [asks('look', 'save', 'look'), says('done'), says('done')],
      [tool('look', 'read', () => 'seen'), tool('save', 'write', () => `saved ${++saved}`)],
    );
    const checked: ResolvedAgent = { ...agent, checks: [{ name: 'fine', run: () => ({ type: 'passed' }) }] };
    const head = await openSessionWriter(failing, runStateView());
    const facts: readonly Fact[] = [
      { type: 'session-started', session: 's1' },
      { type: 'epoch-started', epoch: 1, reason: 'started', system: 's', tools: [], model: 'm' },
      { type: 'input-received', input: 'i1', how: 'prompt', parts: [{ type: 'text', text: 'go' }] },
      { type: 'run-started', run: 'r1', limits },
    ];
    const go = (): Promise<RunState> =>
      runLoop(checked, { writer: head, signal: new AbortController().signal, onChunk: () => {}, clock: () => 0 });
    const begin = (): Promise<unknown> => head.record(facts);
    const failed = await begin()
      .then(go)
      .then(
        () => undefined,
        (error: unknown) => error,
      );
    if (failed === undefined) {
      assert.ok(n > 8, `${n} appends`);
      assert.equal(saved, 1);
      break;
    }
    assert.ok(failed instanceof FairleadError && failed.blame === 'store');
    assert.equal(head.state.ended, undefined);
    assert.equal(head.state.seq, log.events.length, 'the state matches the log');
    if (head.state.seq === 0) await begin();
    const state = await go();
    assert.equal(state.ended?.reason, 'answered', `append ${n}`);
    assert.ok(saved <= 1, `the write happened ${saved} times`);
    assert.equal(historyError(toArray(state.messages)), undefined);
  }
});

test('facts that must survive a power cut are synced: before a request, before an effect, before an answer or an end is shown', async () => {
  const log = memoryLog();
  const settled: string[] = [];
  const watching = {
    ...log,
    append: (...args: Parameters<typeof log.append>) => {
      settled.push(...args[1].map((fact) => `${fact.type}${args[2]?.durable ? ' settled' : ''}`));
      return log.append(...args);
    },
  };
  let verdicts = 0;
  const agent = agentOf(
    [asks('look'), asks('save'), says('one'), says('two')],
    [tool('look', 'read', () => 'seen'), tool('save', 'write', () => 'saved')],
  );
  const checks: ResolvedAgent['checks'] = [
    { name: 'strict', run: () => (verdicts++ ? { type: 'passed' } : { type: 'failed', why: 'again' }) },
  ];
  const head = await openSessionWriter(watching, runStateView());
  await head.record([
    { type: 'session-started', session: 's1' },
    { type: 'epoch-started', epoch: 1, reason: 'started', system: 's', tools: [], model: 'm' },
    { type: 'input-received', input: 'i1', how: 'prompt', parts: [{ type: 'text', text: 'go' }] },
    { type: 'run-started', run: 'r1', limits },
  ]);
  settled.length = 0;
  await runLoop(
    { ...agent, checks },
    { writer: head, signal: new AbortController().signal, onChunk: () => {}, clock: () => 0 },
  );
  const turn = ['turn-started settled', 'turn-ended settled'];
  assert.deepEqual(settled, [
    ...turn,
    'tool-started',
    'tool-ended',
    ...turn,
    'tool-started settled',
    'tool-ended settled',
    ...turn,
    'check-ended settled',
    ...turn,
    'check-ended',
    'run-ended settled',
  ]);
});
