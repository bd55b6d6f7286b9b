// One measurement of a fleet in one process: what, where, how many runs. Prints a line of JSON.
import { setTimeout as pause } from 'node:timers/promises';
import { resolveAgent } from '../src/agent/index.ts';
import type { Chunk, FleetRun, FleetStore, Message, Provider, Tool } from '../src/core/index.ts';
import { createAgentRunHandler, startWorker, type Worker } from '../src/fleet/index.ts';
import { openFleetStore } from '../src/stores/open-fleet.ts';
import { bareDbos, bareSqlite } from './fleet-floors.ts';

const [mode = '', where = '', count = '0'] = process.argv.slice(2);
const runs = Number(count);
const atOnce = 50;

const end = (parts: Message['parts'], finish: 'stop' | 'tool-calls'): Chunk => ({
  type: 'end',
  message: { role: 'assistant', parts },
  finishReason: finish,
  usage: { input: 100, output: 10 },
  usd: 0,
  model: 'm',
});

/** A model that answers at once, or when it is let. */
const model = (before: () => Promise<void>, calls = false): Provider => ({
  family: 'bench',
  model: 'm',
  price: { input: 0, output: 0 },
  async *stream() {
    await before();
    if (calls) yield end([{ type: 'tool-call', id: crypto.randomUUID(), tool: 'send', input: {} }], 'tool-calls');
    else yield end([{ type: 'text', text: 'Yes.' }], 'stop');
  },
});

const send: Tool = {
  name: 'send',
  description: 'Sends.',
  input: { type: 'object', properties: {} },
  effect: 'outside',
  execute: () => 'sent',
};

function workerOn(store: FleetStore, provider: Provider, concurrency: number, drain = false): Worker {
  const parts = resolveAgent({
    provider,
    system: 'You are a test.',
    tools: [send],
    gates: [() => ({ type: 'ask', question: 'Send it?' })],
  });
  const run = createAgentRunHandler(async () => ({ parts, close: async () => {} }));
  return startWorker({ store, handlers: { run }, concurrency, drain });
}

async function enqueue(store: FleetStore, number: number): Promise<readonly FleetRun[]> {
  const all: FleetRun[] = [];
  for (let i = 0; i < number; i += atOnce) {
    const some = Array.from({ length: Math.min(atOnce, number - i) }, () =>
      store.queue.enqueue([{ words: 'Say yes.' }]),
    );
    all.push(...(await Promise.all(some)).flat());
  }
  return all;
}

async function drained(store: FleetStore, number: number): Promise<readonly FleetRun[]> {
  const queued = await enqueue(store, number);
  const prompt = model(async () => {});
  await workerOn(store, prompt, atOnce, true).done;
  return queued;
}

/** What did not happen costs nothing, and is no result. */
async function mustBeAnswered(store: FleetStore, queued: readonly FleetRun[]): Promise<void> {
  for (const { id } of queued) {
    const run = await store.queue.run(id);
    if (run?.outcome?.reason !== 'answered' || run.outcome.text !== 'Yes.') throw new Error(`${id} was not answered.`);
  }
}

/** Runs in a second, enqueued one by one and worked on to the end. */
async function throughput(store: FleetStore): Promise<object> {
  await drained(store, 20);
  const cpu = process.cpuUsage();
  const since = performance.now();
  const queued = await drained(store, runs);
  const ms = performance.now() - since;
  const { user, system } = process.cpuUsage(cpu);
  await mustBeAnswered(store, queued);
  return { ms, cpuMs: (user + system) / 1000 };
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await pause(2);
}

/** Milliseconds from queued to begun, with a worker that has nothing else to do. */
async function latency(store: FleetStore): Promise<object> {
  const worker = workerOn(
    store,
    model(async () => {}),
    4,
  );
  const waits: number[] = [];
  for (let i = 0; i < runs + 5; i++) {
    const [queued] = await store.queue.enqueue([{ words: 'Say yes.' }]);
    let run: FleetRun | undefined;
    await until(async () => (run = await store.queue.run(queued?.id ?? ''))?.status === 'ended');
    if (i >= 5) waits.push(Date.parse(run?.started ?? '') - Date.parse(run?.queued ?? ''));
  }
  worker.stop();
  await worker.done;
  return { waits };
}

/** What is held, once the engine has let go: what it held weakly goes a moment after its owner. */
async function memory(): Promise<{ readonly heap: number; readonly rss: number }> {
  for (let i = 0; i < 5; i++) {
    globalThis.gc?.();
    await pause(20);
  }
  const { heapUsed, external, rss } = process.memoryUsage();
  return { heap: heapUsed + external, rss };
}

/** Bytes of a run that is under way, and of one that waits for a person. */
async function weight(store: FleetStore): Promise<object> {
  await drained(store, 20);
  const before = await memory();
  const open = Promise.withResolvers<void>();
  let asked = 0;
  const held = model(async () => (asked++, open.promise), true);
  const worker = workerOn(store, held, runs);
  await enqueue(store, runs);
  await until(async () => asked === runs);
  const running = await memory();
  open.resolve();
  await until(async () => (await store.queue.depth()).resting === runs);
  const resting = await memory();
  worker.stop();
  await worker.done;
  const each = (now: typeof before): object => ({
    heap: (now.heap - before.heap) / runs,
    rss: (now.rss - before.rss) / runs,
  });
  return { running: each(running), resting: each(resting) };
}

/** Bytes that stay after each run of the second half, and how much longer it takes than the first. */
async function growth(store: FleetStore): Promise<object> {
  await drained(store, 100);
  const stretch = async (): Promise<{ readonly ms: number; readonly heap: number }> => {
    const since = performance.now();
    await drained(store, runs / 2);
    const ms = performance.now() - since;
    return { ms, heap: (await memory()).heap };
  };
  const first = await stretch();
  const second = await stretch();
  return { bytesPerRun: (second.heap - first.heap) / (runs / 2), slower: second.ms / first.ms };
}

const measures: Readonly<Record<string, (store: FleetStore) => Promise<object>>> = {
  throughput,
  latency,
  weight,
  growth,
};

async function measured(place: string): Promise<object> {
  if (mode === 'bare-sqlite') return { ms: bareSqlite(place, runs, 1) };
  if (mode === 'bare-sqlite-shared') return { ms: bareSqlite(place, runs, atOnce) };
  if (mode === 'bare-dbos') return { ms: await bareDbos(place, runs, atOnce) };
  const store = await openFleetStore(place);
  try {
    return (await measures[mode]?.(store)) ?? {};
  } finally {
    await store.close();
  }
}

/** Does something in a database of its own on this server, which goes with it. */
async function inOwnDatabase(url: string, work: (place: string) => Promise<object>): Promise<object> {
  const { Client } = await import('pg');
  const client = new Client({ connectionString: url });
  await client.connect();
  const name = `fairlead_bench_${crypto.randomUUID().slice(0, 8)}`;
  await client.query(`CREATE DATABASE ${name}`);
  try {
    const place = new URL(url);
    place.pathname = `/${name}`;
    return await work(place.href);
  } finally {
    await client.query(`DROP DATABASE ${name} WITH (FORCE)`);
    await client.end();
  }
}

const found = /^postgres(ql)?:/.test(where) ? await inOwnDatabase(where, measured) : await measured(where);
console.log(JSON.stringify(found));
process.exit(0);
