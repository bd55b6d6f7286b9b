// Runs many schedules in threads, one per core.
import { availableParallelism } from 'node:os';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { runSchedule } from './schedule.ts';
import { addTally, countSchedule, createTally, type Tally } from './tally.ts';

/** Which schedules to run. */
export type Batch = {
  readonly from: number;
  readonly schedules: number;
  readonly scenario?: string | undefined;
};

/** A part of a batch: every n-th seed. */
type Part = Batch & { readonly offset: number; readonly step: number };

/** Runs a part of a batch in this thread. */
async function runPart({ from, schedules, scenario, offset, step }: Part): Promise<Tally> {
  const tally = createTally();
  const before = process.cpuUsage();
  for (let i = offset; i < schedules; i += step) countSchedule(tally, await runSchedule({ seed: from + i, scenario }));
  const { user, system } = process.cpuUsage(before);
  tally.cpuMs = (user + system) / 1000;
  return tally;
}

/** Runs schedules on all cores. */
export async function runBatch(batch: Batch): Promise<Tally> {
  const step = Math.min(availableParallelism(), Math.max(1, Math.ceil(batch.schedules / 50)));
  const sum = createTally();
  const before = process.cpuUsage();
  const parts = Array.from({ length: step }, (_, offset): Part => ({ ...batch, offset, step }));
  for (const tally of await Promise.all(step === 1 ? parts.map(runPart) : parts.map(runInThread))) addTally(sum, tally);
  // The processor time of a process includes all of its threads.
  const { user, system } = process.cpuUsage(before);
  sum.cpuMs = (user + system) / 1000;
  return sum;
}

function runInThread(part: Part): Promise<Tally> {
  const { promise, resolve, reject } = Promise.withResolvers<Tally>();
  const thread = new Worker(import.meta.filename, { workerData: part });
  thread.once('message', resolve);
  thread.once('error', reject);
  return promise;
}

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port of a thread has no origin.
if (!isMainThread && parentPort) parentPort.postMessage(await runPart(workerData as Part));
