// Faults 40 to 60: failures of providers, each through a real server, HTTP, the gateway and the real loop.
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  messageToolCalls,
  messageText,
  toArray,
  type Chunk,
  type Message,
  type Provider,
  type RunState,
} from '../src/core/index.ts';
import { createGatewayState } from '../src/providers/index.ts';
import { fabricatedResult } from '../src/rules/index.ts';
import {
  calls,
  closedUrl,
  fails,
  joinResponses,
  says,
  sends,
  sendsPage,
  thinks,
  type ScriptedResponse,
  type ScriptRequest,
  type ScriptStep,
} from '../src/testing/index.ts';
import { createTestClock } from './support/test-clock.ts';
import {
  testWireFormats,
  openWireProvider,
  createGatewayFixture,
  type GatewayFixture,
} from './support/gateway-fixture.ts';

const getAnswer = (state: RunState): string => {
  const tail = toArray(state.messages).at(-1) as Message;
  return tail.role === 'assistant' ? messageText(tail) : `(${tail.role})`;
};
const countFacts = (on: GatewayFixture, type: string): number =>
  on.log.events.filter((event) => event.type === type).length;
const countModelRequests = (on: GatewayFixture): number =>
  on.server.requests.filter((request) => request.format !== undefined).length;
const countRestarts = (on: GatewayFixture): number => on.chunks.filter((chunk) => chunk.type === 'restarted').length;

async function waitUntil(what: () => boolean): Promise<void> {
  for (let i = 0; i < 10_000 && !what(); i++) await new Promise((wake) => setTimeout(wake, i < 100 ? 0 : 1));
  assert.ok(what(), `not reached in time: ${what.toString()}`);
}

/** The first answer fails; then a tool is called once, then there is an answer: a retry must not cause more effects. */
const thenAnswers = (...first: readonly ScriptStep[]): readonly ScriptStep[] => [
  ...first,
  calls('send', { n: 1 }),
  says('done'),
];

for (const [what, getHeaders, low, high] of [
  ['seconds', () => ({ 'retry-after': '7' }), 7000, 8000],
  ['an HTTP date', () => ({ 'retry-after': new Date(Date.now() + 20_000).toUTCString() }), 1000, 21_000],
  ['nothing', () => ({}), 1000, 2000],
] as const) {
  test(`fault 40: [A54, P48] 429 with ${what} in Retry-After is waited for, with jitter, and retried`, async (t) => {
    const limited = sends({
      status: 429,
      headers: getHeaders(),
      body: '{"error":{"message":"slow down","type":"rate_limit_error"}}',
    });
    const on = await createGatewayFixture(t, thenAnswers(limited));
    assert.equal((await on.run('go')).ended?.reason, 'answered');
    const [wait = 0] = on.clock.waits;
    assert.ok(wait >= low && wait <= high, `${wait} ms`);
    assert.deepEqual([countModelRequests(on), on.effects.length], [3, 1]);
    await on.assertInvariants();
  });
}

test('fault 40: [A54] 429 with an hour in Retry-After is reported at once, and the session can continue later', async (t) => {
  const on = await createGatewayFixture(t, [fails(429, { afterMs: 3_600_000 }), says('done')]);
  const { ended } = await on.run('go');
  assert.deepEqual(
    [ended?.reason, ended?.error?.code, ended?.error?.retry],
    ['provider-error', 'provider/rate-limited', false],
  );
  assert.match(ended?.detail ?? '', /accepts no request before .* \(in 60 min\)/);
  assert.deepEqual([countModelRequests(on), on.clock.waits], [1, []]);
  on.clock.advance(3_600_000);
  assert.equal((await on.run('again')).ended?.reason, 'answered');
  await on.assertInvariants();
});

test('fault 41: [A54, A57] 500, 502 and 529 are retried: one answer, and its cost is counted once', async (t) => {
  const on = await createGatewayFixture(t, thenAnswers(fails(500), fails(502), fails(529)), {
    wrapProvider: (provider) => ({ ...provider, price: { input: 1e6, output: 0 } }),
  });
  const state = await on.run('go');
  assert.equal(state.ended?.reason, 'answered');
  assert.deepEqual(
    [countRestarts(on), countFacts(on, 'turn-ended'), countFacts(on, 'turn-failed'), on.effects.length],
    [3, 2, 0, 1],
  );
  assert.equal(state.spent.usd, 20, 'two answers of ten tokens');
  await on.assertInvariants();
});

test('fault 41: [A54] a server that stays broken ends the run with the number of attempts, and the loop does not retry further', async (t) => {
  const on = await createGatewayFixture(t, () => fails(503));
  const { ended } = await on.run('go');
  assert.deepEqual(
    [ended?.reason, ended?.error?.code, countModelRequests(on)],
    ['provider-error', 'provider/overloaded', 4],
  );
  assert.match(ended?.detail ?? '', /\(tried 4 times\)/);
  await on.assertInvariants();
});

test('fault 42: a context that is too long is compacted once and sent once more', async (t) => {
  const shorter: Message[] = [{ role: 'user', parts: [{ type: 'text', text: 'In short: go.' }] }];
  const compact = { compactor: { run: async () => ({ messages: shorter }) } };
  const on = await createGatewayFixture(t, [fails('context-too-long'), says('done')], { agent: compact });
  assert.equal((await on.run('Go through all of it.')).ended?.reason, 'answered');
  assert.deepEqual([countModelRequests(on), countFacts(on, 'epoch-started'), on.clock.waits], [2, 2, []]);
  await on.assertInvariants();

  const never = await createGatewayFixture(t, () => fails('context-too-long'), { agent: compact });
  const { ended } = await never.run('Go through all of it.');
  assert.deepEqual(
    [ended?.reason, ended?.error?.code, countModelRequests(never)],
    ['provider-error', 'provider/context-too-long', 2],
  );
  await never.assertInvariants();
});

for (const status of [401, 403]) {
  test(`fault 43: ${status} in the middle of a session stops it, keeps everything, and it continues with another key`, async (t) => {
    const on = await createGatewayFixture(t, [calls('send', { n: 1 }), fails(status), says('done')]);
    const stopped = await on.run('go');
    assert.deepEqual([stopped.ended?.reason, stopped.ended?.error?.code], ['provider-error', 'provider/unauthorized']);
    assert.deepEqual([countModelRequests(on), on.effects.length, on.clock.waits], [2, 1, []]);
    await on.assertInvariants();
    const rotated = await openWireProvider('chat', on.server.url, 'another key');
    assert.equal((await on.run('go on', { agent: { provider: rotated } })).ended?.reason, 'answered');
    assert.equal(on.server.requests.at(-1)?.headers.authorization, 'Bearer another key');
    assert.equal(on.effects.length, 1);
    await on.assertInvariants();
  });
}

for (const [what, url, code, tries] of [
  ['a connection refused on this machine', closedUrl, 'provider/unreachable', 1],
  ['a name that does not resolve', () => 'http://no-such-host.invalid', 'provider/unreachable', 4],
  ['https to an http server', (on: string) => on.replace('http:', 'https:'), 'provider/tls', 1],
] as const) {
  test(`fault 44: ${what} has its own error class and its own policy`, async (t) => {
    const server = await createGatewayFixture(t, []);
    let asked = 0;
    const provider = await openWireProvider('chat', await url(server.server.url));
    const counted: Provider = { ...provider, stream: (...given) => (asked++, provider.stream(...given)) };
    const on = await createGatewayFixture(t, [says('never')], { provider: counted });
    const { ended } = await on.run('go');
    assert.deepEqual([ended?.reason, ended?.error?.code, asked], ['provider-error', code, tries]);
    assert.ok(ended?.error?.hint, 'it has a hint');
    await on.assertInvariants();
  });
}

test('fault 44: a proxy that requires credentials is for the user to fix, and is not retried', async (t) => {
  const on = await createGatewayFixture(t, [sends({ status: 407, body: 'Proxy Authentication Required' })]);
  const { ended } = await on.run('go');
  assert.deepEqual([ended?.error?.code, ended?.error?.blame, countModelRequests(on)], ['provider/proxy', 'user', 1]);
  await on.assertInvariants();
});

test('fault 45: [A54] no first byte, and a stall in the middle: aborted at the timeout and retried', async (t) => {
  for (const [silent, first] of [
    [{ hang: true }, true],
    [says('Let me see', { hang: true, cutAfter: 2 }), false],
  ] as const) {
    const on = await createGatewayFixture(t, thenAnswers(silent), {
      gateway: { timeouts: { firstMs: 9000, stallMs: 4000 } },
    });
    const work = on.run('go');
    await waitUntil(() => countModelRequests(on) === 1 && (first || on.chunks.length >= 2));
    on.clock.advance(first ? 9000 : 4000);
    assert.equal((await work).ended?.reason, 'answered');
    assert.deepEqual([countRestarts(on), countModelRequests(on), on.effects.length], [1, 3, 1]);
    assert.ok(on.server.requests[0]?.outcome.abandoned, 'the first connection was closed');
    await on.assertInvariants();
  }
});

test('fault 45: text before a stall that is not retried is kept and marked', async (t) => {
  const on = await createGatewayFixture(t, [says('Let me see', { hang: true, cutAfter: 2 }), says('done')], {
    gateway: { timeouts: { stallMs: 4000 }, retry: { retries: 0 } },
  });
  const work = on.run('go');
  await waitUntil(() => on.chunks.length >= 2);
  on.clock.advance(4000);
  const state = await work;
  assert.equal(state.ended?.error?.code, 'provider/stalled');
  assert.match(getAnswer(state), /^Let.* \[cut off\]$/);
  assert.equal((await on.run('go on')).ended?.reason, 'answered');
  await on.assertInvariants();
});

test('fault 46: a connection closed after any number of bytes never runs a partial call', async (t) => {
  const whole = joinResponses([says('I send.'), calls('send', { n: 1234 })]);
  const size = await measureStreamSize(t, whole);
  for (let cutAt = 0; cutAt < size; cutAt += 17) {
    const on = await createGatewayFixture(t, ({ results }: ScriptRequest<unknown>, index) =>
      index === 0 ? { ...whole, wire: { cutAt } } : results.length ? says('done') : whole,
    );
    const state = await on.run('go');
    assert.equal(state.ended?.reason, 'answered', `cut at ${cutAt}`);
    assert.deepEqual(
      on.effects.map(({ n }) => n),
      [1234],
      `cut at ${cutAt}`,
    );
    if (cutAt % 340 === 0) await on.assertInvariants();
  }
});

async function measureStreamSize(t: test.TestContext, whole: ScriptedResponse): Promise<number> {
  const on = await createGatewayFixture(t, [whole]);
  const reply = await fetch(`${on.server.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: 'Bearer k', 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'go' }] }),
  });
  return (await reply.arrayBuffer()).byteLength;
}

for (const dialect of testWireFormats) {
  test(`fault 47: [A6] ${dialect}: a stream split at every byte, inside characters and line ends, is parsed like the whole one`, async (t) => {
    const text = 'Grüße 👩‍🚀 aus\r\nder “Mitte”\u2028Ende';
    const script = [joinResponses([says(text), calls('send', { n: 7 })]), says(text)];
    const run = async (splitEvery: number | undefined): Promise<unknown> => {
      const wire = splitEvery === undefined ? {} : { wire: { splitEvery } };
      const on = await createGatewayFixture(
        t,
        script.map((each) => ({ ...each, ...wire })),
        { format: dialect },
      );
      const state = await on.run('go');
      await on.assertInvariants();
      return [state.ended, toArray(state.messages), on.effects];
    };
    assert.deepEqual(await run(1), await run(undefined));
  });
}

for (const [what, wire, code] of [
  ['a chunk that is not JSON', { malformed: 0 }, 'provider/malformed'],
  ['no [DONE]', { done: 'missing' }, undefined],
  ['two [DONE]', { done: 'twice' }, undefined],
  [
    'data after the end',
    { trailing: 'data: {"choices":[{"delta":{"content":"more"}}]}\n\ndata: nonsense\n\n' },
    undefined,
  ],
] as const) {
  test(`fault 48: a stream with ${what} ${code ? 'is an error of its class' : 'is parsed as far as it is complete'}`, async (t) => {
    const on = await createGatewayFixture(
      t,
      ({ results }) => ({ ...(results.length ? says('all is done') : calls('send', { n: 1 })), wire }),
      {
        gateway: { retry: { retries: 1 } },
      },
    );
    const state = await on.run('go');
    if (code === undefined) assert.deepEqual([state.ended?.reason, getAnswer(state)], ['answered', 'all is done']);
    else assert.deepEqual([state.ended?.reason, state.ended?.error?.code], ['provider-error', code]);
    assert.ok(on.effects.length <= 1);
    await on.assertInvariants();
  });
}

for (const dialect of testWireFormats) {
  test(`fault 49: [A54] ${dialect}: an error inside a stream that began well is retried like one before it`, async (t) => {
    const broken = says('Let me think about it', { cutAfter: 2, error: { name: 'overloaded' } });
    const on = await createGatewayFixture(t, thenAnswers(broken), { format: dialect });
    const state = await on.run('go');
    assert.deepEqual([state.ended?.reason, getAnswer(state)], ['answered', 'done']);
    assert.deepEqual([countRestarts(on), countModelRequests(on), on.effects.length], [1, 3, 1]);
    await on.assertInvariants();
  });
}

for (const [what, made] of [
  ['a half object', { tool: 'send', raw: '{"n": 1' }],
  ['a trailing comma', { tool: 'send', raw: '{"n": 1,}' }],
  ['single quotes', { tool: 'send', raw: "{'n': 1}" }],
  ['two objects', { tool: 'send', raw: '{"n": 1}{"n": 2}' }],
  ['a list', { tool: 'send', raw: '[{"n": 1}]' }],
  ['a text', { tool: 'send', raw: '"n"' }],
  ['a wrong type', { tool: 'send', input: { n: 'one' } }],
  ['a missing field', { tool: 'send', input: { m: 1 } }],
  ['an unknown tool', { tool: 'sned', input: { n: 1 } }],
  ['5 MB of invalid text', { tool: 'send', raw: `{"n": "${'x'.repeat(5 * 2 ** 20)}` }],
] as const) {
  test(`fault 50: arguments with ${what} are returned to the model as an error, and nothing runs`, async (t) => {
    const on = await createGatewayFixture(t, [{ calls: [made] }, says('I was wrong.')]);
    const state = await on.run('go');
    assert.equal(state.ended?.reason, 'answered');
    assert.deepEqual(on.effects, []);
    const [result] = toArray(state.messages).flatMap(({ parts }) =>
      parts.filter((part) => part.type === 'tool-result'),
    );
    assert.equal(result?.failed, true);
    assert.match(result.text, /nothing was run|There is no tool named sned/);
    assert.ok(result.text.length < 1000, 'the invalid text is not sent back to the model');
    await on.assertInvariants();
  });
}

for (const dialect of testWireFormats) {
  test(`fault 51: ${dialect}: a call truncated by the output limit does not run, and the run reports the truncation`, async (t) => {
    const cut = joinResponses([
      says('I send it now.'),
      { calls: [{ tool: 'send', raw: '{"n": 12' }], finish: 'length' },
    ]);
    const on = await createGatewayFixture(t, [cut, says('done')], { format: dialect });
    const state = await on.run('go');
    assert.deepEqual([state.ended?.reason, on.effects], ['truncated', []]);
    assert.equal((await on.run('go on')).ended?.reason, 'answered');
    await on.assertInvariants();
  });
}

for (const [what, poor, why] of [
  ['an empty answer', says(''), 'empty'],
  ['only thinking', thinks('Hmm.'), 'empty'],
  ['a refusal', says('I cannot.', { finish: 'refusal' }), 'refused'],
  ['a content filter', says('', { finish: 'filtered' }), 'filtered'],
] as const) {
  test(`fault 52: ${what} is shown as such and requested again a limited number of times`, async (t) => {
    const dialect = why === 'refused' ? 'anthropic' : 'chat';
    const once = await createGatewayFixture(t, [poor, says('done')], { format: dialect });
    assert.equal((await once.run('go')).ended?.reason, 'answered');
    const rejected = once.log.events.flatMap((event) => (event.type === 'answer-rejected' ? [event.why] : []));
    assert.deepEqual(rejected, [why]);
    await once.assertInvariants();

    const always = await createGatewayFixture(t, () => poor, { format: dialect });
    const { ended } = await always.run('go');
    assert.deepEqual([ended?.reason, countModelRequests(always)], ['error-threshold', 3]);
    await always.assertInvariants();
  });
}

test('fault 53: the same call repeatedly, and a cycle of two, are detected and stopped', async (t) => {
  for (const period of [1, 2]) {
    const on = await createGatewayFixture(t, (_: unknown, index) => calls('look', { n: index % period }), {
      limits: { stuckAfter: 5, turns: 50 },
    });
    const { ended } = await on.run('go');
    assert.deepEqual([ended?.reason, countModelRequests(on)], ['stuck', 5 * period]);
    await on.assertInvariants();
  }
});

for (const [what, usage] of [
  ['missing', {}],
  ['negative', { input: -10, output: 5 }],
  ['absurd', { input: 1e15, output: 5 }],
] as const) {
  test(`fault 54: [A57] token counts that are ${what} leave the cost an estimate, and the budget holds by it`, async (t) => {
    const around = (provider: Provider): Provider => ({ ...provider, price: { input: 1e4, output: 1e4 } });
    const on = await createGatewayFixture(t, ({ results }) => ({ ...calls('look', { n: results.length }), usage }), {
      wrapProvider: around,
      limits: { usd: 3 },
    });
    const state = await on.run('go');
    assert.equal(state.ended?.reason, 'money-budget');
    assert.ok(state.spent.turnsWithoutPrice > 0 && state.spent.usd > 0 && state.spent.usd < 4, String(state.spent.usd));
    const ended = on.log.events.filter((event) => event.type === 'turn-ended');
    assert.ok(ended.every((event) => event.estimated === true));
    await on.assertInvariants();
  });
}

test('fault 55: [A54] a first stream that resumes after its retry is ignored: one answer is kept', async (t) => {
  const late = says('the first answer', { wire: { stall: { at: 400, ms: 60_000 } } });
  const on = await createGatewayFixture(t, [late, calls('send', { n: 2 }), says('the second answer')], {
    gateway: { timeouts: { firstMs: 5000, stallMs: 5000 } },
  });
  const work = on.run('go');
  await waitUntil(() => countModelRequests(on) === 1 && on.clock.pending > 0);
  await waitUntil(() => on.chunks.length > 0 || on.server.requests[0]?.outcome.status === 200);
  on.clock.advance(5000);
  on.clock.advance(5000);
  const state = await work;
  assert.equal(getAnswer(state), 'the second answer');
  assert.deepEqual([countFacts(on, 'turn-ended'), on.effects.length], [2, 1]);
  assert.ok(!JSON.stringify(on.log.events).includes('the first answer'));
  await on.assertInvariants();
});

for (const [from, to] of [
  ['anthropic', 'chat'],
  ['responses', 'anthropic'],
  ['google', 'responses'],
  ['chat', 'google'],
  ['anthropic', 'ollama'],
] as const) {
  test(`fault 56: [A3] from ${from} to ${to} in the middle of a session: the history is converted, and provider metadata is dropped`, async (t) => {
    const second = await createGatewayFixture(t, [says('done by the second')]);
    const fallback = await openWireProvider(to, second.server.url);
    const on = await createGatewayFixture(
      t,
      (_: unknown, index) =>
        index === 0 ? joinResponses([thinks('Deep.'), says('First.'), calls('send', { n: 1 })]) : fails(529),
      { format: from, wrapProvider: (provider) => [provider, fallback] },
    );
    const state = await on.run('go');
    assert.deepEqual([state.ended?.reason, getAnswer(state)], ['answered', 'done by the second']);
    assert.deepEqual([countModelRequests(on), countModelRequests(second), on.effects.length], [5, 1, 1]);
    const meta = toArray(state.messages).flatMap(({ parts }) =>
      parts.flatMap((part) => ('meta' in part && part.meta ? [part.meta] : [])),
    );
    const sent = second.server.requests.at(-1)?.raw.toString() ?? '';
    for (const { family, data } of meta) {
      assert.notEqual(family, undefined);
      for (const mark of Object.values(data))
        if (typeof mark === 'string' && mark.length > 8) assert.ok(!sent.includes(mark), `${family}: ${mark}`);
    }
    await on.assertInvariants();
  });
}

test('fault 57: a result that no tool returned is text, not a result, and the model is told so', async (t) => {
  const fake = 'I ran it.\n<tool_result>42</tool_result>\nIt says 42.';
  const on = await createGatewayFixture(t, [says(fake), says('Sorry: I did not run it.')], {
    agent: { rules: [fabricatedResult] },
  });
  const first = await on.run('Run it.');
  assert.equal(first.ended?.reason, 'answered');
  assert.ok(!toArray(first.messages).some(({ role }) => role === 'tool'), 'nothing is stored as a result');
  assert.equal(messageToolCalls(toArray(first.messages).at(-1) as Message).length, 0);
  assert.deepEqual(
    first.queue.map(({ key }) => key),
    ['claimed-result'],
  );
  await on.run('Really?');
  const sent = on.server.requests.at(-1)?.raw.toString() ?? '';
  assert.match(sent, /no tool ran/);
  await on.assertInvariants();
});

test('fault 58: [A56] twenty sessions under one limit: all complete, in fair order, and the limit is not exceeded repeatedly', async (t) => {
  const perSecond = 5;
  let busy = 0;
  const clock = createTestClock({ instant: true, busy: () => busy > 0, random: Math.random });
  const state = createGatewayState();
  const starts: number[] = [];
  let refused = 0;
  const script = ({ results }: ScriptRequest<unknown>): ScriptedResponse => {
    starts.push(clock.now());
    const recent = starts.filter((at) => clock.now() - at < 1000).length;
    if (recent > perSecond) {
      refused++;
      return fails(429, { afterMs: 2000 });
    }
    return results.length < 2 ? calls('send', { n: results.length }) : says('done');
  };
  const around = (provider: Provider): Provider => ({
    ...provider,
    async *stream(request, signal): AsyncIterable<Chunk> {
      busy++;
      try {
        yield* provider.stream(request, signal);
      } finally {
        busy--;
      }
    },
  });
  const one = await createGatewayFixture(t, script);
  const sessions = await Promise.all(
    Array.from({ length: 20 }, async () =>
      createGatewayFixture(t, [], {
        provider: around(await openWireProvider('chat', one.server.url)),
        clock,
        gateway: { state, clock },
      }),
    ),
  );
  const ends = await Promise.all(sessions.map((on) => on.run('go')));
  assert.deepEqual(new Set(ends.map(({ ended }) => ended?.reason)), new Set(['answered']));
  assert.ok(sessions.every((on) => on.effects.length === 2));
  assert.ok(refused <= 20, `${refused} refusals: only the first burst runs into the limit`);
  const later = starts.filter((at) => at > 2000);
  for (const at of later) {
    const crowd = later.filter((each) => each >= at && each < at + 1000).length;
    assert.ok(crowd <= perSecond, `${crowd} requests in the second after ${at}`);
  }
  for (const on of sessions.slice(0, 2)) await on.assertInvariants();
});

for (const [what, reply, code, words] of [
  [
    'an HTML page instead of an answer',
    sendsPage(`<!doctype html><title>Sign in</title>${'<p>x</p>'.repeat(200)}`),
    'provider/malformed',
    /Sign in/,
  ],
  ['broken gzip', says('hello', { wire: { gzip: 'broken' } }), 'provider/malformed', /compressed|gzip|JSON/],
  [
    'the wrong content type',
    sends({ headers: { 'content-type': 'text/plain' }, body: 'I am a teapot.' }),
    'provider/malformed',
    /I am a teapot/,
  ],
] as const) {
  test(`fault 59: ${what} is an error of its class that shows the start of the response`, async (t) => {
    const on = await createGatewayFixture(t, () => reply, { gateway: { retry: { retries: 1 } } });
    const { ended } = await on.run('go');
    assert.deepEqual([ended?.reason, ended?.error?.code], ['provider-error', code]);
    assert.match(ended?.detail ?? '', words);
    assert.ok((ended?.detail ?? '').length < 500);
    await on.assertInvariants();
  });
}

test('fault 60: 10 MB of text are accepted and stored, and other work continues meanwhile', async (t) => {
  const text = 'word '.repeat(2 * 2 ** 20);
  const on = await createGatewayFixture(t, [says(text, { chunks: 2000 })]);
  let ticks = 0;
  const beat = setInterval(() => ticks++, 1);
  const state = await on.run('go');
  clearInterval(beat);
  assert.equal(state.ended?.reason, 'answered');
  assert.equal(getAnswer(state).length, text.length);
  const kept = on.log.events.find((event) => event.type === 'turn-ended');
  assert.equal(kept && messageText(kept.message).length, text.length);
  assert.ok(ticks > 5, `${ticks} ticks: the event loop was not blocked`);
  await on.assertInvariants();
});
