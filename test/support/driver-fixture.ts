// Creates the run and the context of a run handler.
import type { FleetRun, FleetStore } from '../../src/core/index.ts';
import type { RunHandlerContext } from '../../src/fleet/run-handler.ts';
import { createFleetRun } from './run-fixture.ts';

/** Returns a run that a worker has just claimed. */
export const createDriverRun = (more: Partial<FleetRun> = {}): FleetRun =>
  createFleetRun({ id: 'r', prompt: 'Go.', kind: 'run', session: 's', ...more });

/** Returns a handler context: nothing is stopped and every call is allowed. */
export const createDriverContext = (store: FleetStore, more: Partial<RunHandlerContext> = {}): RunHandlerContext => ({
  store,
  worker: 'w',
  signal: new AbortController().signal,
  stopSignal: new AbortController().signal,
  leaseLost: new AbortController().signal,
  gate: () => ({ type: 'allow' }),
  assertNotStopped: async () => {},
  onInboxMessage: () => () => {},
  onChunk: () => {},
  ...more,
});
