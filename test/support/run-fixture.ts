// A run as a queue would show it, for tests of what is decided from runs alone.
import type { FleetRun } from '../../src/core/index.ts';

/** A run that was just taken, with these traits. */
export const createFleetRun = (traits: Pick<FleetRun, 'id' | 'words' | 'kind'> & Partial<FleetRun>): FleetRun => ({
  settings: {},
  session: traits.id,
  tenant: 'default',
  priority: 0,
  status: 'running',
  attempts: 1,
  queued: '2026-01-01T00:00:00.000Z',
  questions: [],
  ...traits,
});
