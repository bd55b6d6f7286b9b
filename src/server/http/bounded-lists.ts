// Reads lists for a response up to a number of characters: a prompt or an event can be as long as a request, and a list has up to 1,000.
import { setImmediate } from 'node:timers/promises';
import type { Event, FleetRun, Log, RunFilter } from '../../core/index.ts';
import type { ScopedStore } from './scoped-store.ts';

/** The maximal number of characters of a list; its first entry is always in it. */
const maxListChars = 4_000_000;
/** Read from the store at once: all of them may be large. */
const runsPerRead = 16;

/** Returns a function that counts an entry, and says whether the list has room for it. */
export function createListBound(): (entry: unknown) => boolean {
  let chars = 0;
  return (entry) => {
    const before = chars;
    chars += JSON.stringify(entry).length;
    return before === 0 || chars <= maxListChars;
  };
}

/** Runs, newest first. `next` is the id of the last one if the list was cut because of its size: the others are older. */
export type RunList = { readonly runs: readonly FleetRun[]; readonly next?: string };

/** Runs that a search reads at once, and the most that it reads for one response. */
const runsPerSearchRead = 100;
const maxSearchedRuns = 5000;

/** Returns up to `limit` runs that `isMatch` accepts, fewer if they are too large for one response. Other requests are answered between the reads. */
export async function listRunsWithinBounds(
  { queue }: Pick<ScopedStore, 'queue'>,
  { limit, ...filter }: RunFilter & { readonly limit: number },
  isMatch?: (run: FleetRun) => boolean,
): Promise<RunList> {
  const hasRoom = createListBound();
  const runs: FleetRun[] = [];
  let last: string | undefined;
  for (let read = 0; runs.length < limit;) {
    const count = isMatch ? runsPerSearchRead : Math.min(runsPerRead, limit - runs.length);
    const page = await queue.list({ ...filter, ...(last === undefined ? {} : { before: last }), limit: count });
    for (const run of page) {
      if (isMatch && !isMatch(run)) {
        last = run.id;
        continue;
      }
      if (runs.length === limit || !hasRoom(run)) return { runs, ...(last === undefined ? {} : { next: last }) };
      runs.push(run);
      last = run.id;
    }
    if (page.length < count) break;
    read += page.length;
    if (read >= maxSearchedRuns && isMatch) return { runs, ...(last === undefined ? {} : { next: last }) };
    await setImmediate();
  }
  return { runs };
}

/** Returns up to `limit` events after a sequence number, fewer if they are too large for one response, in the order written, of all branches. */
export async function readEventsAfter(
  log: Pick<Log, 'follow'>,
  from: number,
  lastSeq: number,
  limit: number,
): Promise<readonly Event[]> {
  if (from >= lastSeq) return [];
  const hasRoom = createListBound();
  const done = new AbortController();
  const events: Event[] = [];
  for await (const event of log.follow(from, done.signal)) {
    if (!hasRoom(event)) break;
    events.push(event);
    if (events.length >= limit || event.seq >= lastSeq) break;
  }
  done.abort();
  return events;
}
