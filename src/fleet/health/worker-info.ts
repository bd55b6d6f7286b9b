// The data of a worker's heartbeat: circuit breakers and memory.
import type { JsonObject } from '../../core/index.ts';
import { breakerStates } from '../../providers/index.ts';

/** Returns the data that a worker adds to its heartbeat. */
export const getWorkerInfo = (): JsonObject => ({
  breakers: breakerStates().map(({ model, state, forMs }) => ({ model, state, forMs })),
  memory: process.memoryUsage.rss(),
});
