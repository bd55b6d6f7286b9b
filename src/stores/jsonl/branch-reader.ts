// The ways from the first event of a session to any other, read from its file without holding its events.
import type { Event, Log } from '../../core/index.ts';
import { createFileIndex, branchRangesFromEpoch, branchRanges, type SessionFileIndex } from './file-index.ts';
import type { Disk } from './disk.ts';
import { locateLines } from './resolve-parents.ts';
import { readEventBatches } from './read-events.ts';
import { updateIndex } from './load-index.ts';
import { toDiskError, unknownEventError } from './errors.ts';

/** A file that is open, as it is charted now. */
export type OpenIndexedFile = { readonly fd: number; readonly chart: SessionFileIndex };

/** How a charted file is read. */
export type BranchReader = {
  readonly read: Log['read'];
  /** Where the line of an event ends; throws if there is none. */
  readonly findLineEnd: (id: string) => Promise<number>;
};

/** The paths of a file. */
export function createBranchReader(disk: Disk, file: string, now: () => OpenIndexedFile): BranchReader {
  let history: Promise<SessionFileIndex> | undefined;

  /** A file opened from its index is charted from an epoch on; who asks for what lies before it has the rest charted too. */
  function whole({ fd, chart }: OpenIndexedFile): Promise<SessionFileIndex> {
    if (chart.indexedFrom === 0) return Promise.resolve(chart);
    const before = history ?? Promise.resolve(createFileIndex());
    history = before.then(async (known) => {
      await updateIndex(known, disk, file, fd, chart.offset);
      return known;
    });
    return history;
  }

  async function endOf(id: string): Promise<number> {
    const { fd, chart } = now();
    const ids = new Set([id]);
    const place =
      locateLines(disk, fd, chart, ids).get(id) ??
      (chart.indexedFrom > 0 && locateLines(disk, fd, chart, ids, 0).get(id));
    if (!place) throw unknownEventError(id);
    return place.next;
  }

  async function* read({ at, from = 'root' }: Parameters<Log['read']>[0] = {}): AsyncGenerator<readonly Event[]> {
    try {
      const open = now();
      const end = at === undefined ? open.chart.segments.at(-1)?.to : await endOf(at);
      if (end === undefined) return;
      const find = from === 'epoch' ? branchRangesFromEpoch : branchRanges;
      let { chart } = open;
      let path = find(chart, end);
      if (!path) {
        chart = await whole(open);
        path = find(chart, end) ?? [];
      }
      for (const { events } of readEventBatches(disk, open.fd, chart, path)) yield events;
    } catch (error) {
      throw toDiskError(error, file, 'read');
    }
  }

  return { read, findLineEnd: endOf };
}
