// Follows a session file as it grows, in this process or another, through torn ends, truncations and replaced files.
import type { Event } from '../../core/index.ts';
import type { SessionFileIndex } from './file-index.ts';
import type { Disk } from './disk.ts';
import { parseEventLine, type SessionFileHeader } from './line.ts';
import { readTextBlocks, forEachLine, type TextLine } from './read-lines.ts';
import { peekHeader } from './load-index.ts';
import { toDiskError } from './errors.ts';

/** A file that grows. */
export type FollowSource = {
  readonly disk: Disk;
  /** Its name now: a file that is followed may be moved. */
  file(): string;
  readonly chart: SessionFileIndex;
  /** How far the file may be read; the whole of it where that is not known. */
  end(): number | undefined;
  /** Waits until there may be more, or the signal aborts. */
  waitForChange(signal: AbortSignal): Promise<void>;
  isClosed(): boolean;
};

/** Every event after a seq, in the order written, until the signal aborts or the log is closed. */
export async function* followFile(source: FollowSource, from: number, signal: AbortSignal): AsyncGenerator<Event> {
  const { disk, chart } = source;
  let fd = disk.open(source.file(), 'r');
  try {
    let offset = startOffset(chart, from);
    for (let last = from; !signal.aborted && !source.isClosed();) {
      const before = offset;
      for (const block of readTextBlocks(disk, fd, offset, source.end())) {
        const events: Event[] = [];
        forEachLine(block, (line) => {
          if (!block.whole && line.end === block.text.length) return;
          for (const event of parseLineEvents(chart, line)) if (event.seq > last) events.push(event);
          offset = line.next;
        });
        for (const event of events) {
          if (signal.aborted) return;
          last = event.seq;
          yield event;
        }
      }
      // Whatever was added or closed while an event was being looked at has woken nobody: look before waiting.
      // A file that somebody cut short has less than its writer knows of: where nothing came, nothing is left to look at.
      if ((offset > before && (source.end() ?? offset) > offset) || source.isClosed()) continue;
      await source.waitForChange(signal);
      const file = source.file();
      if (disk.inode(file) !== disk.stat(fd)?.inode) {
        const fresh = disk.inode(file) === undefined ? undefined : reopenSameSession(disk, file, chart.header);
        if (fresh === undefined) continue;
        disk.close(fd);
        fd = fresh;
        offset = 0;
      } else if ((disk.stat(fd)?.size ?? 0) < offset) offset = 0;
    }
  } catch (error) {
    throw toDiskError(error, source.file(), 'follow');
  } finally {
    disk.close(fd);
  }
}

/** The file that was put in the place of this one, if it is the same session; another one may get the name of one that was moved. */
export function reopenSameSession(disk: Disk, file: string, header: SessionFileHeader | undefined): number | undefined {
  const fd = disk.open(file, 'r');
  const found = peekHeader(disk, fd);
  if (!header || !found || found.session === header.session) return fd;
  disk.close(fd);
  return undefined;
}

function startOffset(chart: SessionFileIndex, from: number): number {
  if (from >= chart.seq) return chart.offset;
  return chart.lastEpoch && from >= chart.lastEpoch.seq ? chart.lastEpoch.offset : 0;
}

/** The events of a line; none if it holds the header, or nothing that can be read. */
function parseLineEvents(chart: SessionFileIndex, { text, start, end, offset }: TextLine): readonly Event[] {
  const hole = chart.replacedLines.get(offset);
  if (hole) return hole.map((line) => parseEventLine(line, 0, line.length));
  if (offset === 0 && chart.header) return [];
  try {
    return [parseEventLine(text, start, end)];
  } catch {
    return [];
  }
}
