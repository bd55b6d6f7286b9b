// Creates runs as the queue returns them.
import type { FleetRun } from '../../src/core/index.ts';

/** Returns a running run with these fields. */
export const createFleetRun = (traits: Pick<FleetRun, 'id' | 'prompt' | 'kind'> & Partial<FleetRun>): FleetRun => ({
  settings: {},
  session: traits.id,
  tenant: 'default',
  priority: 0,
  status: 'running',
  attempts: 1,
  queued: '2026-01-01T00:00:00.000Z',
  pendingApprovals: [],
  ...traits,
});
