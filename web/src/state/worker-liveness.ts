// Whether a worker is alive by its last heartbeat.
import type { WorkerInfo } from '../../../src/core/index.ts';

/** Milliseconds without a heartbeat after which a worker is silent. */
const workerTimeoutMs = 15_000;

/** Whether the last heartbeat of a worker is too old. */
export const isWorkerSilent = ({ lastSeenAt: seen }: WorkerInfo, now: number): boolean =>
  now - Date.parse(seen) > workerTimeoutMs;
