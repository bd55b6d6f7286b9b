// What a worker tells of itself, so that health can show it: its circuit breakers and its memory.
import type { JsonObject } from '../../core/index.ts';
import { breakerStates } from '../../providers/index.ts';

/** What a worker puts beside its sign of life. */
export const getWorkerInfo = (): JsonObject => ({
  breakers: breakerStates().map(({ model, state, forMs }) => ({ model, state, forMs })),
  memory: process.memoryUsage.rss(),
});
