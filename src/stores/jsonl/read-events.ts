// Reads the events of a branch of an indexed session file, a block of lines at a time.
import { isAscii } from 'node:buffer';
import type { Event } from '../../core/index.ts';
import type { SessionFileIndex, ByteRange } from './file-index.ts';
import type { Disk } from './disk.ts';
import { parseLazyEvent } from './lazy-event.ts';
import { parseEventLine } from './line.ts';
import { forEachLineSpan, readByteBlocks } from './read-lines.ts';

/** Events and the offsets of their lines. */
export type EventBatch = { readonly events: readonly Event[]; readonly offsets: readonly number[] };

/** The events in these ranges of a file, in order. */
export function* readEventBatches(
  disk: Disk,
  fd: number,
  index: SessionFileIndex,
  ranges: readonly ByteRange[],
): Generator<EventBatch> {
  let before: Event | undefined;
  for (const range of ranges) {
    for (const { bytes, offset: base } of readByteBlocks(disk, fd, { ...range, keepBytes: true })) {
      const events: Event[] = [];
      const offsets: number[] = [];
      const add = (found: Event, offset: number): void => {
        before = found;
        events.push(found);
        offsets.push(offset);
      };
      const encoding = isAscii(bytes) ? 'latin1' : 'utf8';
      forEachLineSpan(bytes, (start, end) => {
        const offset = base + start;
        const replaced = index.replacedLines.get(offset);
        if (replaced) for (const text of replaced) add(parseEventLine(text, 0, text.length), offset);
        else if (offset > 0 || !index.header)
          add(
            parseLazyEvent(bytes, start, end, before) ?? parseWholeLine(bytes.toString(encoding, start, end), before),
            offset,
          );
      });
      if (events.length > 0) yield { events, offsets };
    }
  }
}

const parseWholeLine = (text: string, before: Event | undefined): Event => parseEventLine(text, 0, text.length, before);
