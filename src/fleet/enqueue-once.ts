// Runs on their way into the queue: an id never stands for two things that were asked.
import { canonicalJson, type FleetRun, type FleetStore, type Json, type NewRun } from '../core/index.ts';

/** What is asked of a run, with what was left out filled in. */
type RunDefinition = Readonly<
  Record<'words' | 'kind' | 'settings' | 'tenant' | 'priority' | 'session' | 'notBefore', unknown>
>;

const getRunDefinition = ({
  prompt: words,
  kind,
  settings,
  tenant,
  priority,
  session,
  notBefore,
}: FleetRun): RunDefinition => ({
  words,
  kind,
  settings,
  tenant,
  priority,
  session,
  notBefore: notBefore ?? null,
});

function normalizeNewRun(wanted: NewRun, id: string): RunDefinition {
  const {
    prompt: words,
    kind = 'run',
    settings = {},
    tenant = 'default',
    priority = 0,
    session = id,
    notBefore,
  } = wanted;
  const time = notBefore === undefined ? NaN : Date.parse(notBefore);
  const later = Number.isNaN(time) ? (notBefore ?? null) : new Date(time).toISOString();
  return { words, kind, settings, tenant, priority, session, notBefore: later };
}

/** The first thing in which what is there under an id differs from what is wanted, and how it is there. */
export type RunDifference = readonly [name: keyof RunDefinition, is: string];

/** In what the run that is there under an id differs from the one that is wanted under it, if it does. */
export const findRunDifference = (known: FleetRun, wanted: NewRun): RunDifference | undefined =>
  compareRunDefinitions(getRunDefinition(known), normalizeNewRun(wanted, known.id));

function compareRunDefinitions(there: RunDefinition, here: RunDefinition): RunDifference | undefined {
  const text = (value: unknown): string => canonicalJson(JSON.parse(JSON.stringify(value)) as Json);
  for (const name of Object.keys(there) as (keyof RunDefinition)[])
    if (text(there[name]) !== text(here[name])) return [name, text(there[name])];
  return undefined;
}

/** What is done about an id that stands for something already. */
export type ExistingRunHandlers = {
  /** It stands for another run. */
  readonly createConflictError: (id: string, difference: RunDifference) => Error;
  /** It stands for this very run. */
  readonly onExisting?: ((known: FleetRun) => void) | undefined;
};

/** Puts runs into the queue, all or none: an id that stands for something else must not pass for what is asked here. */
export async function enqueueOnce(
  { queue }: FleetStore,
  runs: readonly NewRun[],
  { createConflictError, onExisting }: ExistingRunHandlers,
): Promise<readonly FleetRun[]> {
  const mustBe = (id: string, difference: RunDifference | undefined): void => {
    if (difference) throw createConflictError(id, difference);
  };
  const wanted = new Map<string, NewRun>();
  for (const run of runs) {
    if (run.id === undefined) continue;
    const twin = wanted.get(run.id);
    if (twin) mustBe(run.id, compareRunDefinitions(normalizeNewRun(twin, run.id), normalizeNewRun(run, run.id)));
    wanted.set(run.id, run);
    const known = await queue.run(run.id);
    if (!known) continue;
    mustBe(run.id, findRunDifference(known, run));
    onExisting?.(known);
  }
  const queued = await queue.enqueue(runs);
  // Somebody else may have taken an id since.
  for (const [i, run] of runs.entries()) if (queued[i]) mustBe(queued[i].id, findRunDifference(queued[i], run));
  return queued;
}
