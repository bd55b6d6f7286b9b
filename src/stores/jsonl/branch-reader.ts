// Reads the branch that leads to an event of a session file, without holding its events in memory.
import type { Event, Log } from '../../core/index.ts';
import { createFileIndex, branchRangesFromEpoch, branchRanges, type SessionFileIndex } from './file-index.ts';
import type { Disk } from './disk.ts';
import { locateLines } from './resolve-parents.ts';
import { readEventBatches } from './read-events.ts';
import { updateIndex } from './load-index.ts';
import { unknownEventError } from '../store-errors.ts';
import { toDiskError } from './errors.ts';

/** An open file and its current index. */
export type OpenIndexedFile = { readonly fd: number; readonly index: SessionFileIndex };

/** Reads branches of an indexed file. */
export type BranchReader = {
  readonly read: Log['read'];
  /** The end offset of the line of an event; throws if there is none. */
  readonly findLineEnd: (id: string) => Promise<number>;
};

/** Creates the reader; `current` returns the file as it is open now. */
export function createBranchReader(disk: Disk, file: string, current: () => OpenIndexedFile): BranchReader {
  let fullIndex: Promise<SessionFileIndex> | undefined;

  /** A file that was opened from its sidecar is indexed from an epoch on; earlier events need an index of the whole file. */
  function loadFullIndex({ fd, index }: OpenIndexedFile): Promise<SessionFileIndex> {
    if (index.indexedFrom === 0) return Promise.resolve(index);
    const before = fullIndex ?? Promise.resolve(createFileIndex());
    fullIndex = before.then(async (known) => {
      await updateIndex(known, disk, file, fd, index.offset);
      return known;
    });
    return fullIndex;
  }

  async function findLineEnd(id: string): Promise<number> {
    const { fd, index } = current();
    const ids = new Set([id]);
    const location =
      locateLines(disk, fd, index, ids).get(id) ??
      (index.indexedFrom > 0 && locateLines(disk, fd, index, ids, 0).get(id));
    if (!location) throw unknownEventError(id);
    return location.next;
  }

  async function* read({ at, from = 'root' }: Parameters<Log['read']>[0] = {}): AsyncGenerator<readonly Event[]> {
    try {
      const open = current();
      const end = at === undefined ? open.index.segments.at(-1)?.to : await findLineEnd(at);
      if (end === undefined) return;
      const find = from === 'epoch' ? branchRangesFromEpoch : branchRanges;
      let { index } = open;
      let ranges = find(index, end);
      if (!ranges) {
        index = await loadFullIndex(open);
        ranges = find(index, end) ?? [];
      }
      for (const { events } of readEventBatches(disk, open.fd, index, ranges)) yield events;
    } catch (error) {
      throw toDiskError(error, file, 'read');
    }
  }

  return { read, findLineEnd };
}
