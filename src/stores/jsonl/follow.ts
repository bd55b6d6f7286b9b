// Follows a session file as it grows, in this process or another, through torn ends, truncations and replaced files.
import type { Event } from '../../core/index.ts';
import type { Chart } from './chart.ts';
import type { Disk } from './disk.ts';
import { eventAt, type Header } from './line.ts';
import { blocksOf, eachLine, type Line } from './lines.ts';
import { peekHeader } from './survey.ts';
import { diskTrouble } from './trouble.ts';

/** A file that grows. */
export type Source = {
  readonly disk: Disk;
  /** Its name now: a file that is followed may be moved. */
  file(): string;
  readonly chart: Chart;
  /** How far the file may be read; the whole of it where that is not known. */
  end(): number | undefined;
  /** Waits until there may be more, or the signal aborts. */
  change(signal: AbortSignal): Promise<void>;
  isClosed(): boolean;
};

/** Every event after a seq, in the order written, until the signal aborts or the log is closed. */
export async function* followFile(source: Source, from: number, signal: AbortSignal): AsyncGenerator<Event> {
  const { disk, chart } = source;
  let fd = disk.open(source.file(), 'r');
  try {
    let offset = startFor(chart, from);
    for (let last = from; !signal.aborted && !source.isClosed();) {
      const before = offset;
      for (const block of blocksOf(disk, fd, offset, source.end())) {
        const events: Event[] = [];
        eachLine(block, (line) => {
          if (!block.whole && line.end === block.text.length) return;
          for (const event of eventsOf(chart, line)) if (event.seq > last) events.push(event);
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
      await source.change(signal);
      const file = source.file();
      if (disk.inode(file) !== disk.facts(fd)?.inode) {
        const fresh = disk.inode(file) === undefined ? undefined : openSame(disk, file, chart.header);
        if (fresh === undefined) continue;
        disk.close(fd);
        fd = fresh;
        offset = 0;
      } else if ((disk.facts(fd)?.size ?? 0) < offset) offset = 0;
    }
  } catch (error) {
    throw diskTrouble(error, source.file(), 'follow');
  } finally {
    disk.close(fd);
  }
}

/** The file that was put in the place of this one, if it is the same session; another one may get the name of one that was moved. */
export function openSame(disk: Disk, file: string, header: Header | undefined): number | undefined {
  const fd = disk.open(file, 'r');
  const found = peekHeader(disk, fd);
  if (!header || !found || found.session === header.session) return fd;
  disk.close(fd);
  return undefined;
}

function startFor(chart: Chart, from: number): number {
  if (from >= chart.seq) return chart.offset;
  return chart.epoch && from >= chart.epoch.seq ? chart.epoch.offset : 0;
}

/** The events of a line; none if it holds the header, or nothing that can be read. */
function eventsOf(chart: Chart, { text, start, end, offset }: Line): readonly Event[] {
  const hole = chart.holes.get(offset);
  if (hole) return hole.map((line) => eventAt(line, 0, line.length));
  if (offset === 0 && chart.header) return [];
  try {
    return [eventAt(text, start, end)];
  } catch {
    return [];
  }
}
