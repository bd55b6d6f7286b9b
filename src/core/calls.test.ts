// Tool calls: reads run in parallel, others alone and in order, each with one result in call order, whatever a tool does.
import assert from 'node:assert/strict';
import test from 'node:test';
import { TOOL_OUTPUT } from './ports.ts';
import {
  createCallPart,
  replyWithCalls,
  replyWithParts,
  neverSettles,
  replyWithText,
  formatTranscriptMessage,
  createCoreFixture,
  createTestTool,
  type CoreFixtureOptions,
  type CoreFixture,
} from '../../test/support/core-fixture.ts';
import { memoryLog } from '../stores/index.ts';
import {
  historyError,
  isJson,
  openSessionWriter,
  runLoop,
  runStateView,
  truncateMiddle,
  toArray,
  type Json,
  type Tool,
} from './index.ts';

const slowTest = { timeout: 20_000 };
const tick = (): Promise<void> => new Promise((wake) => setImmediate(wake));
const silentContext = { onChunk: (): void => {}, clock: (): number => performance.now() };

/** The texts of the first tool message, call by call. */
const results = ({ head }: CoreFixture): readonly string[] =>
  toArray(head.state.messages)
    .filter((message) => message.role === 'tool')
    .flatMap((message) => message.parts.map((part) => (part.type === 'tool-result' ? part.text : '')));

/** Tools that record when they begin and end, with a given duration. */
function traced(...named: readonly (readonly [string, Tool['effect'], number])[]): {
  readonly tools: readonly Tool[];
  readonly trace: string[];
} {
  const trace: string[] = [];
  const tools = named.map(([name, effect, ticks]) =>
    createTestTool(name, effect, async () => {
      trace.push(`${name} begins`);
      for (let i = 0; i < ticks; i++) await tick();
      trace.push(`${name} ends`);
      return name;
    }),
  );
  return { tools, trace };
}

test('[A21, D11] reads run in parallel and end in any order; their results are sent in call order', async () => {
  const { tools, trace } = traced(['slow', 'read', 9], ['fast', 'read', 1]);
  const fixture = await createCoreFixture({ replies: [replyWithCalls('slow', 'fast')], tools });
  await fixture.run();
  assert.deepEqual(trace, ['slow begins', 'fast begins', 'fast ends', 'slow ends']);
  assert.deepEqual(results(fixture), ['slow', 'fast']);
  assert.deepEqual(
    fixture.log.events.flatMap((event) => (event.type === 'tool-ended' ? [event.call] : [])),
    ['c00001000', 'c00001001'],
  );
});

test('[A21] a write runs alone, after the reads before it and before the reads after it', async () => {
  const { tools, trace } = traced(
    ['a', 'read', 3],
    ['b', 'read', 1],
    ['save', 'write', 3],
    ['send', 'external', 2],
    ['c', 'read', 1],
  );
  const fixture = await createCoreFixture({ replies: [replyWithCalls('a', 'b', 'save', 'send', 'c')], tools });
  await fixture.run();
  assert.deepEqual(trace, [
    'a begins',
    'b begins',
    'b ends',
    'a ends',
    'save begins',
    'save ends',
    'send begins',
    'send ends',
    'c begins',
    'c ends',
  ]);
  assert.deepEqual(results(fixture), ['a', 'b', 'save', 'send', 'c']);
});

test('a call to an unknown tool gets an error result, and the run continues', async () => {
  const { tools } = traced(['a', 'read', 1]);
  const fixture = await createCoreFixture({ replies: [replyWithCalls('a', 'nosuch', 'a')], tools });
  assert.equal((await fixture.run()).ended?.reason, 'answered');
  assert.deepEqual(results(fixture), ['a', 'There is no tool named nosuch.', 'a']);
});

const askingGates: CoreFixtureOptions['gates'] = [
  (call) =>
    call.tool === 'send' ? { type: 'ask', question: `send ${JSON.stringify(call.input)}?` } : { type: 'allow' },
];

test('[M28] a call that waits for approval delays no other call, and its result is sent in call order', async () => {
  const { tools, trace } = traced(['a', 'read', 1], ['send', 'external', 1], ['save', 'write', 1]);
  const fixture = await createCoreFixture({
    replies: [replyWithCalls(['send', { n: 1 }], 'a', 'save', ['send', { n: 2 }])],
    tools,
    gates: askingGates,
  });
  const resting = await fixture.run();
  assert.deepEqual(trace, ['a begins', 'a ends', 'save begins', 'save ends']);
  assert.deepEqual(
    resting.calls.map((call) => [call.tool, call.ask?.question, call.result?.text]),
    [
      ['send', 'send {"n":1}?', undefined],
      ['a', undefined, 'a'],
      ['save', undefined, 'save'],
      ['send', 'send {"n":2}?', undefined],
    ],
  );
  assert.equal(resting.ended, undefined);
  assert.equal(fixture.requests.length, 1, 'no model request is sent while a call is open');
  await fixture.head.record([{ type: 'approval-resolved', call: resting.calls[3]?.id ?? '', allowed: true }]);
  await fixture.run();
  await fixture.head.record([{ type: 'approval-resolved', call: resting.calls[0]?.id ?? '', allowed: false }]);
  assert.equal((await fixture.run()).ended?.reason, 'answered');
  assert.deepEqual(results(fixture), ['Denied by user.', 'a', 'save', 'send']);
  assert.deepEqual(trace.slice(4), ['send begins', 'send ends']);
});

test(
  'an approval may arrive while other calls still run, and the run continues without a new start',
  slowTest,
  async () => {
    const { tools } = traced(['send', 'external', 1]);
    const answer = Promise.withResolvers<void>();
    const slow = createTestTool('slow', 'write', () => answer.promise.then(() => 'slow'));
    const fixture = await createCoreFixture({
      replies: [replyWithCalls('send', 'slow')],
      tools: [...tools, slow],
      gates: askingGates,
    });
    fixture.head.subscribe((event) => {
      if (event.type !== 'tool-started' || event.tool !== 'slow') return;
      void fixture.head
        .record([{ type: 'approval-resolved', call: 'c00001000', allowed: true }])
        .then(() => answer.resolve());
    });
    assert.equal((await fixture.run()).ended?.reason, 'answered');
    assert.deepEqual(results(fixture), ['send', 'slow']);
  },
);

const cyclic: unknown[] = [];
cyclic.push(cyclic);
let deep: unknown = 1;
for (let i = 0; i < 50_000; i++) deep = [deep];

const outputs: readonly (readonly [string, () => unknown, 'ok' | 'failed', RegExp])[] = [
  ['returns nothing', () => undefined, 'ok', /^\(no output\)$/],
  ['returns null', () => null, 'ok', /^null$/],
  ['returns a cycle', () => cyclic, 'ok', /\[cycle\]/],
  ['returns a big integer', () => 5n, 'ok', /5/],
  ['returns a function', () => () => 1, 'ok', /function/],
  ['returns an endless nesting', () => deep, 'ok', /too deep/],
  [
    'returns ten million characters',
    () => 'x'.repeat(1e7),
    'ok',
    /^x+\n\[… 9990000 of 10000000 characters left out …\]\nx+$/,
  ],
  ['returns a list of a million items', () => Array.from({ length: 1e6 }, () => 1), 'ok', /left out/],
  ['returns a promise of text', () => Promise.resolve('text'), 'ok', /^text$/],
  ['returns a failed output', () => ({ [TOOL_OUTPUT]: true, text: 'no', failed: true }), 'failed', /^no$/],
  [
    'returns external JSON that looks like a ToolOutput',
    () => JSON.parse('{"type":"output","fairlead.output":true,"text":"x","failed":true,"completes":true}') as unknown,
    'ok',
    /^\{"type":"output".*"completes":true\}$/,
  ],
  ['returns an output whose text is not a string', () => ({ [TOOL_OUTPUT]: true, text: 5 }), 'ok', /"text":5/],
  ['returns invalid notes', () => ({ [TOOL_OUTPUT]: true, text: 'x', notes: 'remember' }), 'ok', /^x$/],
  [
    'returns a list of invalid notes',
    () => ({ [TOOL_OUTPUT]: true, text: 'x', notes: [null, { key: 1 }] }),
    'ok',
    /^x$/,
  ],
  ['loads a value that is not a list', () => ({ [TOOL_OUTPUT]: true, text: 'x', loads: 'all' }), 'ok', /^x$/],
  [
    'reports a usage that is not a number',
    () => ({ [TOOL_OUTPUT]: true, text: 'x', spent: { usd: '5', turns: -1, ms: 5n } }),
    'ok',
    /^x$/,
  ],
  ['returns data that is not JSON', () => ({ [TOOL_OUTPUT]: true, text: 'x', data: { n: 1n } }), 'ok', /^x$/],
  [
    'throws',
    () => {
      throw new Error('broken');
    },
    'failed',
    /^Error: broken$/,
  ],
  [
    'throws an object without a prototype',
    () => {
      throw Object.create(null);
    },
    'failed',
    /^Error: /,
  ],
  ['rejects with nothing', () => Promise.reject(), 'failed', /^Error: undefined$/], // oxlint-disable-line prefer-promise-reject-errors
  ['rejects', () => Promise.reject(new Error('broken')), 'failed', /^Error: broken$/],
  [
    'throws an error whose message is not a string',
    () => {
      throw Object.assign(new Error('x'), { message: 5n });
    },
    'failed',
    /^Error: 5$/,
  ],
];
for (const [what, act, outcome, text] of outputs) {
  test(`[D11, M10] [fault 33] a tool that ${what}: one result, valid JSON, and the run continues`, async () => {
    const fixture = await createCoreFixture({
      replies: [replyWithCalls('odd')],
      tools: [createTestTool('odd', 'read', act)],
    });
    assert.equal((await fixture.run()).ended?.reason, 'answered');
    const [ended] = fixture.eventsOfType('tool-ended');
    assert.equal(ended?.outcome, outcome);
    assert.match(ended?.text ?? '', text);
    assert.ok((ended?.text.length ?? 0) < 10_200);
    for (const event of fixture.log.events) assert.ok(isJson(event), `${event.type} is not plain JSON`);
    const again = await openSessionWriter(memoryLog(JSON.parse(JSON.stringify(fixture.log.events))), runStateView());
    assert.deepEqual(toArray(again.state.messages), toArray(fixture.head.state.messages));
    assert.deepEqual(again.state.spent, fixture.head.state.spent);
  });
}

test('[M9, M20] notes that a tool returns reach the model after its result, in their order', async () => {
  const notes = [
    { key: 'b', text: 'second', priority: 1 },
    { key: 'a', text: 'first', priority: 5 },
  ];
  const tool = createTestTool('look', 'read', () => ({ [TOOL_OUTPUT]: true, text: 'seen', notes, data: { n: 1 } }));
  const fixture = await createCoreFixture({ replies: [replyWithCalls('look')], tools: [tool] });
  await fixture.run();
  assert.deepEqual(fixture.eventsOfType('tool-ended')[0]?.data, { n: 1 });
  const tail = toArray(fixture.requests[1]?.messages ?? { length: 0, items: [] }).slice(-2);
  assert.equal(tail[0] && formatTranscriptMessage(tail[0]), 'seen');
  assert.match(tail[1] ? formatTranscriptMessage(tail[1]) : '', /first[^]*second/);
});

test(
  '[fault 31] a tool that exceeds its timeout is aborted, and the model gets an error result',
  slowTest,
  async () => {
    const deaf = (effect: Tool['effect']): Tool => createTestTool(effect, effect, neverSettles, { timeoutMs: 5 });
    const fixture = await createCoreFixture({
      replies: [replyWithCalls('read', 'write')],
      tools: [deaf('read'), deaf('write')],
    });
    assert.equal((await fixture.run()).ended?.reason, 'answered');
    assert.deepEqual(
      fixture.eventsOfType('tool-ended').map(({ outcome, text }) => [outcome, text]),
      [
        ['interrupted', 'read did not end within 5 ms.'],
        ['unknown', 'write did not end within 5 ms. Its effect may or may not have happened.'],
      ],
    );
  },
);

test('a tool gets its timeout through its signal, and may return what it did', slowTest, async () => {
  const hearing = createTestTool(
    'wait',
    'write',
    (_input, { signal }) => new Promise((end) => signal.addEventListener('abort', () => end('half done'))),
    { timeoutMs: 5 },
  );
  const fixture = await createCoreFixture({ replies: [replyWithCalls('wait')], tools: [hearing] });
  await fixture.run();
  assert.deepEqual(results(fixture), ['half done']);
});

test('a timeout longer than a timer can count does not abort the tool at once', async () => {
  for (const timeoutMs of [2 ** 31, 1e12, Number.POSITIVE_INFINITY]) {
    const long = createTestTool(
      'long',
      'read',
      (_input, { signal }) =>
        tick()
          .then(tick)
          .then(() => String(signal.aborted)),
      {
        timeoutMs,
      },
    );
    const fixture = await createCoreFixture({ replies: [replyWithCalls('long')], tools: [long] });
    await fixture.run();
    assert.deepEqual(results(fixture), ['false']);
  }
});

test('[fault 34] one of several reads fails and one hangs: each gets one result, in call order', slowTest, async () => {
  const fixture = await createCoreFixture({
    replies: [replyWithCalls('bad', 'deaf', 'good')],
    tools: [
      createTestTool('bad', 'read', () => Promise.reject(new Error('broken'))),
      createTestTool('deaf', 'read', neverSettles, { timeoutMs: 5 }),
      createTestTool('good', 'read', () => 'fine'),
    ],
  });
  await fixture.run();
  assert.deepEqual(results(fixture), ['Error: broken', 'deaf did not end within 5 ms.', 'fine']);
  assert.equal(historyError(toArray(fixture.head.state.messages)), undefined);
});

test('arguments that are not JSON, do not match the schema or cannot be validated get an error result and never run', async () => {
  const ran: Json[] = [];
  const picky = (name: string, check: NonNullable<Tool['validate']>): Tool =>
    createTestTool(name, 'write', (input) => ran.push(input), { validate: check });
  const fixture = await createCoreFixture({
    replies: [
      replyWithParts([
        { ...createCallPart('fits'), invalid: '{"n": ' },
        createCallPart('unfit'),
        createCallPart('throws'),
        createCallPart('fits', { n: 1 }),
      ]),
    ],
    tools: [
      picky('fits', () => undefined),
      picky('unfit', () => 'n is missing.'),
      picky('throws', () => {
        throw new Error('no such schema');
      }),
    ],
  });
  assert.equal((await fixture.run()).ended?.reason, 'answered');
  assert.deepEqual(ran, [{ n: 1 }]);
  const [raw, unfit, thrown] = results(fixture);
  assert.match(raw ?? '', /not valid JSON/);
  assert.match(unfit ?? '', /n is missing/);
  assert.match(thrown ?? '', /no such schema/);
});

test('arguments nested too deeply are refused, and the session can be reopened', async () => {
  const fixture = await createCoreFixture({
    replies: [
      replyWithParts([createCallPart('look', JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`) as Json)]),
    ],
    tools: [createTestTool('look', 'read', () => 'seen')],
  });
  assert.equal((await fixture.run()).ended?.reason, 'answered');
  assert.match(results(fixture)[0] ?? '', /nothing was run/);
  assert.doesNotThrow(() => JSON.stringify(fixture.log.events));
});

test('[fault 30] a write that was running when the process died is not run again, unless it is idempotent', async () => {
  for (const idempotent of [false, true]) {
    const keys: string[] = [];
    const save = createTestTool('save', 'write', (_input, { key }) => (keys.push(key), 'saved'), { idempotent });
    const fixture = await createCoreFixture({ replies: [replyWithCalls('save')], tools: [save] });
    await fixture.run();
    const cut = fixture.log.events.findIndex((event) => event.type === 'tool-started');
    const log = memoryLog(fixture.log.events.slice(0, cut + 1));
    const head = await openSessionWriter(log, runStateView());
    const state = await runLoop(fixture.agent, {
      writer: head,
      signal: new AbortController().signal,
      ...silentContext,
    });
    assert.equal(state.ended?.reason, 'answered');
    assert.deepEqual(keys, idempotent ? [keys[0], keys[0]] : [keys[0]]);
    const ended = log.events.find((event) => event.type === 'tool-ended');
    assert.equal(ended?.type === 'tool-ended' && ended.outcome, idempotent ? 'ok' : 'unknown');
    assert.equal(state.spent.calls, 1);
  }
});

test('the key of a call is unique, also after a rewind to before it', async () => {
  const keys: string[] = [];
  const send = createTestTool('send', 'external', (_input, { key }) => (keys.push(key), 'sent'));
  const fixture = await createCoreFixture({
    replies: [replyWithCalls('send'), replyWithText('one'), replyWithCalls('send', 'send')],
    tools: [send],
  });
  await fixture.run();
  const from = fixture.log.events[1]?.id ?? '';
  await fixture.head.branch(from, [{ type: 'branch-started', from, reason: 'rewound' }]);
  await fixture.startRun('other words');
  await fixture.run();
  assert.equal(keys.length, 3);
  assert.equal(new Set(keys).size, 3);
});

test('a text that is too long keeps its start and its end, and says how much is missing', () => {
  assert.equal(truncateMiddle('abcdef', 6), 'abcdef');
  assert.equal(truncateMiddle('abcdefghij', 4), 'ab\n[… 6 of 10 characters left out …]\nij');
  assert.equal(truncateMiddle('abcdefghij', 0), '\n[… 10 of 10 characters left out …]\n');
  for (const text of ['a😀b😀c😀d😀', '😀😀😀😀😀😀', 'plain words'])
    for (let most = 0; most < text.length; most++) {
      const [head = '', tail = ''] = truncateMiddle(text, most).split(/\n\[.*\]\n/);
      assert.ok(head.isWellFormed() && tail.isWellFormed(), `half a surrogate pair at ${most}`);
      assert.ok(head.length + tail.length <= most && head.length + tail.length >= most - 3);
      assert.ok(text.startsWith(head) && text.endsWith(tail));
    }
});

test('if the log cannot store a call, the run ends with the error of the store, and no effect starts', async () => {
  let ran = 0;
  const log = memoryLog();
  const full = {
    ...log,
    append: (...args: Parameters<typeof log.append>) =>
      args[1][0]?.type === 'tool-started' ? Promise.reject(new Error('disk full')) : log.append(...args),
  };
  const fixture = await createCoreFixture({
    log: full,
    replies: [replyWithCalls('save')],
    tools: [createTestTool('save', 'write', () => ran++)],
  });
  await assert.rejects(fixture.run(), { name: 'FairleadError', blame: 'store' });
  assert.equal(ran, 0);
  assert.deepEqual(
    fixture.head.state.calls.map((call) => [call.key, call.result]),
    [[undefined, undefined]],
  );
});

test('[D6] a deferred tool cannot run before it is loaded, and use_tool itself never runs', async () => {
  const ran: Json[] = [];
  const fixture = await createCoreFixture({
    replies: [
      replyWithCalls('secret', ['use_tool', { tool: 'secret', input: { n: 1 } }]),
      replyWithCalls(
        ['use_tool', {}],
        ['use_tool', 'secret'],
        ['use_tool', { tool: 'use_tool', input: {} }],
        ['use_tool', { tool: 'nosuch' }],
      ),
      replyWithCalls('load'),
      replyWithCalls(['use_tool', { tool: 'secret', input: { n: 2 } }], 'secret'),
    ],
    tools: [
      createTestTool('secret', 'read', (input) => ran.push(input), { deferred: true }),
      createTestTool('load', 'read', () => ({ [TOOL_OUTPUT]: true, text: 'loaded', loadsTools: ['secret'] })),
      createTestTool('use_tool', 'external', () => assert.fail('it ran')),
    ],
  });
  assert.equal((await fixture.run()).ended?.reason, 'answered');
  assert.deepEqual(
    fixture.eventsOfType('tool-ended').map(({ outcome }) => outcome),
    ['denied', 'denied', 'failed', 'failed', 'failed', 'failed', 'ok', 'ok', 'ok'],
  );
  assert.deepEqual(ran, [{ n: 2 }, {}]);
  assert.match(results(fixture)[2] ?? '', /Name the loaded tool/);
});

test('[A53] a client tool call is recorded and waits, other calls run, and the client’s result ends it', async () => {
  const there: Tool = {
    ...createTestTool('there', 'external', () => assert.fail('it does not run here')),
    clientSideQuestion: 'Handed out.',
  };
  const fixture = await createCoreFixture({
    replies: [replyWithCalls('there', 'here', 'there'), replyWithText('Done.')],
    tools: [there, createTestTool('here', 'read', () => 'seen')],
  });
  const state = await fixture.run();
  const [first, here, second] = state.calls;
  assert.ok(state.run !== undefined, 'the run waits');
  assert.equal(here?.result?.text, 'seen');
  for (const call of [first, second]) {
    assert.deepEqual(call?.ask, { question: 'Handed out.', kind: 'client-tool' });
    const facts = fixture.log.events.filter((event) => 'call' in event && event.call === call?.id);
    assert.deepEqual(
      facts.map(({ type }) => type),
      ['tool-started', 'approval-requested'],
    );
  }
  await fixture.head.record(
    [first, second].map((call, i) => ({
      type: 'tool-ended',
      call: call?.id ?? '',
      outcome: 'ok',
      text: `result ${i}`,
      ms: 0,
    })),
  );
  await fixture.run();
  assert.deepEqual(results(fixture), ['result 0', 'seen', 'result 1']);
});

test('[A53] if a run ends while a client tool call is open, its outcome is unknown', async () => {
  const there: Tool = {
    ...createTestTool('there', 'external', () => assert.fail('it does not run here')),
    clientSideQuestion: 'Handed out.',
  };
  const fixture = await createCoreFixture({ replies: [replyWithCalls('there')], tools: [there] });
  await fixture.run();
  const stop = new AbortController();
  stop.abort();
  await runLoop(fixture.agent, { ...silentContext, writer: fixture.head, signal: stop.signal });
  const ended = fixture.log.events.find(({ type }) => type === 'tool-ended');
  assert.equal(ended?.type === 'tool-ended' && ended.outcome, 'unknown');
});
