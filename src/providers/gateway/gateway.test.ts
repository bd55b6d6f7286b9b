// Tests the gateway with scripted providers and a test clock.
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  FairleadError,
  createPersistentList,
  type Chunk,
  type Message,
  type Price,
  type Provider,
  type ModelRequest,
} from '../../core/index.ts';
import { createProviderRateLimiter } from './rate-limiter.ts';
import { createTestClock } from '../../../test/support/test-clock.ts';
import { parseRateLimits } from './parse-rate-limits.ts';
import { breakerStates, createGatewayState, gateway, type GatewayOptions } from './gateway.ts';

type ScriptedStream = (signal: AbortSignal, number: number) => AsyncIterable<Chunk> | Iterable<Chunk>;

const request: ModelRequest = {
  system: 's',
  tools: [],
  messages: createPersistentList<Message>([{ role: 'user', parts: [{ type: 'text', text: 'go' }] }]),
  toolChoice: 'auto',
  settings: {},
};

const end = (text: string, more: { readonly model?: string; readonly usage?: object } = {}): Chunk => ({
  type: 'end',
  message: { role: 'assistant', parts: [{ type: 'text', text }] },
  finishReason: 'stop',
  usage: { input: 1_000_000, output: 100_000 },
  model: 'm',
  ...more,
});

const textChunks = (text: string): Chunk[] => [
  { type: 'part-started', index: 0, part: 'text' },
  { type: 'part-delta', index: 0, text },
];

/** Creates a provider whose n-th request streams the n-th script. */
function provider(
  says: readonly ScriptedStream[],
  more: { readonly family?: string; readonly model?: string; readonly price?: Price } = {},
): Provider & { asked: number } {
  const made = {
    family: 'groq',
    model: 'm',
    ...more,
    asked: 0,
    stream(_request: ModelRequest, signal: AbortSignal): AsyncIterable<Chunk> {
      const say = says[Math.min(made.asked, says.length - 1)] as ScriptedStream;
      const number = made.asked++;
      return (async function* () {
        yield* say(signal, number);
      })();
    },
  };
  return made;
}

const createError = (
  code: string,
  details: Partial<ConstructorParameters<typeof FairleadError>[2]> = {},
): FairleadError =>
  new FairleadError(`provider/${code}`, `It is ${code}.`, { blame: 'provider', retry: true, ...details });

const fails = (error: Error, before: readonly Chunk[] = []): ScriptedStream =>
  function* () {
    yield* before;
    throw error;
  };

const answers = (text = 'done', more: Parameters<typeof end>[1] = {}): ScriptedStream =>
  function* () {
    yield* textChunks(text);
    yield end(text, more);
  };

const hangs = (before: readonly Chunk[] = []): ScriptedStream =>
  async function* () {
    yield* before;
    await new Promise(() => {});
  };

function createGateway(options: GatewayOptions = {}) {
  const clock = createTestClock({ instant: true });
  return { clock, options: { clock, state: createGatewayState(), ...options } };
}

async function drain(
  from: Provider,
  signal: AbortSignal = new AbortController().signal,
  chunks: Chunk[] = [],
): Promise<Chunk[]> {
  for await (const chunk of from.stream(request, signal)) chunks.push(chunk);
  return chunks;
}

const failure = async (work: Promise<unknown>): Promise<FairleadError> => {
  const error = await work.then(
    () => assert.fail('it did not fail'),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof FairleadError, String(error));
  return error;
};

const chunkTypes = (chunks: readonly Chunk[]): string => chunks.map((chunk) => chunk.type).join(' ');

/** Waits until the condition holds. */
async function waitUntil(condition: () => boolean): Promise<void> {
  for (let i = 0; i < 10_000 && !condition(); i++) await new Promise((wake) => setTimeout(wake, i < 100 ? 0 : 1));
  assert.ok(condition(), `the condition did not hold: ${condition.toString()}`);
}

test('[A54, P48] a failed request is retried after 1, 2 and 4 s plus up to one second of jitter; `restarted` withdraws the streamed chunks', async () => {
  const { clock, options } = createGateway();
  const model = provider([
    fails(createError('overloaded')),
    fails(createError('cut'), textChunks('half')),
    fails(createError('server-error')),
    answers(),
  ]);
  const chunks = await drain(gateway(model, options));
  assert.deepEqual(clock.waits, [1500, 2500, 4500]);
  assert.equal(chunkTypes(chunks), 'restarted part-started part-delta restarted restarted part-started part-delta end');
  assert.deepEqual(
    chunks.flatMap((chunk) => (chunk.type === 'restarted' ? [[chunk.attempt, chunk.why]] : [])),
    [
      [2, 'It is overloaded.'],
      [3, 'It is cut.'],
      [4, 'It is server-error.'],
    ],
  );
});

test('[P48] the jitter is random, between zero and one second', async () => {
  const waits = await Promise.all(
    [0, 0.25, 0.999].map(async (chance) => {
      const clock = createTestClock({ instant: true, random: () => chance });
      await drain(
        gateway(provider([fails(createError('overloaded')), answers()]), { clock, state: createGatewayState() }),
      );
      return clock.waits[0];
    }),
  );
  assert.deepEqual(waits, [1000, 1250, 1999]);
});

test('[A54] after the last retry the error states the number of attempts and is not retryable', async () => {
  const { options } = createGateway();
  const model = provider([fails(createError('overloaded', { hint: 'Wait.' }))]);
  const error = await failure(drain(gateway(model, options)));
  assert.equal(model.asked, 4);
  assert.deepEqual(
    { code: error.code, message: error.message, retry: error.retry, hint: error.hint, blame: error.blame },
    {
      code: 'provider/overloaded',
      message: 'It is overloaded (tried 4 times).',
      retry: false,
      hint: 'Wait.',
      blame: 'provider',
    },
  );
});

for (const code of ['unauthorized', 'context-too-long', 'bad-request']) {
  test(`[P48] an error that a retry cannot fix, such as ${code}, is thrown at once and unchanged`, async () => {
    const { clock, options } = createGateway();
    const thrown = createError(code, { retry: false, blame: 'user' });
    const model = provider([fails(thrown), answers()]);
    assert.equal(await failure(drain(gateway([model, provider([answers()])], options))), thrown);
    assert.equal(model.asked, 1);
    assert.deepEqual(clock.waits, []);
  });
}

test('[A54] a delay that the provider asks for is kept; one above the max is an error at once that states its end', async () => {
  const { clock, options } = createGateway();
  const short = provider([fails(createError('rate-limited', { afterMs: 7000 })), answers()]);
  await drain(gateway(short, options));
  assert.equal(clock.waits[0], 7500);

  const { clock: still, options: more } = createGateway();
  const long = provider([fails(createError('rate-limited', { afterMs: 3_600_000 })), answers()]);
  const error = await failure(drain(gateway(long, more)));
  assert.equal(error.code, 'provider/rate-limited');
  assert.match(error.message, /no request before \d{4}-\d\d-\d\d \d\d:\d\d:\d\d \(in 60 min\)/);
  assert.deepEqual([error.retry, error.afterMs, long.asked, still.waits], [false, 3_600_000, 1, []]);

  const next = await failure(drain(gateway(long, more)));
  assert.equal(next.code, 'provider/rate-limited');
  assert.equal(long.asked, 1, 'no request of the process is sent before that time');
});

test('[A54] a missing first chunk and a stalled stream end in their own errors, even if the provider ignores its signal', async () => {
  for (const [before, code, ms] of [
    [[], 'provider/timeout', 5000],
    [textChunks('half'), 'provider/stalled', 2000],
  ] as const) {
    const clock = createTestClock();
    const model = provider([hangs(before)]);
    const patience = { firstMs: 5000, stallMs: 2000 };
    const shown: Chunk[] = [];
    const asked = gateway(model, { clock, state: createGatewayState(), retry: { retries: 0 }, timeouts: patience });
    const work = failure(drain(asked, undefined, shown));
    await waitUntil(() => model.asked === 1 && shown.length === before.length);
    clock.advance(ms - 1);
    assert.equal(clock.pending, 1, 'still waiting just before the time');
    clock.advance(1);
    assert.equal((await work).code, code);
    assert.equal(clock.pending, 0, 'no timer is left behind');
  }
});

test('[A54] a slow reader does not cause a timeout: only the time spent waiting for the provider counts', async () => {
  const clock = createTestClock();
  const hears: ScriptedStream = async function* (signal) {
    yield* textChunks('a');
    signal.throwIfAborted();
    yield end('a');
  };
  const model = gateway(provider([hears]), {
    clock,
    state: createGatewayState(),
    timeouts: { firstMs: 50, stallMs: 50 },
  });
  const seen: string[] = [];
  for await (const chunk of model.stream(request, new AbortController().signal)) {
    seen.push(chunk.type);
    clock.advance(10_000);
  }
  assert.deepEqual(seen, ['part-started', 'part-delta', 'end']);
});

test('[A54] after a blocked event loop, chunks that have arrived are read before the stream counts as stalled', async () => {
  for (const speaks of [true, false]) {
    const clock = createTestClock();
    const more = Promise.withResolvers<void>();
    const say: ScriptedStream = async function* () {
      yield* textChunks('half');
      await more.promise;
      yield end('whole');
    };
    const shown: Chunk[] = [];
    const options = {
      clock,
      state: createGatewayState(),
      retry: { retries: 0 },
      timeouts: { firstMs: 9000, stallMs: 2000 },
    };
    const work = drain(gateway(provider([say]), options), undefined, shown).then(
      chunkTypes,
      (error: Error) => error.message,
    );
    await waitUntil(() => shown.length === 2);
    clock.skip(30_000);
    clock.advance(0);
    if (speaks) more.resolve();
    else clock.advance(1000);
    assert.match(await work, speaks ? /end$/ : /sent nothing for/);
  }
});

test('[A54] chunks of an abandoned attempt are ignored: the only response is that of the attempt that ended', async () => {
  const clock = createTestClock({ instant: true });
  const late = Promise.withResolvers<void>();
  const slow: ScriptedStream = async function* () {
    yield* textChunks('first');
    await late.promise;
    yield end('first');
  };
  const second: ScriptedStream = async function* () {
    yield* textChunks('second');
    late.resolve();
    for (let i = 0; i < 5; i++) await new Promise((wake) => setImmediate(wake));
    yield end('second');
  };
  const model = provider([slow, second]);
  const patience = { firstMs: 1e6, stallMs: 1000 };
  const shown: Chunk[] = [];
  const work = drain(gateway(model, { clock, state: createGatewayState(), timeouts: patience }), undefined, shown);
  await waitUntil(() => shown.length === 2);
  clock.advance(1000);
  const chunks = await work;
  const ends = chunks.filter((chunk) => chunk.type === 'end');
  assert.equal(ends.length, 1);
  assert.deepEqual(ends[0]?.message.parts, [{ type: 'text', text: 'second' }]);
});

test('[A54] a stream without an end is not a response, and chunks after the end are ignored', async () => {
  const { options } = createGateway();
  const silent: ScriptedStream = function* () {
    yield* textChunks('half');
  };
  const twice: ScriptedStream = function* () {
    yield end('one');
    yield end('two');
  };
  const chunks = await drain(gateway(provider([silent, twice]), options));
  assert.equal(chunkTypes(chunks), 'part-started part-delta restarted end');
});

test('[A54] a reader that stops early releases the provider', async () => {
  const { clock, options } = createGateway();
  const signals: AbortSignal[] = [];
  const endless: ScriptedStream = async function* (signal) {
    signals.push(signal);
    for (;;) yield* textChunks('on and on');
  };
  for await (const _chunk of gateway(provider([endless]), options).stream(request, new AbortController().signal)) break;
  assert.deepEqual(
    signals.map((signal) => signal.aborted),
    [true],
  );
  assert.equal(clock.pending, 0);
});

test('[A54] an abort ends a wait at once: before a retry, in the rate limiter, and in the stream', async () => {
  const reason = new FairleadError('run/cancelled', 'Stop.', { blame: 'user' });
  for (const [where, say, waits] of [
    ['before a retry', fails(createError('overloaded')), 1],
    ['in the stream', hangs(textChunks('half')), 0],
  ] as const) {
    const stop = new AbortController();
    const clock = createTestClock();
    const shown: Chunk[] = [];
    const work = failure(drain(gateway(provider([say]), { clock, state: createGatewayState() }), stop.signal, shown));
    await waitUntil(() => shown.length > 0 && clock.pending === 1 && clock.waits.length === waits);
    stop.abort(reason);
    assert.equal(await work, reason, where);
    assert.equal(clock.pending, 0, `${where}: no timer is left behind`);
  }
  const clock = createTestClock();
  const state = createGatewayState();
  const limits = { requestsPerMinute: 6 };
  const model = provider([answers()]);
  await drain(gateway(model, { clock, state, limits }));
  const stop = new AbortController();
  const work = failure(drain(gateway(model, { clock, state, limits }), stop.signal));
  await waitUntil(() => clock.waits.length === 1);
  assert.equal(model.asked, 1, 'the second waits for its turn');
  stop.abort(reason);
  assert.equal(await work, reason);
  assert.equal(clock.pending, 0);
});

test('[A54] an abort while the reader handles a chunk ends the stream at its next read', async () => {
  const { clock, options } = createGateway();
  const reason = new FairleadError('run/cancelled', 'Stop.', { blame: 'user' });
  const stop = new AbortController();
  const model = gateway(provider([hangs(textChunks('half'))]), options);
  const work = (async (): Promise<void> => {
    for await (const _chunk of model.stream(request, stop.signal)) stop.abort(reason);
  })();
  assert.equal(await failure(work), reason);
  assert.equal(clock.pending, 0, 'no timer is left behind');
});

test('[A55] consecutive failures open the circuit for all requests of the process to this model; other models are not affected', async () => {
  const { clock, options } = createGateway({ retry: { retries: 0 } });
  const down = provider([fails(createError('server-error'))]);
  for (let i = 0; i < 5; i++) await failure(drain(gateway(down, options)));
  const error = await failure(drain(gateway(provider([answers()]), options)));
  assert.equal(error.code, 'provider/circuit-open');
  assert.deepEqual([error.afterMs, error.retry, down.asked], [30_000, false, 5]);
  assert.match(error.message, /groq\/m failed 5 times in a row and is paused for another 30 s.*It is server-error/);
  assert.equal(
    chunkTypes(await drain(gateway(provider([answers()], { model: 'n' }), options))),
    'part-started part-delta end',
  );
  clock.advance(12_500);
  assert.equal((await failure(drain(gateway(down, options)))).afterMs, 17_500);
});

test('[A55] a half-open circuit admits exactly one trial; its success closes the circuit, its failure or abort does not', async () => {
  const { clock, options } = createGateway({ retry: { retries: 0 } });
  const down = provider([fails(createError('server-error'))]);
  for (let i = 0; i < 5; i++) await failure(drain(gateway(down, options)));
  clock.advance(30_000);
  await failure(drain(gateway(down, options)));
  assert.equal(down.asked, 6, 'the trial that fails');
  assert.equal((await failure(drain(gateway(down, options)))).code, 'provider/circuit-open');

  clock.advance(30_000);
  const stop = new AbortController();
  const trial = provider([hangs()]);
  const hung = failure(drain(gateway(trial, options), stop.signal));
  await waitUntil(() => trial.asked === 1);
  const others = await Promise.all(
    Array.from({ length: 19 }, () => failure(drain(gateway(provider([answers()]), options)))),
  );
  assert.deepEqual(new Set(others.map((error) => error.code)), new Set(['provider/circuit-open']));
  stop.abort(new FairleadError('run/cancelled', 'Stop.', { blame: 'user' }));
  await hung;
  assert.equal(
    (await failure(drain(gateway(down, options)))).code,
    'provider/circuit-open',
    'the trial was not decided',
  );

  clock.advance(30_000);
  await drain(gateway(provider([answers()]), options));
  await drain(gateway(provider([answers()]), options));
});

test('[A55] a trial that ends with an error of the request closes the circuit; one that the rate limiter rejects does not', async () => {
  const { clock, options } = createGateway({ retry: { retries: 0 } });
  const stateOf = (): unknown => breakerStates(options.state)[0]?.state;
  const down = provider([fails(createError('server-error'))]);
  for (let i = 0; i < 5; i++) await failure(drain(gateway(down, options)));
  clock.advance(30_000);
  options.state.limiters.get('groq/m')?.block(3_600_000);
  assert.equal((await failure(drain(gateway(down, options)))).code, 'provider/rate-limited');
  assert.deepEqual([down.asked, stateOf()], [5, 'open']);

  clock.advance(3_600_000);
  const invalid = createError('bad-request', { retry: false, blame: 'user' });
  assert.equal(await failure(drain(gateway(provider([fails(invalid)]), options))), invalid);
  assert.equal(stateOf(), 'closed');
});

test('[A55, A94] breakerStates lists the circuits of a process: closed, open with the remaining time, or half open', async () => {
  const { clock, options } = createGateway({ retry: { retries: 0 } });
  const down = provider([fails(createError('server-error'))]);
  const standing = (): unknown => breakerStates(options.state);
  assert.deepEqual(standing(), []);
  await drain(gateway(provider([answers()], { model: 'n' }), options));
  for (let i = 0; i < 5; i++) await failure(drain(gateway(down, options)));
  clock.advance(10_000);
  const fine = { model: 'groq/n', state: 'closed', forMs: 0 };
  assert.deepEqual(standing(), [fine, { model: 'groq/m', state: 'open', forMs: 20_000 }]);
  clock.advance(20_000);
  assert.deepEqual(standing(), [fine, { model: 'groq/m', state: 'half-open', forMs: 0 }]);
  await drain(gateway(provider([answers()]), options));
  assert.deepEqual(standing(), [fine, { model: 'groq/m', state: 'closed', forMs: 0 }]);
});

test('[A55] rate limits, invalid requests and aborts do not open the circuit', async () => {
  const { options } = createGateway({ retry: { retries: 0 } });
  const faults = [
    createError('rate-limited', { afterMs: 1 }),
    createError('bad-request', { retry: false, blame: 'user' }),
    createError('context-too-long', { retry: false, blame: 'user' }),
  ];
  for (const thrown of faults)
    for (let i = 0; i < 6; i++) await failure(drain(gateway(provider([fails(thrown)]), options)));
  for (let i = 0; i < 6; i++) {
    const stop = new AbortController();
    const model = provider([hangs()]);
    const work = failure(drain(gateway(model, options), stop.signal));
    await waitUntil(() => model.asked === 1);
    stop.abort(createError('cut'));
    await work;
  }
  assert.equal(chunkTypes(await drain(gateway(provider([answers()]), options))), 'part-started part-delta end');
});

test('[A55] a request in progress when the circuit opens waits for it instead of failing', async () => {
  const { clock, options } = createGateway({ circuit: { failures: 2, coolMs: 20_000 } });
  const model = provider([fails(createError('server-error')), fails(createError('server-error')), answers()]);
  const chunks = await drain(gateway(model, options));
  assert.equal(chunks.at(-1)?.type, 'end');
  assert.deepEqual([model.asked, clock.waits.length, clock.now() > 20_000], [3, 3, true]);
});

test('[A56] the bucket admits a burst and then one request after the other, in the order of arrival', async () => {
  const { clock, options } = createGateway({ limits: { requestsPerMinute: 60 } });
  const starts: (readonly [number, number])[] = [];
  const ask = async (i: number): Promise<void> => {
    const say: ScriptedStream = function* () {
      starts.push([i, clock.now()]);
      yield end('done');
    };
    await drain(gateway(provider([say]), options));
  };
  await Promise.all(Array.from({ length: 20 }, (_, i) => ask(i)));
  assert.deepEqual(
    starts.map(([i]) => i),
    Array.from({ length: 20 }, (_, i) => i),
    'in the order of arrival',
  );
  assert.equal(starts.filter(([, at]) => at === 0).length, 10, 'the requests of ten seconds at once');
  assert.deepEqual(
    starts.slice(10).map(([, at]) => Math.round(at / 1000)),
    Array.from({ length: 10 }, (_, i) => i + 1),
    'then one a second',
  );
});

test('[A56] tokens are limited too: unused reserved tokens are returned, and tokens above the reservation delay later requests', async () => {
  const { clock, options } = createGateway({ limits: { tokensPerMinute: 6000 } });
  const uses = (input: number): Provider => provider([answers('x', { usage: { input, output: 0 } })]);
  await drain(gateway(uses(9000), options));
  const before = clock.now();
  await drain(gateway(uses(1), options));
  assert.ok(clock.now() - before >= 30_000, 'a debt of 3000 tokens takes half a minute');
  const later = clock.now();
  clock.advance(60_000);
  for (let i = 0; i < 50; i++) await drain(gateway(uses(1), options));
  assert.equal(clock.now() - later, 60_000, 'reserved tokens that were not used are returned');
});

test('[A56] the limit of a provider is shared by its models; that of a model and that of each tenant are separate', async () => {
  const rateLimits = [
    { provider: 'groq', requestsPerMinute: 6 },
    { provider: 'groq', model: 'large', requestsPerMinute: 600 },
    { tenant: '*', requestsPerMinute: 600 },
    { tenant: 'acme', requestsPerMinute: 6 },
  ];
  const { clock, options } = createGateway({ rateLimits });
  const waitOf = async (model: string, tenant: string, family = 'groq'): Promise<number> => {
    const before = clock.now();
    await drain(gateway(provider([answers()], { family, model }), { ...options, tenant }));
    return Math.round((clock.now() - before) / 1000);
  };
  assert.equal(await waitOf('small', 'one'), 0, 'the burst of ten seconds is one request');
  assert.equal(await waitOf('medium', 'two'), 10, 'another model and tenant share the limit of the provider');
  assert.equal(await waitOf('large', 'one'), 0, 'the limit of a model replaces that of its provider');
  assert.equal(await waitOf('large', 'one'), 0);
  assert.equal(await waitOf('large', 'acme'), 0);
  assert.equal(await waitOf('large', 'acme'), 10, 'the limit of a tenant applies as well');
  assert.equal(await waitOf('m', 'acme', 'cerebras'), 10, 'and for all providers');
  for (let i = 0; i < 3; i++) assert.equal(await waitOf('m', 'two', 'cerebras'), 0, 'another provider has no limit');
});

test('[A56] a wait of a second or more for a rate limit is announced before the request is sent, with its length and the limit', async () => {
  const { options } = createGateway({ rateLimits: [{ provider: 'groq', requestsPerMinute: 6 }] });
  const ask = (): Promise<Chunk[]> => drain(gateway(provider([answers()]), options));
  assert.equal(chunkTypes(await ask()), 'part-started part-delta end');
  const [first, ...more] = await ask();
  assert.deepEqual(first, {
    type: 'restarted',
    attempt: 1,
    held: true,
    waitMs: 10_000,
    code: 'provider/rate-limited',
    provider: 'groq',
    why: '6 requests per minute',
  });
  assert.equal(chunkTypes(more), 'part-started part-delta end');
});

test('[A56] the estimate of a wait counts the requests before it in the queue', async () => {
  const limiter = createProviderRateLimiter('groq/m', createTestClock());
  limiter.setLimits({ requestsPerMinute: 6 });
  const stop = new AbortController();
  await limiter.acquire(request, 60_000, stop.signal);
  const waiting = [1, 2].map(() => {
    const estimate = limiter.estimateWaitMs(request, 60_000);
    return { estimate, work: failure(limiter.acquire(request, 60_000, stop.signal)) };
  });
  assert.deepEqual(
    [...waiting.map(({ estimate }) => estimate), limiter.estimateWaitMs(request, 60_000)],
    [10_000, 20_000, 30_000],
  );
  stop.abort(createError('stopped'));
  await Promise.all(waiting.map(({ work }) => work));
  assert.equal(limiter.estimateWaitMs(request, 60_000), 10_000);
  limiter.block(90_000);
  assert.equal(limiter.estimateWaitMs(request, 60_000), 0, 'such a request fails at once');
});

test('[A56] a request that waits for a block by another request is told so', async () => {
  const rateLimits = [{ tenant: 'default', tokensPerMinute: 60 }];
  const { clock, options } = createGateway({ rateLimits, retry: { retries: 0 } });
  await failure(drain(gateway(provider([fails(createError('rate-limited', { afterMs: 5000 }))]), options)));
  const [told] = await drain(gateway(provider([answers('x', { usage: { input: 1, output: 0 } })]), options));
  assert.ok(told?.type === 'restarted' && told.held && (told.waitMs ?? 0) >= 4000, JSON.stringify(told));
  assert.match(told.why, /earlier request/);
  assert.ok(clock.now() >= 5000);
});

test('[A56] settings of rate limits are validated with one sentence that names the place', () => {
  const wrong = (value: unknown): string => {
    try {
      parseRateLimits(value, 'rateLimits in config.json');
    } catch (error) {
      assert.ok(error instanceof FairleadError);
      return error.message;
    }
    return 'accepted';
  };
  const where = 'Limit 1 of rateLimits in config.json';
  assert.equal(wrong({}), 'rateLimits in config.json must be a list of at most 1000 limits.');
  assert.equal(wrong([7]), `${where} must be an object with requestsPerMinute or tokensPerMinute.`);
  assert.equal(wrong([{ provider: 'x' }]), `${where} needs requestsPerMinute or tokensPerMinute.`);
  assert.equal(wrong([{ requestsPerMinute: '9' }]), `requestsPerMinute of ${where} must be a number above 0, not "9".`);
  assert.equal(wrong([{ tokensPerMinute: 0 }]), `tokensPerMinute of ${where} must be a number above 0, not 0.`);
  assert.equal(wrong([{ tenant: '', tokensPerMinute: 1 }]), `tenant of ${where} must be a name, not "".`);
  assert.match(wrong([{ rpm: 1 }]), /has the unknown key "rpm"; it can have provider, model, tenant, /);
  assert.match(wrong([{ model: 'm', requestsPerMinute: 1 }]), /must name its provider too/);
  assert.match(wrong([{ requestsPerMinute: 1 }, { requestsPerMinute: 2 }]), /^Limit 2 of .* the same as an earlier/);
  assert.deepEqual(parseRateLimits([{ provider: 'lmstudio', requestsPerMinute: 1 }])[0]?.requestsPerMinute, 1);
});

test('[A3] the next model is used after the retries of the first, and `restarted` withdraws the streamed chunks', async () => {
  const { options } = createGateway();
  const first = provider([fails(createError('overloaded'), textChunks('half'))]);
  const second = provider([answers('from the second', { model: 'n' })], { family: 'cerebras', model: 'n' });
  const chunks = await drain(gateway([first, second], options));
  const last = chunks.at(-1);
  assert.ok(last?.type === 'end');
  assert.deepEqual([first.asked, second.asked, last.model], [4, 1, 'n']);
  assert.equal(chunkTypes(chunks.slice(-4)), 'restarted part-started part-delta end');
});

test('[A3] the next model is used at once when the circuit of the first is open', async () => {
  const { clock, options } = createGateway({ circuit: { failures: 2 } });
  const first = provider([fails(createError('unreachable'))]);
  const second = provider([answers()], { model: 'n' });
  await drain(gateway([first, second], options));
  const waited = clock.waits.length;
  await drain(gateway([first, second], options));
  assert.deepEqual([first.asked, second.asked], [2, 2]);
  assert.equal(clock.waits.length, waited, 'no request waited for the open circuit');
});

test('[A3] when every model fails, one error names all failures', async () => {
  const { options } = createGateway({ retry: { retries: 1 } });
  const chain = [
    provider([fails(createError('overloaded'))]),
    provider([fails(new TypeError('a bug'))], { family: 'cerebras', model: 'n' }),
  ];
  const error = await failure(drain(gateway(chain, options)));
  assert.equal(error.code, 'provider/unexpected');
  assert.equal(
    error.message,
    'cerebras/n failed in an unexpected way: a bug; before that, groq/m: It is overloaded (tried 2 times).',
  );
  assert.equal(error.retry, false);
});

test('[A57] a response has the price of the model that sent it; an unknown price stays unknown', async () => {
  const { options } = createGateway();
  const usd = async (chain: readonly Provider[]): Promise<number | undefined> => {
    const last = (await drain(gateway(chain, options))).at(-1);
    return last?.type === 'end' ? last.usd : assert.fail();
  };
  const down = provider([fails(createError('bad-gateway', { retry: false }))], {
    family: 'openai',
    model: 'gpt-5-pro',
    price: { input: 15, output: 120 },
  });
  const mini = { family: 'openai', model: 'gpt-4o-mini', price: { input: 0.15, output: 0.6 } };
  assert.equal(await usd([down, provider([answers('x', { model: 'gpt-4o-mini-2024-07-18' })], mini)]), 0.21);
  assert.equal(await usd([provider([answers('x', { model: 'gpt-4o' })], mini)]), 3.5, 'another model answered');
  assert.equal(await usd([provider([answers('x', { model: 'who-knows' })])]), undefined);
  assert.equal(await usd([provider([answers('x')], { family: 'ollama', model: 'qwen3' })]), 0, 'local is free');
});

test('[A57] the cost of a failed attempt is added if its error reports usage', async () => {
  const { options } = createGateway();
  const billed = Object.assign(createError('cut'), { usage: { input: 1_000_000, output: 0 } });
  const model = provider([fails(billed), fails(createError('cut')), answers('x', { model: 'gpt-4o' })], {
    family: 'openai',
    model: 'gpt-4o',
    price: { input: 2.5, output: 10 },
  });
  const last = (await drain(gateway(model, options))).at(-1);
  assert.ok(last?.type === 'end');
  assert.equal(last.usd, 2.5 + 3.5);
  assert.deepEqual(last.usage, { input: 1_000_000, output: 100_000 }, 'the counts are those of the answer');
});

test('[A57] when every attempt fails, the error carries what all attempts used and cost', async () => {
  const { options } = createGateway();
  const billed = (usd: number): FairleadError =>
    Object.assign(createError('cut'), { usage: { input: 10, output: 1 }, usd });
  const model = provider([fails(billed(0.5)), fails(createError('cut')), fails(billed(0.25)), fails(billed(0.25))]);
  const error: unknown = await drain(gateway(model, options)).catch((thrown: unknown) => thrown);
  assert.ok(error instanceof FairleadError);
  assert.deepEqual([error.usage, error.usd], [{ input: 30, output: 3 }, 1]);
});

test('[A57] a chain has the highest price of its models, and none if one is unknown', () => {
  const priced = (price?: Price): Provider => provider([answers()], price ? { price } : {});
  assert.deepEqual(gateway([priced({ input: 1, output: 9 }), priced({ input: 3, output: 5 })]).price, {
    input: 3,
    output: 9,
    cacheRead: 3,
    cacheWrite: 3,
  });
  assert.equal(gateway([priced({ input: 1, output: 9 }), priced()]).price, undefined);
});

test('a gateway without a provider is an error with a clear message', () => {
  assert.throws(() => gateway([]), /A gateway needs at least one provider/);
});

test('[P12] a gateway accepts images if all its models do; unknown if one is unknown', () => {
  const createModel = (images?: boolean): Provider => ({
    family: 'f',
    model: 'm',
    ...(images === undefined ? {} : { supportsImages: images }),
    stream: () => assert.fail(),
  });
  const supportOf = (...each: readonly (boolean | undefined)[]): boolean | undefined =>
    gateway(each.map(createModel)).supportsImages;
  assert.deepEqual(
    [supportOf(true), supportOf(true, false), supportOf(true, undefined), supportOf(undefined)],
    [true, false, undefined, undefined],
  );
});
