// Finds a run by its id or by the start of its id, and shortens the ids that the store made.
import { FairleadError, type FleetRun, type RunQueue } from '../core/index.ts';

const shortIdChars = 8;
const shortId = /^[0-9a-f]{8}(?:\/|$)/;
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/;

/** The id of a run as lists show it: an id that the store made is cut to 8 characters; an id that a user chose stays as it is. */
export const shortenRunId = (id: string): string => id.replace(uuid, (made) => made.slice(0, shortIdChars));

const pageSize = 500;
/** Max runs that are searched for the start of an id, from the latest on. */
const maxSearchedRuns = 20_000;

/** Returns the run with this id, or the only one whose id starts with it; undefined if there is none. Throws if there are several, or if it is the id of one run and the short id of another. */
export async function findRun(queue: Pick<RunQueue, 'run' | 'list'>, id: string): Promise<FleetRun | undefined> {
  const exact = id === '' ? undefined : await queue.run(id);
  // An id that a user chose can be the short id of another run: then it is not known which one is meant.
  if (id === '' || (exact && !shortId.test(id))) return exact;
  const found: FleetRun[] = [];
  const slashes = countSlashes(id);
  let before: string | undefined;
  for (let searched = 0; searched < maxSearchedRuns; searched += pageSize) {
    const page = await queue.list({ limit: pageSize, ...(before === undefined ? {} : { before }) });
    // The child runs of a run have its id and more after a slash.
    for (const run of page)
      if (exact ? shortenRunId(run.id) === id : isMatch(run.id, id) && countSlashes(run.id) === slashes)
        found.push(run);
    before = page.at(-1)?.id;
    if (page.length < pageSize) break;
  }
  const same = found.filter((run) => shortenRunId(run.id) === id);
  const [only, ...more] = same.length === 1 ? same : found;
  if (more.length === 0) return only;
  throw new FairleadError('fleet/ambiguous-run', `${found.length} runs have an id that starts with ${id}.`, {
    blame: 'user',
    hint: `Use more of the id: ${found
      .slice(0, 3)
      .map((run) => run.id)
      .join(', ')}${found.length > 3 ? ', …' : ''}.`,
  });
}

const isMatch = (full: string, id: string): boolean => full.startsWith(id) || shortenRunId(full).startsWith(id);

const countSlashes = (id: string): number => id.split('/').length - 1;
