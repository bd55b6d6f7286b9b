// Follows a session file as it grows: waits for incomplete lines, and handles truncation and replacement of the file.
import type { Event } from '../../core/index.ts';
import type { SessionFileIndex } from './file-index.ts';
import type { Disk } from './disk.ts';
import { parseEventLine, type SessionFileHeader } from './line.ts';
import { readTextBlocks, forEachLine, type TextLine } from './read-lines.ts';
import { peekHeader } from './load-index.ts';
import { toDiskError } from './errors.ts';

/** The followed file. */
export type FollowSource = {
  readonly disk: Disk;
  /** Its current name: a followed file may be moved. */
  file(): string;
  readonly index: SessionFileIndex;
  /** The offset up to which the file may be read; undefined for all of it. */
  end(): number | undefined;
  /** Waits until the file may have grown, or the signal aborts. */
  waitForChange(signal: AbortSignal): Promise<void>;
  isClosed(): boolean;
};

/** Yields every event after a seq in the order of the file, until the signal aborts or the log is closed. */
export async function* followFile(source: FollowSource, from: number, signal: AbortSignal): AsyncGenerator<Event> {
  const { disk, index } = source;
  let fd = disk.open(source.file(), 'r');
  try {
    let offset = startOffset(index, from);
    for (let last = from; !signal.aborted && !source.isClosed();) {
      const startOfRead = offset;
      for (const block of readTextBlocks(disk, fd, offset, source.end())) {
        const events: Event[] = [];
        forEachLine(block, (line) => {
          if (!block.complete && line.end === block.text.length) return;
          for (const event of parseLineEvents(index, line)) if (event.seq > last) events.push(event);
          offset = line.next;
        });
        for (const event of events) {
          if (signal.aborted) return;
          last = event.seq;
          yield event;
        }
      }
      // Events appended while the consumer handled one have woken no waiter: read again before waiting.
      // Only if something was read: a truncated file is shorter than its writer reports.
      if ((offset > startOfRead && (source.end() ?? offset) > offset) || source.isClosed()) continue;
      await source.waitForChange(signal);
      const file = source.file();
      if (disk.inode(file) !== disk.stat(fd)?.inode) {
        const newFd = disk.inode(file) === undefined ? undefined : reopenSameSession(disk, file, index.header);
        if (newFd === undefined) continue;
        disk.close(fd);
        fd = newFd;
        offset = 0;
      } else if ((disk.stat(fd)?.size ?? 0) < offset) offset = 0;
    }
  } catch (error) {
    throw toDiskError(error, source.file(), 'follow');
  } finally {
    disk.close(fd);
  }
}

/** Opens the file that replaced this one, if it holds the same session: another session may get the name of a moved one. */
export function reopenSameSession(disk: Disk, file: string, header: SessionFileHeader | undefined): number | undefined {
  const fd = disk.open(file, 'r');
  const found = peekHeader(disk, fd);
  if (!header || !found || found.session === header.session) return fd;
  disk.close(fd);
  return undefined;
}

function startOffset(index: SessionFileIndex, from: number): number {
  if (from >= index.seq) return index.offset;
  return index.lastEpoch && from >= index.lastEpoch.seq ? index.lastEpoch.offset : 0;
}

/** The events of a line; none if it is the header or cannot be read. */
function parseLineEvents(index: SessionFileIndex, { text, start, end, offset }: TextLine): readonly Event[] {
  const replaced = index.replacedLines.get(offset);
  if (replaced) return replaced.map((line) => parseEventLine(line, 0, line.length));
  if (offset === 0 && index.header) return [];
  try {
    return [parseEventLine(text, start, end)];
  } catch {
    return [];
  }
}
