// How runs of the past came out, read from the latest sessions on the shelf; bounded, so that a long history costs no more than a short one.
import { statSync } from 'node:fs';
import { fold } from '../../core/index.ts';
import { runHistoryView, type PastRun } from '../../providers/routing/index.ts';
import { openJsonl } from '../../stores/index.ts';
import { listSessionFiles, type SessionDirs } from '../../sessions/index.ts';

const maxSessions = 40;
const maxBytes = 4 * 2 ** 20;

/** The runs of the latest sessions, oldest first. A session that cannot be read says nothing. */
export async function readRunHistory(shelf: SessionDirs): Promise<readonly PastRun[]> {
  const runs: PastRun[] = [];
  for (const file of listLatestFiles(shelf)) runs.push(...(await readRuns(file).catch(() => [])));
  return runs.toSorted((a, b) => a.time - b.time);
}

/** The files written last, as many as fit. */
function listLatestFiles(shelf: SessionDirs): readonly string[] {
  let room = maxBytes;
  return listSessionFiles(shelf)
    .flatMap(({ file }) => {
      const seen = statSync(file, { throwIfNoEntry: false });
      return seen ? [{ file, size: seen.size, time: seen.mtimeMs }] : [];
    })
    .toSorted((a, b) => b.time - a.time)
    .slice(0, maxSessions)
    .filter(({ size }) => size <= room && (room -= size) >= 0)
    .map(({ file }) => file);
}

async function readRuns(file: string): Promise<readonly PastRun[]> {
  const log = await openJsonl(file, { mode: 'read' });
  try {
    let state = runHistoryView.initial;
    for await (const events of log.read({ from: 'root' })) state = fold(runHistoryView, events, state);
    return state.runs;
  } finally {
    await log.close();
  }
}
