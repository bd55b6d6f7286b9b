// Runs on their way into the queue: an id never stands for two things that were asked.
import { canonicalJson, type FleetRun, type FleetStore, type Json, type NewRun } from '../core/index.ts';

/** What is asked of a run, with what was left out filled in. */
type Asked = Readonly<Record<'words' | 'kind' | 'settings' | 'tenant' | 'priority' | 'session' | 'notBefore', unknown>>;

const askedOf = ({ words, kind, settings, tenant, priority, session, notBefore }: FleetRun): Asked => ({
  words,
  kind,
  settings,
  tenant,
  priority,
  session,
  notBefore: notBefore ?? null,
});

function wantedOf(wanted: NewRun, id: string): Asked {
  const { words, kind = 'run', settings = {}, tenant = 'default', priority = 0, session = id, notBefore } = wanted;
  const time = notBefore === undefined ? NaN : Date.parse(notBefore);
  const later = Number.isNaN(time) ? (notBefore ?? null) : new Date(time).toISOString();
  return { words, kind, settings, tenant, priority, session, notBefore: later };
}

/** The first thing in which what is there under an id differs from what is wanted, and how it is there. */
export type Difference = readonly [name: keyof Asked, is: string];

/** In what the run that is there under an id differs from the one that is wanted under it, if it does. */
export const otherThan = (known: FleetRun, wanted: NewRun): Difference | undefined =>
  differenceOf(askedOf(known), wantedOf(wanted, known.id));

function differenceOf(there: Asked, here: Asked): Difference | undefined {
  const text = (value: unknown): string => canonicalJson(JSON.parse(JSON.stringify(value)) as Json);
  for (const name of Object.keys(there) as (keyof Asked)[])
    if (text(there[name]) !== text(here[name])) return [name, text(there[name])];
  return undefined;
}

/** What is done about an id that stands for something already. */
export type Known = {
  /** It stands for another run. */
  readonly other: (id: string, difference: Difference) => Error;
  /** It stands for this very run. */
  readonly again?: ((known: FleetRun) => void) | undefined;
};

/** Puts runs into the queue, all or none: an id that stands for something else must not pass for what is asked here. */
export async function enqueueOnce(
  { queue }: FleetStore,
  runs: readonly NewRun[],
  { other, again }: Known,
): Promise<readonly FleetRun[]> {
  const mustBe = (id: string, difference: Difference | undefined): void => {
    if (difference) throw other(id, difference);
  };
  const wanted = new Map<string, NewRun>();
  for (const run of runs) {
    if (run.id === undefined) continue;
    const twin = wanted.get(run.id);
    if (twin) mustBe(run.id, differenceOf(wantedOf(twin, run.id), wantedOf(run, run.id)));
    wanted.set(run.id, run);
    const known = await queue.run(run.id);
    if (!known) continue;
    mustBe(run.id, otherThan(known, run));
    again?.(known);
  }
  const queued = await queue.enqueue(runs);
  // Somebody else may have taken an id since.
  for (const [i, run] of runs.entries()) if (queued[i]) mustBe(queued[i].id, otherThan(queued[i], run));
  return queued;
}
