// Whether a run that is wanted under an id is the run that is there: an id never stands for two things that were asked.
import { canonical, type FleetRun, type Json, type NewRun } from '../core/index.ts';

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

/** The first thing in which the run that is there under an id differs from the one that is wanted under it, as it is there. */
export function otherThan(known: FleetRun, wanted: NewRun): readonly [name: keyof Asked, is: string] | undefined {
  const there = askedOf(known);
  const here = wantedOf(wanted, known.id);
  const text = (value: unknown): string => canonical(JSON.parse(JSON.stringify(value)) as Json);
  for (const name of Object.keys(there) as (keyof Asked)[])
    if (text(there[name]) !== text(here[name])) return [name, text(there[name])];
  return undefined;
}
