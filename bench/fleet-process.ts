// One measurement of a fleet in one process: what, where, how many runs. Prints a line of JSON.
import { setTimeout as pause } from 'node:timers/promises';
import { resolveAgent } from '../src/agent/index.ts';
import type { Chunk, FleetRun, FleetStore, Message, Provider, Tool } from '../src/core/index.ts';
import { createAgentRunHandler, startWorker, type Worker } from '../src/fleet/index.ts';
import { openFleetStore } from '../src/stores/open-fleet-store.ts';
import { runBareDbos, runBareSqlite } from './fleet-baselines.ts';

const [mode = '', where = '', count = '0'] = process.argv.slice(2);
const runs = Number(count);
const benchConcurrency = 50;

const createEndChunk = (parts: Message['parts'], finish: 'stop' | 'tool-calls'): Chunk => ({
  type: 'end',
  message: { role: 'assistant', parts },
  finishReason: finish,
  usage: { input: 100, output: 10 },
  usd: 0,
  model: 'm',
});

/** A model that answers at once, or when it is let. */
const createModel = (before: () => Promise<void>, calls = false): Provider => ({
  family: 'bench',
  model: 'm',
  price: { input: 0, output: 0 },
  async *stream() {
    await before();
    if (calls)
      yield createEndChunk([{ type: 'tool-call', id: crypto.randomUUID(), tool: 'send', input: {} }], 'tool-calls');
    else yield createEndChunk([{ type: 'text', text: 'Yes.' }], 'stop');
  },
});

const sendTool: Tool = {
  name: 'send',
  description: 'Sends.',
  input: { type: 'object', properties: {} },
  effect: 'external',
  execute: () => 'sent',
};

function startBenchWorker(store: FleetStore, provider: Provider, concurrency: number, drain = false): Worker {
  const parts = resolveAgent({
    provider,
    system: 'You are a test.',
    tools: [sendTool],
    gates: [() => ({ type: 'ask', question: 'Send it?' })],
  });
  const run = createAgentRunHandler(async () => ({ parts, close: async () => {} }));
  return startWorker({ store, handlers: { run }, concurrency, drain });
}

async function enqueueRuns(store: FleetStore, number: number): Promise<readonly FleetRun[]> {
  const all: FleetRun[] = [];
  for (let i = 0; i < number; i += benchConcurrency) {
    const some = Array.from({ length: Math.min(benchConcurrency, number - i) }, () =>
      store.queue.enqueue([{ prompt: 'Say yes.' }]),
    );
    all.push(...(await Promise.all(some)).flat());
  }
  return all;
}

async function drainRuns(store: FleetStore, number: number): Promise<readonly FleetRun[]> {
  const queued = await enqueueRuns(store, number);
  const prompt = createModel(async () => {});
  await startBenchWorker(store, prompt, benchConcurrency, true).done;
  return queued;
}

/** What did not happen costs nothing, and is no result. */
async function assertAnswered(store: FleetStore, queued: readonly FleetRun[]): Promise<void> {
  for (const { id } of queued) {
    const run = await store.queue.run(id);
    if (run?.outcome?.reason !== 'answered' || run.outcome.text !== 'Yes.') throw new Error(`${id} was not answered.`);
  }
}

/** Runs in a second, enqueued one by one and worked on to the end. */
async function measureThroughput(store: FleetStore): Promise<object> {
  await drainRuns(store, 20);
  const cpu = process.cpuUsage();
  const since = performance.now();
  const queued = await drainRuns(store, runs);
  const ms = performance.now() - since;
  const { user, system } = process.cpuUsage(cpu);
  await assertAnswered(store, queued);
  return { ms, cpuMs: (user + system) / 1000 };
}

async function waitUntil(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await pause(2);
}

/** Milliseconds from queued to begun, with a worker that has nothing else to do. */
async function measureLatency(store: FleetStore): Promise<object> {
  const worker = startBenchWorker(
    store,
    createModel(async () => {}),
    4,
  );
  const waits: number[] = [];
  for (let i = 0; i < runs + 5; i++) {
    const [queued] = await store.queue.enqueue([{ prompt: 'Say yes.' }]);
    let run: FleetRun | undefined;
    await waitUntil(async () => (run = await store.queue.run(queued?.id ?? ''))?.status === 'ended');
    if (i >= 5) waits.push(Date.parse(run?.started ?? '') - Date.parse(run?.queued ?? ''));
  }
  worker.stop();
  await worker.done;
  return { waits };
}

/** What is held, once the engine has let go: what it held weakly goes a moment after its owner. */
async function readMemory(): Promise<{ readonly heap: number; readonly rss: number }> {
  for (let i = 0; i < 5; i++) {
    globalThis.gc?.();
    await pause(20);
  }
  const { heapUsed, external, rss } = process.memoryUsage();
  return { heap: heapUsed + external, rss };
}

/** Bytes of a run that is under way, and of one that waits for a person. */
async function measureRunMemory(store: FleetStore): Promise<object> {
  await drainRuns(store, 20);
  const before = await readMemory();
  const open = Promise.withResolvers<void>();
  let asked = 0;
  const held = createModel(async () => (asked++, open.promise), true);
  const worker = startBenchWorker(store, held, runs);
  await enqueueRuns(store, runs);
  await waitUntil(async () => asked === runs);
  const running = await readMemory();
  open.resolve();
  await waitUntil(async () => (await store.queue.depth()).waiting === runs);
  const waiting = await readMemory();
  worker.stop();
  await worker.done;
  const each = (now: typeof before): object => ({
    heap: (now.heap - before.heap) / runs,
    rss: (now.rss - before.rss) / runs,
  });
  return { running: each(running), waiting: each(waiting) };
}

/** Bytes that stay after each run of the second half, and how much longer it takes than the first. */
async function measureGrowth(store: FleetStore): Promise<object> {
  await drainRuns(store, 100);
  const stretch = async (): Promise<{ readonly ms: number; readonly heap: number }> => {
    const since = performance.now();
    await drainRuns(store, runs / 2);
    const ms = performance.now() - since;
    return { ms, heap: (await readMemory()).heap };
  };
  const first = await stretch();
  const second = await stretch();
  return { bytesPerRun: (second.heap - first.heap) / (runs / 2), slower: second.ms / first.ms };
}

const measurements: Readonly<Record<string, (store: FleetStore) => Promise<object>>> = {
  throughput: measureThroughput,
  latency: measureLatency,
  weight: measureRunMemory,
  growth: measureGrowth,
};

async function runMeasurement(place: string): Promise<object> {
  if (mode === 'bare-sqlite') return { ms: runBareSqlite(place, runs, 1) };
  if (mode === 'bare-sqlite-shared') return { ms: runBareSqlite(place, runs, benchConcurrency) };
  if (mode === 'bare-dbos') return { ms: await runBareDbos(place, runs, benchConcurrency) };
  const store = await openFleetStore(place);
  try {
    return (await measurements[mode]?.(store)) ?? {};
  } finally {
    await store.close();
  }
}

/** Does something in a database of its own on this server, which goes with it. */
async function withOwnDatabase(url: string, work: (place: string) => Promise<object>): Promise<object> {
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

const measurement = /^postgres(ql)?:/.test(where)
  ? await withOwnDatabase(where, runMeasurement)
  : await runMeasurement(where);
console.log(JSON.stringify(measurement));
process.exit(0);
