// Reads one branch of a session whose events are in memory.
import type { Event } from '../core/index.ts';
import { isEpochStart } from './event-row.ts';
import { unknownEventError } from './store-errors.ts';

/** Returns the events up to an event, the last one unless named, from the root or from the last epoch that starts with a baseline. */
export function readBranch(
  events: readonly Event[],
  at: string | undefined,
  from: 'root' | 'epoch' = 'root',
): readonly Event[] {
  const branch = readFromRoot(events, at);
  const start = from === 'epoch' ? branch.findLastIndex(isEpochStart) : 0;
  return branch.slice(Math.max(0, start));
}

function readFromRoot(events: readonly Event[], at: string | undefined): readonly Event[] {
  const isLinear = at === undefined && events.every((event, i) => event.parent === (events[i - 1]?.id ?? null));
  if (isLinear) return events;
  const byId = new Map(events.map((event) => [event.id, event]));
  const branch: Event[] = [];
  for (let id = at ?? events.at(-1)?.id ?? null; id !== null;) {
    const event = byId.get(id);
    if (!event) throw unknownEventError(id);
    branch.push(event);
    id = event.parent;
  }
  return branch.toReversed();
}
