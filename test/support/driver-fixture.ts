// A run as a driver is handed it, and what it is handed with.
import type { FleetRun, FleetStore } from '../../src/core/index.ts';
import type { RunHandlerContext } from '../../src/fleet/run-handler.ts';
import { createFleetRun } from './run-fixture.ts';

/** A run that a worker has just taken. */
export const createDriverRun = (more: Partial<FleetRun> = {}): FleetRun =>
  createFleetRun({ id: 'r', words: 'Go.', kind: 'run', session: 's', ...more });

/** What a worker gives a driver: nothing stops it, everything is allowed. */
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
