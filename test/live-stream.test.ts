// Tests live streaming: a server shows the partial text of any worker, and discards that of a dead worker.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import test, { after, type TestContext } from 'node:test';
import type { FleetRun } from '../src/core/index.ts';
import { openPostgres } from '../src/stores/postgres/store.ts';
import { says } from '../src/testing/index.ts';
import { readSseFrames, type SseFrame } from './support/sse-frames.ts';
import { createProgram, waitUntil, type TestProgram, type RunningProgram } from './support/cli-harness.ts';
import { startPostgresStores } from './support/postgres-stores.ts';

const postgres = await startPostgresStores();
after(() => postgres.close());

const key = 'a-key-that-is-long-enough';
const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
const timeoutMs = 90_000;

/** What a page shows of a stream: the events, and the partial text of the current turn. */
type StreamView = { readonly frames: SseFrame[]; readonly text: () => string; readonly ended: Promise<void> };

function watchStream(url: string, address: string, signal?: AbortSignal): StreamView {
  const frames: SseFrame[] = [];
  let words = '';
  const follow = async (): Promise<void> => {
    for await (const frame of readSseFrames(
      await fetch(`${url}${address}`, { headers, ...(signal ? { signal } : {}) }),
    )) {
      frames.push(frame);
      const { type, text, restarted } = frame.data;
      if (frame.event === 'chunk') words = (restarted === true ? '' : words) + String(text);
      if (type === 'turn-ended' || type === 'turn-failed') words = '';
    }
  };
  return { frames, text: () => words, ended: follow() };
}

async function testLiveStream(t: TestContext, storeOf: (program: TestProgram) => string): Promise<void> {
  let answered = 0;
  const program = await createProgram(t, () =>
    answered++ === 0
      ? { ...says('Once upon a time'), chunks: ['Once ', 'upon ', 'a time'], cutAfter: 2, hang: true }
      : { ...says('Twice upon a time'), chunks: ['Twice ', 'upon ', 'a time'], chunkMs: 100 },
  );
  await program.seedModels('qwen3');
  const store = storeOf(program);
  const start = (...args: string[]): RunningProgram => {
    const running = program.start([...args, '--store', store], { env: { HARNESS_API_KEY: key } });
    t.after(() => running.kill('SIGKILL'));
    return running;
  };
  const workers = { one: start('worker', '--name', 'one'), two: start('worker', '--name', 'two') };
  const server = start('serve', '--port', '0', '--no-worker');
  await waitUntil('it listens', () => /Listening at \S+\n/.test(server.err()), timeoutMs);
  const url = /Listening at (\S+)/.exec(server.err())?.[1] ?? '';
  const look = async (id: string): Promise<FleetRun> =>
    ((await (await fetch(`${url}/api/runs/${id}`, { headers })).json()) as { readonly run: FleetRun }).run;

  const begun = await fetch(`${url}/api/runs`, { method: 'POST', headers, body: JSON.stringify({ prompt: 'tell' }) });
  const { run } = (await begun.json()) as { readonly run: FleetRun };
  const first = watchStream(url, `/api/stream?run=${run.id}`);
  await waitUntil('the words are shown', () => first.text() === 'Once upon ', timeoutMs);
  // The model has stopped in the middle of its answer: no event contains this text yet.
  const leave = new AbortController();
  const late = watchStream(url, `/api/stream?session=${run.session}`, leave.signal);
  late.ended.catch(() => undefined);
  await waitUntil('who comes later sees them too', () => late.text() === 'Once upon ', timeoutMs);

  const { worker = '' } = await look(run.id);
  const mine = worker.startsWith('one') ? workers.one : workers.two;
  mine.kill('SIGKILL');
  await mine.ended;
  await first.ended;
  await waitUntil(
    'the other sees the end',
    () => late.frames.some(({ data }) => data['type'] === 'run-ended'),
    timeoutMs,
  );
  leave.abort();
  assert.equal(late.frames.find(({ data }) => data['restarted'] === true)?.data['text'], '');
  const kinds = first.frames.map(({ event, data }) => (event === 'event' ? String(data['type']) : event));
  const text = first.frames.map(({ data }, i) => (kinds[i] === 'chunk' ? String(data['text']) : ''));
  const back = first.frames.findIndex(({ event, data }) => event === 'chunk' && data['restarted'] === true);
  assert.match(text.slice(0, back).join(''), /^Once upon $/);
  assert.ok('Twice upon a time'.startsWith(text.slice(back).join('')), text.join('|'));
  assert.ok(back > kinds.indexOf('turn-started') && back < kinds.lastIndexOf('turn-started'), kinds.join(' '));
  assert.ok(kinds.lastIndexOf('chunk') < kinds.indexOf('turn-ended'), kinds.join(' '));
  assert.equal(kinds.filter((kind) => kind === 'turn-ended').length, 1);
  assert.deepEqual([kinds.at(-1), first.text()], ['end', '']);
  const { attempts, outcome } = await look(run.id);
  assert.deepEqual([attempts, outcome?.text], [2, 'Twice upon a time']);
}

test('[A88, A93] sqlite: partial text of a worker in another process is shown, and discarded when it is killed', (t) =>
  testLiveStream(t, (program) => program.data('fleet.sqlite')));

test(
  '[A88, A93] postgres: partial text of a worker in another process is shown, and discarded when it is killed',
  postgres.skip === undefined ? {} : { skip: postgres.skip },
  async (t) => {
    const url = await postgres.fresh(t);
    await testLiveStream(t, () => url);
  },
);

test(
  '[A93] postgres: partial text is shown again after a server reconnects',
  { timeout: 240_000, ...(postgres.skip === undefined ? {} : { skip: postgres.skip }) },
  async (t) => {
    const url = await postgres.fresh(t);
    const [here, there] = [await openPostgres(url), await openPostgres(url)];
    t.after(() => Promise.all([here.close(), there.close()]));
    let text = '';
    there.partialText.subscribe('s', (piece) => void (text += piece.text));
    const say = (word: string): void => here.partialText.publish('s', { turn: 1, since: 1, text: word });
    say('before ');
    await waitUntil('the first is heard', () => text === 'before ', timeoutMs);
    await postgres.stop();
    say('meanwhile ');
    await postgres.restart();
    say('after');
    await waitUntil('all is heard', () => text === 'before meanwhile after', timeoutMs);
  },
);

test('[A93] sqlite: a run without watchers writes no partial text', async (t) => {
  const program = await createProgram(t, () => ({ ...says('word '.repeat(20)), chunks: 20, chunkMs: 20 }));
  await program.seedModels('qwen3');
  const store = program.data('fleet.sqlite');
  await program.run(['enqueue', 'tell', '--id', 'alone', '--store', store]);
  const { code, out } = await program.run(['worker', '--drain', '--store', store]);
  assert.deepEqual([code, /answered/.test(out)], [0, true], out);
  assert.deepEqual([existsSync(store), existsSync(`${store}-live`)], [true, false]);
});
