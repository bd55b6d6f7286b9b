// Enqueues runs idempotently: a second request with the same id must ask for the same run.
import { canonicalJson, defaultTenant, type FleetRun, type Json, type NewRun, type RunQueue } from '../core/index.ts';

/** The fields that define a run, with defaults filled in. */
type RunDefinition = Readonly<
  Record<'prompt' | 'kind' | 'settings' | 'tenant' | 'priority' | 'session' | 'notBefore', unknown>
>;

function normalizeNewRun(newRun: NewRun, id: string): RunDefinition {
  const {
    prompt,
    kind = 'run',
    settings: given = {},
    tenant = defaultTenant,
    priority = 0,
    session = id,
    notBefore,
  } = newRun;
  // A repeated request belongs to another trace, and asks for the same run.
  const { trace: _trace, ...settings } = given;
  const time = notBefore === undefined ? NaN : Date.parse(notBefore);
  const normalizedTime = Number.isNaN(time) ? (notBefore ?? null) : new Date(time).toISOString();
  return { prompt, kind, settings, tenant, priority, session, notBefore: normalizedTime };
}

/** The first field in which two runs with the same id differ, and its existing value as JSON. */
export type RunDifference = readonly [name: keyof RunDefinition, existing: string];

/** Returns the first field in which an existing run differs from a requested run with the same id, if they differ. */
export const findRunDifference = (known: FleetRun, requested: NewRun): RunDifference | undefined =>
  compareRunDefinitions(
    normalizeNewRun(known, known.id),
    // A run that was started can rest until a time that no request named.
    normalizeNewRun(known.started === undefined ? requested : withTimeOf(requested, known), known.id),
  );

const withTimeOf = ({ notBefore: _, ...requested }: NewRun, { notBefore }: FleetRun): NewRun => ({
  ...requested,
  ...(notBefore === undefined ? {} : { notBefore }),
});

function compareRunDefinitions(existing: RunDefinition, requested: RunDefinition): RunDifference | undefined {
  const text = (value: unknown): string => canonicalJson(JSON.parse(JSON.stringify(value)) as Json);
  for (const name of Object.keys(existing) as (keyof RunDefinition)[])
    if (text(existing[name]) !== text(requested[name])) return [name, text(existing[name])];
  return undefined;
}

/** What happens if a run with the id exists. */
export type ExistingRunHandlers = {
  /** Creates the error if it differs from the requested run. */
  readonly createConflictError: (id: string, difference: RunDifference) => Error;
  /** Called if it is the same run. */
  readonly onExisting?: ((known: FleetRun) => void) | undefined;
};

/** Enqueues all runs, or none if one of their ids belongs to a different run. */
export async function enqueueOnce(
  { queue }: { readonly queue: Pick<RunQueue, 'run' | 'enqueue'> },
  runs: readonly NewRun[],
  { createConflictError, onExisting }: ExistingRunHandlers,
): Promise<readonly FleetRun[]> {
  const assertSame = (id: string, difference: RunDifference | undefined): void => {
    if (difference) throw createConflictError(id, difference);
  };
  const byId = new Map<string, NewRun>();
  for (const run of runs) {
    if (run.id === undefined) continue;
    const duplicate = byId.get(run.id);
    if (duplicate)
      assertSame(run.id, compareRunDefinitions(normalizeNewRun(duplicate, run.id), normalizeNewRun(run, run.id)));
    byId.set(run.id, run);
    const known = await queue.run(run.id);
    if (!known) continue;
    assertSame(run.id, findRunDifference(known, run));
    onExisting?.(known);
  }
  const queued = await queue.enqueue(runs);
  // A concurrent request may have enqueued another run under the same id.
  for (const [i, run] of runs.entries()) if (queued[i]) assertSame(queued[i].id, findRunDifference(queued[i], run));
  return queued;
}
