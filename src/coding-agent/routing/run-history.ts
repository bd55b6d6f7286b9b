// Reads the results of earlier runs from the latest session files, up to a maximum number and size.
import { statSync } from 'node:fs';
import { fold } from '../../core/index.ts';
import { runHistoryView, type PastRun } from '../../providers/routing/index.ts';
import { openJsonl } from '../../stores/index.ts';
import { listSessionFiles, type SessionDirs } from '../../sessions/index.ts';

const maxSessions = 40;
const maxBytes = 4 * 2 ** 20;

/** The runs of the latest sessions, oldest first. A session that cannot be read is skipped. */
export async function readRunHistory(dirs: SessionDirs): Promise<readonly PastRun[]> {
  const runs: PastRun[] = [];
  for (const file of listLatestFiles(dirs)) for (const item of await readRuns(file).catch(() => [])) runs.push(item);
  return runs.toSorted((a, b) => a.time - b.time);
}

/** The files written last, up to the maximum size. */
function listLatestFiles(dirs: SessionDirs): readonly string[] {
  let bytesLeft = maxBytes;
  return listSessionFiles(dirs)
    .flatMap(({ file }) => {
      const stats = statSync(file, { throwIfNoEntry: false });
      return stats ? [{ file, size: stats.size, time: stats.mtimeMs }] : [];
    })
    .toSorted((a, b) => b.time - a.time)
    .slice(0, maxSessions)
    .filter(({ size }) => size <= bytesLeft && (bytesLeft -= size) >= 0)
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
