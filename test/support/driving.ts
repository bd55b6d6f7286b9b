// A run as a driver is handed it, and what it is handed with.
import type { FleetRun, FleetStore } from '../../src/core/index.ts';
import type { DriverContext } from '../../src/fleet/driver.ts';
import { takenRun } from './fleet-run.ts';

/** A run that a worker has just taken. */
export const aRun = (more: Partial<FleetRun> = {}): FleetRun =>
  takenRun({ id: 'r', words: 'Go.', kind: 'run', session: 's', ...more });

/** What a worker gives a driver: nothing stops it, everything is allowed. */
export const contextFor = (store: FleetStore, more: Partial<DriverContext> = {}): DriverContext => ({
  store,
  worker: 'w',
  signal: new AbortController().signal,
  leave: new AbortController().signal,
  lost: new AbortController().signal,
  gate: () => ({ type: 'allow' }),
  mustGo: async () => {},
  hear: () => () => {},
  live: () => {},
  ...more,
});
