// Which workers can be counted on.
import type { WorkerInfo } from '../../../src/core/index.ts';

/** A worker that gave no sign of life for so long is called silent. */
const workerTimeoutMs = 15_000;

/** Whether a worker has been silent for too long to count on it. */
export const isWorkerSilent = ({ lastSeenAt: seen }: WorkerInfo, now: number): boolean =>
  now - Date.parse(seen) > workerTimeoutMs;
