// One turn: whatever a provider does, the log records what arrived, no partial call runs, and no failure counts as success.
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  replyWithError,
  createCallPart,
  replyWithCalls,
  createEndChunk,
  replyWithParts,
  createTextChunks,
  createReplyProvider,
  replyWithText,
  createCoreFixture,
  createTestTool,
  type FixtureReply,
  type CoreFixtureOptions,
} from '../../test/support/core-fixture.ts';
import { memoryLog } from '../stores/index.ts';
import {
  callId,
  FairleadError,
  historyError,
  isJson,
  lastItem,
  messageText,
  toArray,
  type Chunk,
  type Message,
  type MessagePart,
  type Usage,
} from './index.ts';

const retry = new FairleadError('provider/overloaded', 'Too busy.', { blame: 'provider', retry: true });
const final = new FairleadError('provider/bad-key', 'The key is wrong.', { blame: 'user' });
const thought: MessagePart = { type: 'reasoning', text: 'hm' };
const text = (words: string): MessagePart => ({ type: 'text', text: words });
const never = createTestTool('look', 'write', () => assert.fail('it ran'));
const times = (n: number, line: FixtureReply): readonly FixtureReply[] => Array.from({ length: n }, () => line);

test('[D10, A9] a turn sends the system prompt, the tools and the history, and the answer is added to the history', async () => {
  const fixture = await createCoreFixture({ replies: [replyWithText('hello')], tools: [never] });
  await fixture.run();
  const [request] = fixture.requests;
  assert.equal(request?.system, 'You are a test.');
  assert.deepEqual(request?.tools, [{ name: 'look', description: 'The look tool.', input: { type: 'object' } }]);
  assert.deepEqual(fixture.transcript(), ['user: go', 'assistant: hello']);
});

test('a failed turn keeps the usage and cost that its error reports', async () => {
  const usage = { input: 12, output: 3 };
  const error = new FairleadError('provider/server-error', 'failed', { blame: 'provider', usage, usd: 0.5 });
  const fixture = await createCoreFixture({ replies: [replyWithError(error, 'half')] });
  const { spent } = await fixture.run();
  const [failed] = fixture.eventsOfType('turn-failed');
  assert.deepEqual([failed?.partial, failed?.usage, failed?.usd], ['half', usage, 0.5]);
  assert.equal(spent.usd, 0.5);
});

const streams: readonly (readonly [string, FixtureReply, string | undefined, string | undefined])[] = [
  ['throws before any chunk', replyWithError(final), 'provider/bad-key', undefined],
  ['throws after some text', replyWithError(final, 'half a', ' word'), 'provider/bad-key', 'half a word'],
  ['throws a value that is not an error', replyWithError('just words'), 'provider/unexpected', undefined],
  ['throws an object without a prototype', replyWithError(Object.create(null)), 'provider/unexpected', undefined],
  [
    'throws when it is called',
    () => {
      throw new Error('no stream');
    },
    'provider/unexpected',
    undefined,
  ],
  [
    'sends an invalid end chunk',
    async function* () {
      yield { type: 'end' } as unknown as Chunk;
    },
    'provider/unexpected',
    undefined,
  ],
];
for (const [what, line, code, partial] of streams) {
  test(`a provider that ${what} ends the run as a provider error; the received text is kept`, async () => {
    const fixture = await createCoreFixture({ replies: [line] });
    const { ended, failures } = await fixture.run();
    assert.deepEqual([ended?.reason, ended?.error?.code, failures], ['provider-error', code, 1]);
    const [failed] = fixture.eventsOfType('turn-failed');
    assert.equal(failed?.partial, partial);
    assert.ok(fixture.log.events.every((event) => isJson(event)));
    assert.deepEqual(fixture.transcript(), [
      'user: go',
      ...(partial === undefined ? [] : [`assistant: ${partial} [cut off]`]),
    ]);
    await fixture.startRun('go on');
    assert.equal((await fixture.run()).ended?.reason, 'answered');
    assert.ok(fixture.requests.every((request) => historyError(toArray(request.messages)) === undefined));
  });
}

test('a stream without an end chunk is retried, and its text does not count as an answer', async () => {
  const cut: FixtureReply = async function* () {
    yield* createTextChunks('all of', ' it');
  };
  const fixture = await createCoreFixture({ replies: [cut, replyWithText('whole')] });
  assert.equal((await fixture.run()).ended?.reason, 'answered');
  assert.deepEqual(
    fixture.eventsOfType('turn-failed').map(({ error, partial }) => [error.code, partial]),
    [['provider/cut', 'all of it']],
  );
  assert.deepEqual(fixture.transcript(), ['user: go', 'assistant: whole']);
});

test('chunks after the end chunk are ignored, and the stream is closed', async () => {
  let released = false;
  const line: FixtureReply = async function* () {
    try {
      yield createEndChunk([text('one')]);
      yield createEndChunk([text('two')]);
    } finally {
      released = true;
    }
  };
  const fixture = await createCoreFixture({ replies: [line] });
  await fixture.run();
  assert.deepEqual([fixture.transcript(), released], [['user: go', 'assistant: one'], true]);
});

test('text that a restart of the stream discards is neither recorded nor returned', async () => {
  const line: FixtureReply = async function* () {
    yield* createTextChunks('wrong');
    yield { type: 'restarted', attempt: 2, why: 'cut' };
    yield* createTextChunks('right');
    throw final;
  };
  const fixture = await createCoreFixture({ replies: [line] });
  await fixture.run();
  assert.equal(fixture.eventsOfType('turn-failed')[0]?.partial, 'right');
});

test('[M24] a retryable error is retried up to the limit, and then the run ends with it', async () => {
  const fixture = await createCoreFixture({ replies: times(9, replyWithError(retry)), limits: { errors: 3 } });
  const { ended } = await fixture.run();
  assert.deepEqual([ended?.reason, fixture.requests.length], ['error-threshold', 3]);
  assert.match(ended?.detail ?? '', /3 failures in a row.*Too busy/);
  assert.equal(ended?.error?.code, 'provider/overloaded');
  const bodies = fixture.requests.map((request) => JSON.stringify(toArray(request.messages)));
  assert.equal(new Set(bodies).size, 1, 'each attempt sends the same request');
});

test('an answer after failures resets the count', async () => {
  const lines = [
    ...times(2, replyWithError(retry)),
    replyWithText('one'),
    ...times(2, replyWithError(retry)),
    replyWithText('two'),
  ];
  const fixture = await createCoreFixture({ replies: lines, limits: { errors: 3 } });
  await fixture.addInput('follow-up', 'more');
  assert.equal((await fixture.run()).ended?.reason, 'answered');
  assert.equal(fixture.requests.length, 6);
});

test('an answer truncated at the length limit is never a success, and none of its calls runs', async () => {
  const fixture = await createCoreFixture({
    replies: [replyWithParts([text('and so'), createCallPart('look')], { finishReason: 'length' })],
    tools: [never],
  });
  const { ended, calls: open } = await fixture.run();
  assert.deepEqual([ended?.reason, open], ['truncated', []]);
  assert.deepEqual(fixture.transcript(), ['user: go', 'assistant: and so']);
});

for (const [finish, why] of [
  ['refusal', 'refused'],
  ['filtered', 'filtered'],
] as const) {
  test(`an answer that was ${why} is recorded as such, and its calls do not run`, async () => {
    const fixture = await createCoreFixture({
      replies: [replyWithParts([text('no'), createCallPart('look')], { finishReason: finish }), replyWithText('fine')],
      tools: [never],
    });
    assert.equal((await fixture.run()).ended?.reason, 'answered');
    assert.deepEqual(
      fixture.eventsOfType('answer-rejected').map((event) => event.why),
      [why],
    );
    assert.equal(fixture.eventsOfType('turn-ended')[0]?.finishReason, finish);
    assert.equal(fixture.eventsOfType('tool-ended').length, 0);
  });
}

const nothings: Readonly<Record<string, readonly MessagePart[]>> = {
  'no parts': [],
  'an empty text': [text('')],
  'white space': [text(' \n')],
  'only reasoning': [thought],
  'reasoning and white space': [thought, text('\n')],
};
for (const [what, parts] of Object.entries(nothings)) {
  test(`[A10] an answer of ${what} is empty: it is requested again, up to the limit`, async () => {
    const fixture = await createCoreFixture({ replies: [replyWithParts(parts), replyWithText('fine')] });
    assert.equal((await fixture.run()).ended?.reason, 'answered');
    assert.deepEqual(
      fixture.eventsOfType('answer-rejected').map((event) => event.why),
      ['empty'],
    );
    const kept = fixture.eventsOfType('turn-ended')[0]?.message.parts ?? [];
    assert.deepEqual(
      kept.filter((part) => part.type === 'reasoning'),
      parts.filter((part) => part === thought),
    );
    assert.ok(fixture.requests.every((request) => historyError(toArray(request.messages)) === undefined));
    const stubborn = await createCoreFixture({
      replies: times(9, replyWithParts(parts)),
      limits: { maxRetriesPerAnswer: 2 },
    });
    assert.deepEqual([(await stubborn.run()).ended?.reason, stubborn.requests.length], ['error-threshold', 3]);
  });
}

test('an answer with only an image is an answer', async () => {
  const picture: MessagePart = { type: 'file', mediaType: 'image/png', data: 'AAAA' };
  const fixture = await createCoreFixture({ replies: [replyWithParts([picture])] });
  assert.equal((await fixture.run()).ended?.reason, 'answered');
  assert.deepEqual(lastItem(fixture.head.state.messages)?.parts, [picture]);
});

test('white space next to a call is dropped, because some wire formats refuse it', async () => {
  const fixture = await createCoreFixture({
    replies: [replyWithParts([text('\n\n'), createCallPart('look')])],
    tools: [createTestTool('look', 'read', () => 'seen')],
  });
  await fixture.run();
  assert.deepEqual(fixture.transcript()[1], 'assistant: look()');
});

test('an answer that announces a tool call but has none is requested again, up to the limit', async () => {
  const fixture = await createCoreFixture({
    replies: [replyWithText('I will look.', 'tool-calls'), replyWithText('fine')],
  });
  assert.equal((await fixture.run()).ended?.reason, 'answered');
  assert.deepEqual(
    fixture.eventsOfType('answer-rejected').map((event) => event.why),
    ['no-call'],
  );
  const stubborn = await createCoreFixture({
    replies: times(9, replyWithText('I will.', 'tool-calls')),
    limits: { maxRetriesPerAnswer: 1 },
  });
  assert.deepEqual([(await stubborn.run()).ended?.reason, stubborn.requests.length], ['error-threshold', 2]);
});

const looking = [createTestTool('look', 'read', () => 'seen'), createTestTool('save', 'write', () => 'saved')];
const forced: readonly (readonly [string, CoreFixtureOptions, readonly unknown[], string, readonly string[]])[] = [
  [
    'a forced call is made, and the next answer is free',
    { choice: 'required', replies: [replyWithCalls('look')] },
    ['required', 'auto'],
    'answered',
    ['look'],
  ],
  [
    'after text instead of a forced call the answer is requested again',
    { choice: 'required', replies: [replyWithText('no'), replyWithCalls('look')] },
    ['required', 'required', 'auto'],
    'answered',
    ['look'],
  ],
  [
    'a model that never makes the forced call ends the run',
    { choice: 'required', replies: times(9, replyWithText('no')) },
    ['required', 'required', 'required'],
    'error-threshold',
    [],
  ],
  [
    'a call forced by name is made, and the next answer is free',
    { choice: { tool: 'save' }, replies: [replyWithCalls('save')] },
    [{ tool: 'save' }, 'auto'],
    'answered',
    ['save'],
  ],
  [
    'a call other than the one forced by name does not run, and the right one is requested again',
    { choice: { tool: 'save' }, replies: [replyWithCalls('look'), replyWithCalls('save')] },
    [{ tool: 'save' }, { tool: 'save' }, 'auto'],
    'answered',
    ['save'],
  ],
  [
    'a model that always makes another call ends the run',
    { choice: { tool: 'save' }, replies: times(9, replyWithCalls('look')) },
    [{ tool: 'save' }, { tool: 'save' }, { tool: 'save' }],
    'error-threshold',
    [],
  ],
  [
    'a call does not run if none was allowed',
    { choice: 'none', replies: [replyWithCalls('save'), replyWithText('fine')] },
    ['none', 'none'],
    'answered',
    [],
  ],
];
for (const [what, setting, choices, reason, ran] of forced) {
  test(`[A22] ${what}`, async () => {
    const fixture = await createCoreFixture({ ...setting, tools: looking });
    assert.equal((await fixture.run()).ended?.reason, reason);
    assert.deepEqual(
      fixture.requests.map((request) => request.toolChoice),
      choices,
    );
    assert.deepEqual(
      fixture.eventsOfType('tool-started').map((event) => event.tool),
      ran,
    );
    assert.ok(fixture.requests.every((request) => historyError(toArray(request.messages)) === undefined));
  });
}

test('a run resumed after its forced call is not forced again', async () => {
  const fixture = await createCoreFixture({
    choice: 'required',
    replies: [replyWithCalls('look'), replyWithError(final)],
    tools: looking,
  });
  await fixture.run();
  await fixture.startRun('go on');
  assert.equal(fixture.head.state.choice, 'auto');
});

const answer = {
  schema: { type: 'object' },
  validate: (words: string): string | undefined => (words === '{"n":1}' ? undefined : 'n must be 1.'),
};
const held: readonly (readonly [string, readonly FixtureReply[], string, number])[] = [
  ['an answer that matches its schema is accepted', [replyWithText('{"n":1}')], 'answered', 1],
  [
    'an answer that does not match is requested again, with the error',
    [replyWithText('{"n":2}'), replyWithText('{"n":1}')],
    'answered',
    2,
  ],
  [
    'an answer that never matches ends the run, and not as a success',
    times(9, replyWithText('{"n":2}')),
    'error-threshold',
    3,
  ],
  [
    'a truncated answer is not validated against the schema: it is truncated',
    [replyWithText('{"n"', 'length')],
    'truncated',
    1,
  ],
];
for (const [what, lines, reason, turns] of held) {
  test(`[A110] ${what}`, async () => {
    const fixture = await createCoreFixture({ replies: lines, outputSchema: answer });
    const { ended } = await fixture.run();
    assert.deepEqual([ended?.reason, fixture.requests.length], [reason, turns]);
    assert.deepEqual(fixture.requests[0]?.outputSchema, { type: 'object' });
    const tail = fixture.requests[1] && lastItem(fixture.requests[1].messages);
    if (tail) assert.match(messageText(tail), /does not fit the required schema: n must be 1\./);
    if (reason === 'error-threshold') assert.match(ended?.detail ?? '', /n must be 1/);
    assert.equal(fixture.eventsOfType('answer-rejected').length, lines.length === 9 ? 3 : lines.length - 1);
  });
}

test('[A110] tools may be called before an answer with a schema', async () => {
  const fixture = await createCoreFixture({
    replies: [replyWithCalls('look'), replyWithText('{"n":1}')],
    tools: looking,
    outputSchema: answer,
  });
  assert.equal((await fixture.run()).ended?.reason, 'answered');
  assert.equal(fixture.eventsOfType('answer-rejected').length, 0);
});

test('[A110] an answer is not accepted if its schema validator throws', async () => {
  const broken = {
    ...answer,
    validate: (): never => {
      throw new Error('no such keyword');
    },
  };
  const fixture = await createCoreFixture({ replies: times(9, replyWithText('{"n":1}')), outputSchema: broken });
  const { ended } = await fixture.run();
  assert.deepEqual([ended?.reason, fixture.requests.length], ['error-threshold', 3]);
  assert.match(ended?.detail ?? '', /no such keyword/);
  assert.equal(fixture.eventsOfType('turn-ended').length, 3, 'the answers stay in the log');
});

const bills: readonly (readonly [string, Usage | undefined, number | undefined, number, boolean])[] = [
  ['plausible counts', { input: 1000, output: 500 }, undefined, 0.0015, false],
  ['a stated cost', { input: 1000, output: 500 }, 0.25, 0.25, false],
  ['no counts', {}, undefined, Number.NaN, true],
  ['no usage at all', undefined, undefined, Number.NaN, true],
  ['negative counts', { input: -5, output: 5 }, undefined, Number.NaN, true],
  ['fractional tokens', { input: 0.5, output: 5 }, undefined, Number.NaN, true],
  ['absurd counts', { input: 1e15, output: 5 }, undefined, Number.NaN, true],
  ['counts that are not numbers', { input: '5' as unknown as number, output: 5 }, undefined, Number.NaN, true],
  ['a negative cost', { input: 1000, output: 500 }, -1, 0.0015, false],
  ['a cost that is not a number', { input: 1000, output: 500 }, Number.NaN, 0.0015, false],
  ['an absurd cost', { input: 1000, output: 500 }, 1e12, 0.0015, false],
];
for (const [what, usage, usd, expected, estimated] of bills) {
  test(`[A57] an answer with ${what} is billed ${estimated ? 'by an estimate, and marked so' : 'as it says'}`, async () => {
    const fixture = await createCoreFixture({
      replies: [
        replyWithParts([text('words of mine')], { usage: usage as Usage, ...(usd === undefined ? {} : { usd }) }),
      ],
    });
    const { spent } = await fixture.run();
    const [ended] = fixture.eventsOfType('turn-ended');
    assert.equal(ended?.estimated ?? false, estimated);
    assert.equal(spent.turnsWithoutPrice, estimated ? 1 : 0);
    assert.ok(spent.usd > 0 && spent.usd < 1);
    if (!estimated) assert.equal(ended?.usd, expected);
    assert.ok(spent.input > 0 && spent.output > 0 && spent.input < 1e9);
    assert.ok(isJson(ended));
  });
}

test('an answer of unknown price counts as unpriced, not as free', async () => {
  const { price: _, ...provider } = createReplyProvider([replyWithText('fine')]);
  const fixture = await createCoreFixture({ provider });
  const { spent } = await fixture.run();
  assert.deepEqual([spent.usd, spent.turnsWithoutPrice], [0, 1]);
});

test('text received before a failure is charged to the budget by an estimate', async () => {
  const fixture = await createCoreFixture({ replies: [replyWithError(final, 'x'.repeat(4000))] });
  const { spent } = await fixture.run();
  assert.ok(spent.output >= 1000 && spent.input > 0 && spent.usd > 0, JSON.stringify(spent));
  assert.equal(spent.turnsWithoutPrice, 1);
  const silent = await createCoreFixture({ replies: [replyWithError(final)] });
  assert.equal((await silent.run()).spent.usd, 0);
});

test('[fault 35] call ids are assigned by the harness: missing, duplicate, too long or reused ids become unique and valid in every wire format', async () => {
  const wire = ['', 'same', 'same', 'x'.repeat(500), 'ünïcode \n'];
  const round = replyWithParts(wire.map((id) => createCallPart('look', {}, id)));
  const fixture = await createCoreFixture({ replies: [round, round, replyWithText('done')], tools: looking });
  assert.equal((await fixture.run()).ended?.reason, 'answered');
  const ids = toArray(fixture.head.state.messages).flatMap((message: Message) =>
    message.parts.flatMap((part) => (part.type === 'tool-call' ? [part.id] : [])),
  );
  assert.equal(ids.length, 10);
  assert.equal(new Set(ids).size, 10);
  assert.ok(ids.every((id) => /^[a-zA-Z0-9]{9}$/.test(id)));
  assert.equal(historyError(toArray(fixture.head.state.messages)), undefined);
  assert.equal(new Set([callId(1, 0), callId(36, 0), callId(1, 36), callId(0, 1)]).size, 4);
});

test('a stream listener that throws changes nothing', async () => {
  const line: FixtureReply = async function* () {
    yield* createTextChunks('hello');
    yield createEndChunk([text('hello')]);
  };
  const fixture = await createCoreFixture({ replies: [line] });
  const state = await fixture.run(undefined, () => {
    throw new Error('a screen fails');
  });
  assert.equal(state.ended?.reason, 'answered');
});

test('the end of an answer is announced by its fact, after it is recorded', async () => {
  const seen: string[] = [];
  const line: FixtureReply = async function* () {
    yield* createTextChunks('hello');
    yield createEndChunk([text('hello')]);
  };
  const fixture = await createCoreFixture({ replies: [line] });
  fixture.head.subscribe((event) => seen.push(event.type));
  await fixture.run(undefined, (chunk) => seen.push(chunk.type));
  assert.deepEqual(seen, ['turn-started', 'part-started', 'part-delta', 'turn-ended', 'run-ended']);
});

test('[D12, M19] reminders and notes are at the end, after the user’s text or the tool results', async () => {
  const fixture = await createCoreFixture({
    replies: [replyWithCalls('look'), replyWithText('done')],
    tools: looking,
    reminders: [(turn, most) => `turn ${turn} of ${most}`, () => null, () => undefined],
  });
  await fixture.run();
  const tails = fixture.requests.map((request) => messageText(lastItem(request.messages) as Message));
  assert.match(tails[0] ?? '', /^go\n<system-reminder name="reminder-1">\nturn 1 of 20\n<\/system-reminder>$/);
  assert.match(tails[1] ?? '', /^<system-reminder name="reminder-1">\nturn 2 of 20/);
});

test('[D12] a reminder that throws or returns no text is skipped with an annotation; the others run', async () => {
  const fixture = await createCoreFixture({
    reminders: [
      () => {
        throw new Error('no idea');
      },
      () => {
        throw Object.create(null);
      },
      (() => Promise.resolve('late')) as never,
      () => 'heard',
    ],
  });
  assert.equal((await fixture.run()).ended?.reason, 'answered');
  assert.equal(fixture.eventsOfType('annotation-added').length, 3);
  assert.match(JSON.stringify(fixture.eventsOfType('annotation-added')[0]?.value), /"reminder":1.*no idea/);
  assert.deepEqual(
    fixture.eventsOfType('turn-started')[0]?.notes.map(({ text }) => text),
    ['heard'],
  );
});

test('an answer that cannot be recorded is an error of the store, not of the provider, and does not count as recorded', async () => {
  const log = memoryLog();
  const full = {
    ...log,
    append: (...args: Parameters<typeof log.append>) =>
      args[1].some((fact) => fact.type === 'turn-ended') ? Promise.reject(new Error('disk full')) : log.append(...args),
  };
  const fixture = await createCoreFixture({ log: full });
  await assert.rejects(fixture.run(), { name: 'FairleadError', blame: 'store' });
  assert.deepEqual(
    [fixture.head.state.inTurn, fixture.head.state.ended, fixture.head.state.failures],
    [true, undefined, 0],
  );
  assert.equal(lastItem(fixture.head.state.messages)?.role, 'user');
});

test('a provider whose error blames the store fails the turn, not the session', async () => {
  const odd = new FairleadError('store/gone', 'A recording is missing.', { blame: 'store' });
  const fixture = await createCoreFixture({ replies: [replyWithError(odd)] });
  assert.equal((await fixture.run()).ended?.reason, 'provider-error');
});

test('continuing without input after an answer sends a message of the harness as the last message', async () => {
  const fixture = await createCoreFixture({ replies: [replyWithText('cut', 'length'), replyWithText('whole')] });
  await fixture.run();
  await fixture.head.record([
    { type: 'input-received', input: 'i9', how: 'continue', parts: [] },
    {
      type: 'run-started',
      run: 'r9',
      limits: { turns: 5, errors: 5, maxRetriesPerAnswer: 2, stuckAfter: 0, outputChars: 100 },
    },
  ]);
  assert.equal((await fixture.run()).ended?.reason, 'answered');
  assert.equal(fixture.requests[1] && lastItem(fixture.requests[1].messages)?.role, 'user');
  assert.deepEqual(fixture.transcript(), ['user: go', 'assistant: cut', 'user: Go on.', 'assistant: whole']);
});
