// Interception of one model exchange, with a stream that the test controls.
import assert from 'node:assert/strict';
import test from 'node:test';
import { FairleadError, type Gate } from '../../core/index.ts';
import { memoryLog } from '../../stores/index.ts';
import { createInterceptor, type InterceptedRequest, type InterceptorOptions } from '../interceptor/interceptor.ts';
import { resolveTracker, toConversationId } from './options.ts';
import { interceptModelStream, type ModelExchange } from './intercept-model.ts';
import { getToolDenial } from './tool-gate.ts';

type Piece = { readonly text: string } | { readonly call: string } | { readonly end: true };

const baseRequest: InterceptedRequest = {
  model: 'm',
  system: '',
  tools: [{ name: 'run', description: '', input: {} }],
  messages: [{ role: 'user', parts: [{ type: 'text', text: 'Go.' }] }],
};
const denyAll: Gate = () => ({ type: 'deny', reason: 'No.' });

/** An exchange over these streams, one for each attempt. */
async function call(
  streams: readonly (() => AsyncIterable<Piece>)[],
  options: InterceptorOptions = {},
  more: Partial<ModelExchange<Piece>> = {},
): Promise<AsyncGenerator<Piece, void>> {
  const tracker = resolveTracker({ interceptor: await createInterceptor(options) });
  return interceptModelStream<Piece>({
    ask: () => tracker.trackRequest(baseRequest),
    send: (_additions, attempt) => streams[attempt]?.() ?? assert.fail('too many requests'),
    reader() {
      const pieces: Piece[] = [];
      const words = (): string[] => pieces.flatMap((piece) => ('text' in piece ? [piece.text] : []));
      return {
        push: (piece) => (pieces.push(piece), 'call' in piece),
        shownText: words,
        closingEvents: (held) => held.filter((piece) => 'end' in piece),
        response: () => ({
          message: {
            role: 'assistant',
            parts: [
              ...words().map((text) => ({ type: 'text', text }) as const),
              ...pieces.flatMap((piece) =>
                'call' in piece ? [{ type: 'tool-call', id: piece.call, tool: 'run', input: {} } as const] : [],
              ),
            ],
          },
          finish: 'stop',
        }),
      };
    },
    stopped: ({ reason }) => [{ text: reason }],
    ...more,
  });
}

async function all(events: AsyncIterable<Piece>): Promise<readonly Piece[]> {
  const pieces: Piece[] = [];
  for await (const piece of events) pieces.push(piece);
  return pieces;
}

test('text is forwarded while the answer streams, and a call is held until the answer is complete', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const events = await call([
    async function* () {
      yield { text: 'a' };
      yield { call: '1' };
      await promise;
      yield { text: 'b' };
    },
  ]);
  assert.deepEqual(await events.next(), { done: false, value: { text: 'a' } });
  const next = events.next();
  assert.equal(await Promise.race([next, new Promise((done) => setImmediate(done, 'waits'))]), 'waits');
  resolve();
  assert.deepEqual(await next, { done: false, value: { call: '1' } });
  assert.deepEqual(await all(events), [{ text: 'b' }]);
});

test('of a denied answer only the closing events are forwarded, and the next answer follows', async () => {
  let gate: Gate = denyAll;
  const streams = [
    async function* () {
      yield { text: 'a' };
      yield { call: '1' };
      yield { end: true } as const;
      gate = () => ({ type: 'allow' });
    },
    async function* () {
      yield { call: '2' };
    },
  ];
  const events = await call(streams, { gates: [(...given) => gate(...given)] });
  gate = denyAll;
  const pieces = await all(events);
  assert.deepEqual(
    pieces,
    [{ text: 'a' }, { call: '1' }, { end: true }],
    'a call that is allowed when it is checked is forwarded completely',
  );

  const refused = await call(
    [
      streams[0] as never,
      async function* () {
        yield { text: 'b' };
      },
    ],
    { gates: [denyAll] },
  );
  assert.deepEqual(await all(refused), [{ text: 'a' }, { end: true }, { text: 'b' }]);
});

test('a consumer that stops reading releases the conversation', async () => {
  const interceptor = await createInterceptor();
  const tracker = resolveTracker({ interceptor });
  const stream = async function* (): AsyncGenerator<Piece> {
    yield { text: 'a' };
    yield { text: 'b' };
  };
  const events = await call([stream], {}, { ask: () => tracker.trackRequest(baseRequest) });
  await events.next();
  await events.return();
  const again = await call([stream], {}, { ask: () => tracker.trackRequest(baseRequest) });
  assert.equal((await all(again)).length, 2);
});

test('a failed request releases the conversation', async () => {
  const interceptor = await createInterceptor();
  const tracker = resolveTracker({ interceptor });
  const broken = await call(
    [
      () => {
        throw new Error('no line');
      },
    ],
    {},
    { ask: () => tracker.trackRequest(baseRequest) },
  );
  await assert.rejects(all(broken), /no line/);
  const again = await call(
    [
      async function* () {
        yield { text: 'a' };
      },
    ],
    {},
    { ask: () => tracker.trackRequest(baseRequest) },
  );
  assert.deepEqual(await all(again), [{ text: 'a' }]);
});

test('if the log cannot be opened nothing is sent, and the next request tries again', async () => {
  const log = {
    read() {
      throw new FairleadError('store/gone', 'The disk is gone.', { blame: 'harness' });
    },
  } as never;
  const tracker = resolveTracker({ log });
  await assert.rejects(tracker.trackRequest(baseRequest), /disk is gone/);
  await assert.rejects(tracker.trackRequest(baseRequest), /disk is gone/);
});

test('any conversation id of a framework is accepted, and different ids stay different', () => {
  assert.equal(toConversationId('a-1'), 'a-1');
  assert.equal(toConversationId(''), undefined);
  assert.equal(toConversationId(7), undefined);
  const [one, two] = [toConversationId('tenant/1:thread'), toConversationId('tenant/2:thread')];
  assert.match(one ?? '', /^[\w-]{1,100}$/);
  assert.notEqual(one, two);
});

test('an allowed call is not checked again at the tool; a changed call is', async () => {
  let asks = 0;
  const interceptor = await createInterceptor({ gates: [() => (asks++, { type: 'allow' })] });
  await interceptor.beforeRequest(baseRequest);
  const input = { a: 1, b: 2 };
  await interceptor.afterResponse({
    message: { role: 'assistant', parts: [{ type: 'tool-call', id: '1', tool: 'run', input }] },
    finish: 'tool-calls',
  });
  assert.equal(asks, 1);
  assert.equal(await getToolDenial(interceptor, { id: '1', tool: 'run', input: { b: 2, a: 1 } }), undefined);
  assert.equal(asks, 1);
  await getToolDenial(interceptor, { id: '1', tool: 'run', input: { a: 2 } });
  await getToolDenial(interceptor, { id: '2', tool: 'run', input });
  assert.equal(asks, 3);
});

test('requests on one log run one after the other', async () => {
  const tracker = resolveTracker({ log: memoryLog() });
  let open = 0;
  let most = 0;
  const stream = async function* (): AsyncGenerator<Piece> {
    most = Math.max(most, ++open);
    await new Promise(setImmediate);
    yield { text: 'a' };
    open--;
  };
  const one = () => call([stream], {}, { ask: () => tracker.trackRequest(baseRequest) }).then(all);
  await Promise.all([one(), one(), one()]);
  assert.equal(most, 1);
});
