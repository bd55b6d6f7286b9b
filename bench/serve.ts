// What a server costs: memory a watcher, whether each of a thousand sees every event once, and memory a run under way and after it. npm run bench -- --only serve
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { loadavg } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

type MemoryUse = { readonly heap: number; readonly rss: number };

/** A server in another process, and what is asked of it. */
type ServerProcess = {
  readonly readMemory: () => Promise<MemoryUse>;
  readonly send: (word: 'go' | 'end') => void;
  readonly request: (method: string, address: string, body?: unknown) => Promise<Record<string, unknown>>;
  readonly url: string;
  readonly key: string;
  readonly exited: Promise<unknown>;
};

const receiveMessage = async <T>(child: ChildProcess): Promise<T> => (await once(child, 'message'))[0] as T;

async function startServerProcess(concurrency: number): Promise<ServerProcess> {
  const child = fork(path.join(import.meta.dirname, 'serve-process.ts'), [String(concurrency)], {
    execArgv: ['--expose-gc', '--disable-warning=ExperimentalWarning'],
  });
  process.once('exit', () => child.kill());
  const { url, key } = await receiveMessage<{ readonly url: string; readonly key: string }>(child);
  return {
    url,
    key,
    exited: once(child, 'exit').finally(() => child.unref()),
    readMemory() {
      child.send('weigh');
      return receiveMessage<MemoryUse>(child);
    },
    send: (word) => void child.send(word),
    async request(method, address, body) {
      const answer = await fetch(url + address, {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      if (!answer.ok) throw new Error(`${method} ${address}: ${answer.status} ${await answer.text()}`);
      return (await answer.json()) as Record<string, unknown>;
    },
  };
}

const startRun = async ({ request }: ServerProcess, prompt: string): Promise<string> =>
  ((await request('POST', '/api/runs', { prompt }))['run'] as { readonly id: string }).id;

/** One who watches: the seqs it saw, once the stream has ended. */
type Watcher = { readonly opened: Promise<void>; readonly seenSeqs: Promise<readonly number[]> };

function watchRun({ url, key }: ServerProcess, run: string): Watcher {
  const open = Promise.withResolvers<void>();
  const seen = Promise.withResolvers<readonly number[]>();
  const fail = (error: Error): void => {
    open.reject(error);
    seen.reject(error);
  };
  const asked = request(`${url}/api/stream?run=${run}`, { agent: false, headers: { authorization: `Bearer ${key}` } });
  asked.on('error', fail).on('response', (answer) => {
    const seqs: number[] = [];
    let rest = '';
    open.resolve();
    answer.setEncoding('utf8').on('error', fail);
    answer.on('data', (text: string) => {
      const frames = (rest + text).split('\n\n');
      rest = frames.pop() ?? '';
      for (const frame of frames) {
        const id = /^id: (\d+)$/m.exec(frame)?.[1];
        if (id !== undefined) seqs.push(Number(id));
      }
    });
    answer.on('end', () => seen.resolve(seqs));
  });
  asked.end();
  seen.promise.catch(() => {});
  return { opened: open.promise, seenSeqs: seen.promise };
}

const formatKb = (bytes: number): string => `${(bytes / 1024).toFixed(1)} kB`;
const formatPerItem = (before: MemoryUse, after: MemoryUse, count: number): string =>
  `${formatKb((after.heap - before.heap) / count)} of heap, ${formatKb((after.rss - before.rss) / count)} resident`;

async function measureWatchers(count: number, runs: number): Promise<void> {
  const subject = await startServerProcess(runs);
  const ids = await Promise.all(Array.from({ length: runs }, (_, i) => startRun(subject, `wait ${i}`)));
  await waitUntilRunning(subject, runs);
  const before = await subject.readMemory();
  const all = Array.from({ length: count }, (_, i) => watchRun(subject, ids[i % runs] ?? ''));
  await Promise.all(all.map(({ opened }) => opened));
  const after = await subject.readMemory();
  subject.send('go');
  const seen = await Promise.all(all.map((watcher) => watcher.seenSeqs));
  const exact = seen.filter((seqs) => seqs.length > 3 && seqs.every((seq, i) => seq === i + 1)).length;
  const same = new Set(seen.map(({ length }) => length)).size;
  console.log(
    `  ${count} watchers of ${runs === 1 ? 'one run' : `${runs} runs`}: ${formatPerItem(before, after, count)} a watcher; ${exact} of ${count} saw every event once, ${same} length${same === 1 ? '' : 's'}`,
  );
  subject.send('end');
  await subject.exited;
}

async function waitUntilRunning({ request }: ServerProcess, count: number): Promise<void> {
  for (const end = Date.now() + 120_000; Date.now() < end; await pause(50)) {
    const { depth } = (await request('GET', '/api/queue')) as { readonly depth: { readonly running: number } };
    if (depth.running === count) return;
  }
  throw new Error(`There are not ${count} runs under way after two minutes.`);
}

async function measureRunning(count: number): Promise<void> {
  const subject = await startServerProcess(count);
  // What is loaded with the first run is no weight of a run.
  for (let i = 0; i < 5; i++) await waitUntilEnded(subject, await startRun(subject, `warm ${i}`));
  const before = await subject.readMemory();
  const at = performance.now();
  const ids = await Promise.all(Array.from({ length: count }, (_, i) => startRun(subject, `wait ${i}`)));
  await waitUntilRunning(subject, count);
  const ms = performance.now() - at;
  const running = await subject.readMemory();
  subject.send('go');
  for (const id of ids) await waitUntilEnded(subject, id);
  const idle = await subject.readMemory();
  console.log(`  ${count} runs under way at once through POST /api/runs, all begun in ${ms.toFixed(0)} ms:`);
  console.log(`    a run under way: ${formatPerItem(before, running, count)} (at most 5120 kB)`);
  console.log(`    left by a run that is over: ${formatPerItem(before, idle, count)} (at most 200 kB)`);
  subject.send('end');
  await subject.exited;
}

async function waitUntilEnded({ request }: ServerProcess, id: string): Promise<void> {
  for (const end = Date.now() + 120_000; Date.now() < end; await pause(20))
    if (((await request('GET', `/api/runs/${id}`))['run'] as { readonly status: string }).status === 'ended') return;
  throw new Error(`${id} does not end.`);
}

/** Prints what a server costs. */
export async function benchServe(): Promise<void> {
  console.log(`\nA server with a worker of its own, on SQLite (load of this machine ${loadavg()[0]?.toFixed(1)})`);
  await measureWatchers(1000, 1);
  await measureWatchers(1000, 100);
  await measureRunning(200);
}
