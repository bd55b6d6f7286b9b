// Tests of event streams: no event is lost or duplicated across reconnects, and a client that does not read is dropped.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import test from 'node:test';
import type { FleetRun, Tool } from '../../../core/index.ts';
import { calls, says } from '../../../testing/index.ts';
import {
  createApiFixture,
  eventually,
  openFrames,
  roleKeys,
  type ApiFixture,
  type SseFrame,
} from '../../../../test/support/api-server.ts';

const startTestRun = async ({ request }: ApiFixture, body: Record<string, unknown>): Promise<FleetRun> =>
  ((await request('POST /api/runs', { body })).body as { readonly run: FleetRun }).run;

const seqs = (seen: readonly SseFrame[]): readonly number[] => seen.flatMap(({ id }) => (id === undefined ? [] : [id]));

async function all(stream: AsyncIterable<SseFrame>): Promise<readonly SseFrame[]> {
  const seen: SseFrame[] = [];
  for await (const frame of stream) seen.push(frame);
  return seen;
}

const count = (n: number): readonly number[] => Array.from({ length: n }, (_, i) => i + 1);

test('[A93] a run is streamed from its first event to its end: partial text, then the final events, then the end', async (t) => {
  const go = Promise.withResolvers<void>();
  const api = await createApiFixture(t, {
    script: async () => {
      await go.promise;
      return { ...says('one two three'), chunks: ['one ', 'two ', 'three'] };
    },
  });
  const run = await startTestRun(api, { prompt: 'count' });
  const following = all(openFrames(api.url, `/api/stream?run=${run.id}`));
  await api.waitForStatus(run.id, 'running');
  go.resolve();
  const seen = await following;
  const numbers = seqs(seen);
  assert.deepEqual(numbers, count(numbers.length));
  assert.deepEqual(
    seen.slice(-2).map(({ event }) => event),
    ['run', 'end'],
  );
  const last = seen.at(-2)?.data as FleetRun | undefined;
  assert.equal(last?.outcome?.text, 'one two three');
  const chunks = seen.filter(({ event }) => event === 'chunk');
  assert.equal(chunks.map(({ data }) => data['text']).join(''), 'one two three');
  const turn = seen.find(({ data }) => data['type'] === 'turn-ended');
  assert.ok(chunks.every(({ data }) => data['turn'] === turn?.data['turn']));
});

const step: Tool = {
  name: 'step',
  description: 'A step.',
  input: { type: 'object' },
  effect: 'read',
  execute: () => 'a step',
};

test('[A93] a stream that is interrupted anywhere resumes with Last-Event-ID, without gaps and duplicates', async (t) => {
  const api = await createApiFixture(t, {
    tools: [step],
    script: ({ results }) => (results.length < 5 ? calls('step', { n: results.length }) : says('done')),
  });
  const run = await startTestRun(api, { prompt: 'go' });
  const seen: SseFrame[] = [];
  let ended = false;
  for (let last = 0, broken = 0; !ended; broken++) {
    const leave = new AbortController();
    const headers = last > 0 ? { 'last-event-id': String(last) } : {};
    let taken = 0;
    try {
      for await (const frame of openFrames(api.url, `/api/stream?run=${run.id}`, { headers, signal: leave.signal })) {
        seen.push(frame);
        last = frame.id ?? last;
        ended = frame.event === 'end';
        if (frame.id !== undefined && ++taken === 2) break;
      }
    } finally {
      leave.abort();
    }
    assert.ok(broken < 100);
  }
  const numbers = seqs(seen);
  assert.deepEqual(numbers, count(numbers.length));
  assert.ok(numbers.length > 15);
  const late = await all(openFrames(api.url, `/api/stream?run=${run.id}&from=${numbers.length - 1}`));
  assert.deepEqual(seqs(late), [numbers.length]);
  assert.equal(late.at(-1)?.event, 'end');
  const bad = await api.request(`GET /api/stream?run=${run.id}`, { headers: { 'last-event-id': 'x' } });
  assert.equal(bad.status, 400);
});

test('[A93] a session is streamed across several runs; a stream without a target is refused; a GET starts no run', async (t) => {
  const api = await createApiFixture(t);
  const run = await startTestRun(api, { prompt: 'one' });
  await api.waitForStatus(run.id, 'ended');
  const leave = new AbortController();
  const seen: SseFrame[] = [];
  const following = (async () => {
    for await (const frame of openFrames(api.url, `/api/stream?session=${run.session}`, { signal: leave.signal })) {
      seen.push(frame);
      const ends = seen.filter(({ data }) => data['type'] === 'run-ended').length;
      if (ends === 2) return;
    }
  })();
  const next = await startTestRun(api, { prompt: 'two', session: run.session });
  await api.waitForStatus(next.id, 'ended');
  await following;
  leave.abort();
  assert.deepEqual(seqs(seen), count(seqs(seen).length));
  assert.equal((await api.request('GET /api/stream')).status, 400);
  assert.equal((await api.request('GET /api/stream?run=absent')).status, 404);
  assert.equal((await api.request('GET /api/stream?session=absent')).status, 404);
  assert.equal((await api.store.queue.list()).length, 2);
});

test('[A93] many subscribers of one run share one store subscription, and all receive the same events', async (t) => {
  const go = Promise.withResolvers<void>();
  const api = await createApiFixture(t, {
    script: async () => {
      await go.promise;
      return says('for all of you');
    },
  });
  const run = await startTestRun(api, { prompt: 'hello' });
  const watchers = Array.from({ length: 100 }, () => all(openFrames(api.url, `/api/stream?run=${run.id}`)));
  const metric = async (name: string): Promise<number> => {
    const { body } = await api.request('GET /metrics', { as: 'reader' });
    return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(String(body))?.[1]);
  };
  await eventually('100 clients are counted', async () => (await metric('fairlead_server_stream_clients')) === 100);
  assert.equal(await metric('fairlead_server_broadcasters'), 1);
  go.resolve();
  const seen = await Promise.all(watchers);
  for (const one of seen) assert.deepEqual(seqs(one), seqs(seen[0] ?? []));
  await eventually('no client is counted', async () => (await metric('fairlead_server_stream_clients')) === 0);
  assert.equal(await metric('fairlead_server_broadcasters'), 0);
});

test('[A93] a client that does not read is dropped, and no data is kept for it', async (t) => {
  const text = 'x'.repeat(1_000_000);
  const api = await createApiFixture(t, {
    tools: [{ ...step, execute: () => 'y'.repeat(20_000) }],
    script: ({ results }) => (results.length < 8 ? [says(text), calls('step', { n: results.length })] : says('done')),
    // Long enough to be counted as a client on a busy machine.
    bounds: { stallMs: 2000 },
  });
  const run = await startTestRun(api, { prompt: 'much' });
  await api.waitForStatus(run.id, 'ended');
  const { port } = new URL(api.url);
  const closed = Promise.withResolvers<void>();
  const socket = connect(Number(port), '127.0.0.1', () => {
    socket.pause();
    socket.write(
      `GET /api/stream?run=${run.id} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${roleKeys.reader}\r\n\r\n`,
    );
  });
  socket.on('error', () => undefined).on('close', () => closed.resolve());
  const metric = async (): Promise<string> => String((await api.request('GET /metrics')).body);
  await eventually('the client is counted', async () => /fairlead_server_stream_clients 1$/m.test(await metric()));
  await eventually('the client was dropped', async () => /fairlead_server_stream_clients 0$/m.test(await metric()));
  socket.resume();
  await closed.promise;
});

test('[A93] a server that shuts down sends an end event on its streams and closes them', async (t) => {
  const api = await createApiFixture(t, { worker: false });
  const run = await startTestRun(api, { prompt: 'waits' });
  const answer = await fetch(`${api.url}/api/stream?run=${run.id}`, {
    headers: { authorization: `Bearer ${roleKeys.reader}` },
  });
  const text = answer.text();
  await api.server.close();
  assert.match(await text, /: the server is shutting down/);
});

test('[A93] a stream sends heartbeats', async (t) => {
  const api = await createApiFixture(t, { worker: false, bounds: { pingMs: 20 } });
  const run = await startTestRun(api, { prompt: 'waits' });
  const leave = new AbortController();
  const { body } = await fetch(`${api.url}/api/stream?run=${run.id}`, {
    headers: { authorization: `Bearer ${roleKeys.reader}` },
    signal: leave.signal,
  });
  let got = '';
  for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    got += piece;
    if (got.split(': ping\n\n').length > 3) break;
  }
  leave.abort();
});
