// Settings that a new run of a session inherits from the previous run.
import type { FleetRun } from '../../../src/core/index.ts';
import type { RunRequest } from '../api/types.ts';

/** Returns the model, folder and tenant of a run for the next one. A model that failed is not used again, and `auto` is not inherited. */
export function inheritRunSettings(run: FleetRun | undefined): Pick<RunRequest, 'model' | 'folder' | 'tenant'> {
  if (!run) return {};
  const { model, folder } = run.settings;
  const hasWorked = run.outcome !== undefined && run.outcome.spent.turns > 0;
  return {
    tenant: run.tenant,
    ...(typeof model === 'string' && hasWorked ? { model } : {}),
    ...(typeof folder === 'string' ? { folder } : {}),
  };
}
