// Reads the events of a path through a charted session file, a run of lines at a time.
import { isAscii } from 'node:buffer';
import type { Event } from '../../core/index.ts';
import type { SessionFileIndex, ByteRange } from './file-index.ts';
import type { Disk } from './disk.ts';
import { parseLazyEvent } from './lazy-event.ts';
import { parseEventLine } from './line.ts';
import { forEachLineSpan, readByteBlocks } from './read-lines.ts';

/** Some events and the offsets of their lines. */
export type EventBatch = { readonly events: readonly Event[]; readonly offsets: readonly number[] };

/** Old events as today's: one step for each version of the format that is no longer written. There is none yet. */
const upcasts: Readonly<Record<number, (event: Event) => Event>> = {};

/** The events in these parts of a file, in order. */
export function* readEventBatches(
  disk: Disk,
  fd: number,
  chart: SessionFileIndex,
  path: readonly ByteRange[],
): Generator<EventBatch> {
  const upcast = upcasts[chart.header?.version ?? 0];
  let before: Event | undefined;
  for (const range of path) {
    for (const { bytes, offset: base } of readByteBlocks(disk, fd, { ...range, stay: true })) {
      const events: Event[] = [];
      const offsets: number[] = [];
      const add = (found: Event, offset: number): void => {
        before = upcast ? upcast(found) : found;
        events.push(before);
        offsets.push(offset);
      };
      const coding = isAscii(bytes) ? 'latin1' : 'utf8';
      forEachLineSpan(bytes, (start, end) => {
        const offset = base + start;
        const hole = chart.replacedLines.get(offset);
        if (hole) for (const text of hole) add(parseEventLine(text, 0, text.length), offset);
        else if (offset > 0 || !chart.header)
          add(
            parseLazyEvent(bytes, start, end, before) ?? parseWholeLine(bytes.toString(coding, start, end), before),
            offset,
          );
      });
      if (events.length > 0) yield { events, offsets };
    }
  }
}

const parseWholeLine = (text: string, before: Event | undefined): Event => parseEventLine(text, 0, text.length, before);
