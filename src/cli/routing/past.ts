// How runs of the past came out, read from the latest sessions on the shelf; bounded, so that a long history costs no more than a short one.
import { statSync } from 'node:fs';
import { fold } from '../../core/index.ts';
import { pastRuns, type Ran } from '../../providers/routing/index.ts';
import { openJsonl } from '../../stores/index.ts';
import { sessionPlaces, type Shelf } from '../sessions/index.ts';

const mostSessions = 40;
const mostBytes = 4 * 2 ** 20;

/** The runs of the latest sessions, oldest first. A session that cannot be read says nothing. */
export async function pastOf(shelf: Shelf): Promise<readonly Ran[]> {
  const runs: Ran[] = [];
  for (const file of latest(shelf)) runs.push(...(await runsIn(file).catch(() => [])));
  return runs.toSorted((a, b) => a.time - b.time);
}

/** The files written last, as many as fit. */
function latest(shelf: Shelf): readonly string[] {
  let room = mostBytes;
  return sessionPlaces(shelf)
    .flatMap(({ file }) => {
      const seen = statSync(file, { throwIfNoEntry: false });
      return seen ? [{ file, size: seen.size, time: seen.mtimeMs }] : [];
    })
    .toSorted((a, b) => b.time - a.time)
    .slice(0, mostSessions)
    .filter(({ size }) => size <= room && (room -= size) >= 0)
    .map(({ file }) => file);
}

async function runsIn(file: string): Promise<readonly Ran[]> {
  const log = await openJsonl(file, { mode: 'read' });
  try {
    let state = pastRuns.initial;
    for await (const events of log.read({ from: 'root' })) state = fold(pastRuns, events, state);
    return state.runs;
  } finally {
    await log.close();
  }
}
