// The loop, from a prompt to an answer, on a provider that says what it is told.
import assert from 'node:assert/strict';
import test from 'node:test';
import { memoryLog } from '../stores/index.ts';
import {
  openHead,
  run,
  runView,
  toArray,
  type Agent,
  type Chunk,
  type Limits,
  type Message,
  type Request,
  type Tool,
} from './index.ts';

const limits: Limits = { turns: 9, errors: 5, reasks: 2, repeats: 5, outputChars: 1000 };
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
  run: act,
});

function agentOf(script: readonly Message[], tools: readonly Tool[], requests: Request[] = []): Agent {
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
          finish: message.parts.some((part) => part.type === 'tool-call') ? 'tool-calls' : 'stop',
          usage: { input: 10, output: 2 },
          model: 'm',
        };
      },
    },
  };
}

test('a run goes from prompt through parallel tools to an answer, and its results go back in call order', async () => {
  const requests: Request[] = [];
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
  const head = await openHead(memoryLog(), runView());
  await head.record([
    { type: 'session-started', session: 's1' },
    { type: 'epoch-started', epoch: 1, reason: 'started', system: 's', tools: [], model: 'm' },
    { type: 'input-received', input: 'i1', how: 'prompt', parts: [{ type: 'text', text: 'go' }] },
    { type: 'run-started', run: 'r1', limits },
  ]);
  const state = await run(agent, {
    head,
    signal: new AbortController().signal,
    live: () => {},
    clock: () => performance.now(),
  });
  assert.equal(state.ended?.reason, 'answered');
  assert.deepEqual(order, ['fast', 'slow']);
  const results = toArray(state.messages)[2]?.parts.map((part) => (part.type === 'tool-result' ? part.text : ''));
  assert.deepEqual(results, ['one', 'two']);
  assert.equal(requests.length, 2);
  assert.equal(state.spent.calls, 2);
});
