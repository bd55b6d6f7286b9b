// Whether a worker is alive by its last heartbeat, and how many runs it has.
import type { QueueDepth, WorkerInfo } from '../../../src/core/index.ts';

/** Milliseconds without a heartbeat after which a worker is silent. */
const workerTimeoutMs = 15_000;

/** Whether the last heartbeat of a worker is too old. */
export const isWorkerSilent = ({ lastSeenAt: seen }: WorkerInfo, now: number): boolean =>
  now - Date.parse(seen) > workerTimeoutMs;

/** The active runs of a worker. A heartbeat is up to some seconds old, so the queue, which is read at the same time, corrects it. */
export function countActiveRuns(
  worker: WorkerInfo,
  { depth, workers }: { readonly depth: QueueDepth; readonly workers: readonly WorkerInfo[] },
  now: number,
): number {
  const live = workers.filter((each) => !isWorkerSilent(each, now));
  const isOnly = live.length === 1 && live[0]?.worker === worker.worker;
  return isOnly ? depth.running : Math.min(worker.running, depth.running);
}
