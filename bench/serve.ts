// What a server costs: memory a watcher, whether each of a thousand sees every event once, and memory a run under way and after it. npm run bench -- --only serve
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { loadavg } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

type Weight = { readonly heap: number; readonly rss: number };

/** A server in another process, and what is asked of it. */
type Subject = {
  readonly weigh: () => Promise<Weight>;
  readonly tell: (word: 'go' | 'end') => void;
  readonly ask: (method: string, address: string, body?: unknown) => Promise<Record<string, unknown>>;
  readonly url: string;
  readonly key: string;
  readonly gone: Promise<unknown>;
};

const heard = async <T>(child: ChildProcess): Promise<T> => (await once(child, 'message'))[0] as T;

async function started(concurrency: number): Promise<Subject> {
  const child = fork(path.join(import.meta.dirname, 'serve-one.ts'), [String(concurrency)], {
    execArgv: ['--expose-gc', '--disable-warning=ExperimentalWarning'],
  });
  process.once('exit', () => child.kill());
  const { url, key } = await heard<{ readonly url: string; readonly key: string }>(child);
  return {
    url,
    key,
    gone: once(child, 'exit').finally(() => child.unref()),
    weigh() {
      child.send('weigh');
      return heard<Weight>(child);
    },
    tell: (word) => void child.send(word),
    async ask(method, address, body) {
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

const begun = async ({ ask }: Subject, words: string): Promise<string> =>
  ((await ask('POST', '/api/run', { words }))['run'] as { readonly id: string }).id;

/** One who watches: the seqs it saw, once the stream has ended. */
type Watcher = { readonly open: Promise<void>; readonly seen: Promise<readonly number[]> };

function watch({ url, key }: Subject, run: string): Watcher {
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
  return { open: open.promise, seen: seen.promise };
}

const kB = (bytes: number): string => `${(bytes / 1024).toFixed(1)} kB`;
const each = (before: Weight, after: Weight, count: number): string =>
  `${kB((after.heap - before.heap) / count)} of heap, ${kB((after.rss - before.rss) / count)} resident`;

async function watchers(count: number, runs: number): Promise<void> {
  const subject = await started(runs);
  const ids = await Promise.all(Array.from({ length: runs }, (_, i) => begun(subject, `wait ${i}`)));
  await untilRunning(subject, runs);
  const before = await subject.weigh();
  const all = Array.from({ length: count }, (_, i) => watch(subject, ids[i % runs] ?? ''));
  await Promise.all(all.map(({ open }) => open));
  const after = await subject.weigh();
  subject.tell('go');
  const seen = await Promise.all(all.map((watcher) => watcher.seen));
  const exact = seen.filter((seqs) => seqs.length > 3 && seqs.every((seq, i) => seq === i + 1)).length;
  const same = new Set(seen.map(({ length }) => length)).size;
  console.log(
    `  ${count} watchers of ${runs === 1 ? 'one run' : `${runs} runs`}: ${each(before, after, count)} a watcher; ${exact} of ${count} saw every event once, ${same} length${same === 1 ? '' : 's'}`,
  );
  subject.tell('end');
  await subject.gone;
}

async function untilRunning({ ask }: Subject, count: number): Promise<void> {
  for (const end = Date.now() + 120_000; Date.now() < end; await pause(50)) {
    const { depth } = (await ask('GET', '/api/queue')) as { readonly depth: { readonly running: number } };
    if (depth.running === count) return;
  }
  throw new Error(`There are not ${count} runs under way after two minutes.`);
}

async function underWay(count: number): Promise<void> {
  const subject = await started(count);
  // What is loaded with the first run is no weight of a run.
  for (let i = 0; i < 5; i++) await ended(subject, await begun(subject, `warm ${i}`));
  const before = await subject.weigh();
  const at = performance.now();
  const ids = await Promise.all(Array.from({ length: count }, (_, i) => begun(subject, `wait ${i}`)));
  await untilRunning(subject, count);
  const ms = performance.now() - at;
  const running = await subject.weigh();
  subject.tell('go');
  for (const id of ids) await ended(subject, id);
  const idle = await subject.weigh();
  console.log(`  ${count} runs under way at once through POST /api/run, all begun in ${ms.toFixed(0)} ms:`);
  console.log(`    a run under way: ${each(before, running, count)} (at most 5120 kB)`);
  console.log(`    left by a run that is over: ${each(before, idle, count)} (at most 200 kB)`);
  subject.tell('end');
  await subject.gone;
}

async function ended({ ask }: Subject, id: string): Promise<void> {
  for (const end = Date.now() + 120_000; Date.now() < end; await pause(20))
    if (((await ask('GET', `/api/runs/${id}`))['run'] as { readonly status: string }).status === 'ended') return;
  throw new Error(`${id} does not end.`);
}

/** Prints what a server costs. */
export async function benchServe(): Promise<void> {
  console.log(`\nA server with a worker of its own, on SQLite (load of this machine ${loadavg()[0]?.toFixed(1)})`);
  await watchers(1000, 1);
  await watchers(1000, 100);
  await underWay(200);
}
