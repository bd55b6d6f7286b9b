// The scripted provider: the core's loop runs on it, and it streams, fails, waits and reports errors as scripted.
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  FairleadError,
  openSessionWriter,
  runLoop,
  runStateView,
  createPersistentList,
  type ResolvedAgent,
  type Chunk,
  type Limits,
  type Message,
  type MessagePart,
  type Provider,
  type ModelRequest,
  type RunState,
  type Tool,
} from '../core/index.ts';
import { memoryLog, type MemoryLog } from '../stores/index.ts';
import {
  assertValidRequest,
  calls,
  callsThenAnswer,
  fails,
  replayProvider,
  says,
  scriptedProvider,
  sends,
  thinks,
  type ScriptedResponse,
  type Script,
} from './index.ts';

const limits: Limits = { turns: 20, errors: 2, maxRetriesPerAnswer: 2, stuckAfter: 0, outputChars: 1000 };

const lookTool: Tool = {
  name: 'look',
  description: 'Looks.',
  input: { type: 'object' },
  effect: 'read',
  execute: (input) => `seen ${JSON.stringify(input)}`,
};

const createAgent = (provider: Provider, tools: readonly Tool[] = [lookTool]): ResolvedAgent => ({
  system: 'Be brief.',
  provider,
  tools: new Map(tools.map((tool) => [tool.name, tool])),
  rules: [],
  reminders: [(turn) => (turn % 2 ? `turn ${turn}` : null)],
  gates: [],
  stops: [],
  checks: [],
  settings: {},
});

async function runOn(
  provider: Provider,
  agent: ResolvedAgent = createAgent(provider),
): Promise<{ readonly state: RunState; readonly log: MemoryLog }> {
  const log = memoryLog();
  const head = await openSessionWriter(log, runStateView());
  const tools = [...agent.tools.values()].map(({ name, description, input }) => ({ name, description, input }));
  await head.record([
    { type: 'session-started', session: 's1' },
    { type: 'epoch-started', epoch: 1, reason: 'started', system: agent.system, tools, model: provider.model },
    { type: 'input-received', input: 'i1', how: 'prompt', parts: [{ type: 'text', text: 'go' }] },
    { type: 'run-started', run: 'r1', limits },
  ]);
  const state = await runLoop(agent, {
    writer: head,
    signal: new AbortController().signal,
    onChunk: () => {},
    clock: () => 0,
  });
  return { state, log };
}

const textPart = (text: string): MessagePart => ({ type: 'text', text });

const request = (...messages: readonly Message[]): ModelRequest => ({
  system: 's',
  tools: [{ name: 'look', description: 'd', input: { type: 'object' } }],
  messages: createPersistentList(messages.length ? messages : [{ role: 'user', parts: [textPart('hi')] }]),
  toolChoice: 'auto',
  settings: {},
});

async function chunksOf(
  answer: ScriptedResponse | Script<ModelRequest>,
  signal = new AbortController().signal,
): Promise<readonly Chunk[]> {
  const provider = scriptedProvider(
    typeof answer === 'function' || Array.isArray(answer)
      ? (answer as Script<ModelRequest>)
      : [answer as ScriptedResponse],
  );
  return Array.fromAsync(provider.stream(request(), signal));
}

test('a run of twelve calls passes through the core with valid requests, and each extends the previous one', async () => {
  const provider = scriptedProvider(
    callsThenAnswer(12, 'look', (i) => ({ i }), 'done'),
    { strict: true },
  );
  const { state } = await runOn(provider);
  assert.equal(state.ended?.reason, 'answered');
  assert.equal(provider.requests.length, 13);
  assert.deepEqual(provider.prefixBreaks, []);
  assert.equal(state.spent.usd, 0);
  assert.equal(state.spent.turnsWithoutPrice, 0);
});

test('an answer is sent as chunks in order and one end chunk with the whole message', async () => {
  const answer = thinks('hm').and(says('Hello world'), calls('look', { q: 1 }, { id: 'x' }), {
    usage: { input: 3, output: 4 },
    usd: 0.5,
    model: 'other',
  });
  const chunks = await chunksOf(answer);
  const started = chunks.filter((chunk) => chunk.type === 'part-started').map((chunk) => [chunk.index, chunk.part]);
  assert.deepEqual(started, [
    [0, 'reasoning'],
    [1, 'text'],
    [2, 'tool-call'],
  ]);
  const text = (index: number): string =>
    chunks.map((chunk) => (chunk.type === 'part-delta' && chunk.index === index ? chunk.text : '')).join('');
  assert.deepEqual([text(0), text(1), text(2)], ['hm', 'Hello world', '{"q":1}']);
  assert.deepEqual(chunks.at(-1), {
    type: 'end',
    message: {
      role: 'assistant',
      parts: [
        { type: 'reasoning', text: 'hm' },
        { type: 'text', text: 'Hello world' },
        { type: 'tool-call', id: 'x', tool: 'look', input: { q: 1 } },
      ],
    },
    finishReason: 'tool-calls',
    usage: { input: 3, output: 4 },
    model: 'other',
    usd: 0.5,
  });
});

test('a script is a list of texts, answers and joined answers', async () => {
  const provider = scriptedProvider(['one', says('two'), [calls('look'), calls('look')]]);
  const counts: number[] = [];
  for (let i = 0; i < 3; i++) {
    const end = (await Array.fromAsync(provider.stream(request(), new AbortController().signal))).at(-1);
    counts.push(end?.type === 'end' ? end.message.parts.length : 0);
  }
  assert.deepEqual(counts, [1, 1, 2]);
});

test('a script can be a function of the request', async () => {
  const seen: unknown[] = [];
  const script: Script<ModelRequest> = async ({ prompt, tools, results, body }, index) => {
    seen.push([prompt, tools, results, body.system, index]);
    return says('x');
  };
  await chunksOf(script);
  assert.deepEqual(seen, [['hi', ['look'], [], 's', 0]]);
});

test('a script without answers left throws with the index and blames the user', async () => {
  await assert.rejects(chunksOf([]), {
    code: 'testing/script-over',
    blame: 'user',
    message: /request 0 \(counted from 0\)/,
  });
  await assert.rejects(
    chunksOf(() => undefined),
    { code: 'testing/script-over' },
  );
});

test('arguments that are not JSON are kept unchanged and never run', async () => {
  const end = (await chunksOf(calls('look', {}, { raw: '{"q":' }))).at(-1);
  assert.deepEqual(end?.type === 'end' && end.message.parts[0], {
    type: 'tool-call',
    id: 'call_000000000',
    tool: 'look',
    input: {},
    invalid: '{"q":',
  });
  let ran = 0;
  const counting: Tool = { ...lookTool, execute: () => ++ran };
  const provider = scriptedProvider([calls('look', {}, { raw: '{q}' }), says('sorry')]);
  const { state } = await runOn(provider, createAgent(provider, [counting]));
  assert.deepEqual([state.ended?.reason, ran], ['answered', 0]);
});

test('errors are scripted by status, by name and by code, with a hint', async () => {
  await assert.rejects(chunksOf(fails(429, { afterMs: 5 })), {
    code: 'provider/rate-limited',
    retry: true,
    afterMs: 5,
    blame: 'provider',
  });
  await assert.rejects(chunksOf(fails('context-too-long')), { code: 'provider/context-too-long', retry: false });
  await assert.rejects(chunksOf(fails({ code: 'mine/own', blame: 'tool', message: 'Oh.', hint: 'Ah.' })), {
    code: 'mine/own',
    blame: 'tool',
    message: 'Oh.',
    hint: 'Ah.',
  });
  const provider = scriptedProvider([fails(500), says('back')]);
  assert.equal((await runOn(provider)).state.ended?.reason, 'answered');
});

test('a stream ends after a number of chunks: truncated, with an error, or silent until it is aborted', async () => {
  const heard = async (
    answer: ScriptedResponse,
    signal?: AbortSignal,
  ): Promise<{ readonly text: string; readonly code: string }> => {
    let text = '';
    try {
      for await (const chunk of scriptedProvider([answer]).stream(request(), signal ?? new AbortController().signal))
        if (chunk.type === 'part-delta') text += chunk.text;
    } catch (error) {
      return { text, code: error instanceof FairleadError ? error.code : String(error) };
    }
    return { text, code: '' };
  };
  assert.deepEqual(await heard(says('a b c', { cutAfter: 2 })), { text: 'a b', code: 'provider/cut' });
  assert.deepEqual(await heard(says('a b c', { cutAfter: 1, error: { status: 529 } })), {
    text: 'a',
    code: 'provider/overloaded',
  });
  assert.deepEqual(await heard(says('a b c', { cutAfter: 1, hang: true }), AbortSignal.timeout(5)), {
    text: 'a',
    code: 'provider/aborted',
  });
  assert.deepEqual(await heard({ hang: true }, AbortSignal.timeout(5)), { text: '', code: 'provider/aborted' });
  assert.deepEqual(await heard(says('a b', { delayMs: 1, chunkMs: 1 })), { text: 'a b', code: '' });
  assert.deepEqual(await heard(sends({ body: 'x' })), { text: '', code: 'testing/no-wire' });
});

test('the price is zero, a given price, or unknown', () => {
  assert.deepEqual(scriptedProvider([]).price, { input: 0, output: 0 });
  assert.deepEqual(scriptedProvider([], { price: { input: 1, output: 2 } }).price, { input: 1, output: 2 });
  assert.equal('price' in scriptedProvider([], { price: 'unknown' }), false);
});

test('law 1 at the provider is violated by a changed message: it is recorded, and thrown if strict', async () => {
  const first = request({ role: 'user', parts: [textPart('one')] });
  const second = request({ role: 'user', parts: [textPart('two')] });
  const { signal } = new AbortController();
  const lax = scriptedProvider(() => 'x');
  await Array.fromAsync(lax.stream(first, signal));
  await Array.fromAsync(lax.stream(second, signal));
  assert.deepEqual(
    lax.prefixBreaks.map(({ index, where }) => [index, where]),
    [[1, 'messages[0]']],
  );
  await Array.fromAsync(lax.stream({ ...second, session: 'other' }, signal));
  assert.equal(lax.prefixBreaks.length, 1);
  await Array.fromAsync(lax.stream({ ...second, system: 'other' }, signal));
  await Array.fromAsync(lax.stream({ ...second, system: 'other', tools: [] }, signal));
  assert.deepEqual(
    lax.prefixBreaks.slice(1).map(({ index, where }) => [index, where]),
    [
      [3, 'system'],
      [4, 'tools'],
    ],
  );
  const strict = scriptedProvider(() => 'x', { strict: true });
  await Array.fromAsync(strict.stream(first, signal));
  await assert.rejects(Array.fromAsync(strict.stream(second, signal)), {
    code: 'testing/prefix-broken',
    message: /messages\[0\].*one.*two/,
  });
});

test('a message changed in place is detected if strict, although it is the same object', async () => {
  const parts: MessagePart[] = [textPart('one')];
  const provider = scriptedProvider(() => 'x', { strict: true });
  const asked = request({ role: 'user', parts });
  const { signal } = new AbortController();
  await Array.fromAsync(provider.stream(asked, signal));
  parts.push(textPart('two'));
  await assert.rejects(Array.fromAsync(provider.stream(asked, signal)), { code: 'testing/prefix-broken' });
});

test('law 3 at the provider is violated by a request that is valid in no wire format', () => {
  const user: Message = { role: 'user', parts: [textPart('hi')] };
  const call: Message = { role: 'assistant', parts: [{ type: 'tool-call', id: 'a', tool: 'look', input: {} }] };
  const result = (id: string): Message => ({
    role: 'tool',
    parts: [{ type: 'tool-result', id, tool: 'look', text: 'x', failed: false }],
  });
  assertValidRequest(request(user, call, result('a')));
  const illegal: readonly (readonly [messages: readonly Message[], sentence: RegExp])[] = [
    [[call], /begins with a user message/],
    [[user, call], /comes before the result for a/],
    [[user, call, result('b')], /was not called/],
    [[user, call, user], /comes before the result for a/],
    [[user, user], /second user message in a row/],
    [[user, { role: 'assistant', parts: [textPart('x')] }], /ends with an assistant message/],
    [[{ role: 'user', parts: [] }], /has no parts/],
    [[{ role: 'user', parts: [textPart('')] }], /is an empty string/],
    [[{ role: 'user', parts: call.parts }], /tool call in a message with the role user/],
    [
      [user, { role: 'assistant', parts: [{ type: 'tool-call', id: 'a', tool: 'a b', input: {} }] }],
      /not a valid tool name/,
    ],
  ];
  for (const [messages, sentence] of illegal)
    assert.throws(() => assertValidRequest(request(...messages)), {
      code: 'testing/illegal-request',
      message: sentence,
    });
  assert.throws(() => assertValidRequest({ ...request(), toolChoice: { tool: 'z' } }), /names "z"/);
  assert.throws(() => assertValidRequest({ ...request(), messages: createPersistentList<Message>() }), /is empty/);
  assert.throws(
    () => assertValidRequest({ ...request(), tools: [{ name: 'a', description: '', input: {} }] }),
    /must be "object"/,
  );
});

test('law 4: a recorded session replays to the same state, and reports where it differs', async () => {
  const script = [
    calls('look', { q: 1 }).and(calls('look', { q: 2 })),
    fails(503),
    thinks('hm').and(says('done', { usage: { input: 7, output: 8 } })),
  ];
  const original = await runOn(scriptedProvider(script));
  const replay = replayProvider(original.log.events);
  const again = await runOn(replay);
  assert.equal(replay.remaining, 0);
  const facts = (log: MemoryLog): unknown =>
    JSON.parse(
      JSON.stringify(log.events, (key, value: unknown) => (key === 'time' || key === 'model' ? undefined : value)),
    );
  assert.deepEqual(facts(again.log), facts(original.log));
  await assert.rejects(Array.fromAsync(replay.stream(request(), new AbortController().signal)), {
    code: 'testing/replay-over',
    message: /has 3 turns/,
  });
  const other = replayProvider(original.log.events);
  const { state } = await runOn(other, createAgent(other, [{ ...lookTool, execute: () => 'something else' }]));
  assert.equal(state.ended?.error?.code, 'testing/replay-departed');
  assert.match(
    state.ended?.error?.message ?? '',
    /Request 1 differs from the recording at messages\[2\].*seen.*something else/,
  );
  const loose = replayProvider(original.log.events, { compare: false });
  assert.equal(
    (await runOn(loose, createAgent(loose, [{ ...lookTool, execute: () => 'something else' }]))).state.ended?.reason,
    'answered',
  );
});

test('a replay uses the branch that was continued last, and no other', async () => {
  const { log } = await runOn(scriptedProvider([says('first')]));
  const base = log.events.slice(0, 5);
  const tail = log.events.slice(5).map((event) => ({
    ...event,
    seq: event.seq + 10,
    id: `b${event.id}`,
    parent: event.parent === base.at(-1)?.id ? event.parent : `b${event.parent}`,
  }));
  const second = tail.map((event) =>
    event.type === 'turn-ended'
      ? { ...event, message: { role: 'assistant' as const, parts: [textPart('second')] } }
      : event,
  );
  const replay = replayProvider([...log.events, ...second]);
  assert.equal(replay.remaining, 1);
  const { state } = await runOn(replay);
  assert.equal(
    state.messages.items.at(-1)?.parts[0]?.type === 'text' &&
      state.messages.items
        .at(-1)
        ?.parts.map((each) => ('text' in each ? each.text : ''))
        .join(''),
    'second',
  );
});
