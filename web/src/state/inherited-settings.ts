// What a further run of a session takes over from the one before it: who asks for nothing else means the same.
import type { FleetRun } from '../../../src/core/index.ts';
import type { RunRequest } from '../api/types.ts';

/** The model, folder and tenant of a run, for the next one. A model that gave no answer is not asked for again; what was allowed unasked was allowed once. */
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
