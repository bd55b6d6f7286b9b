// Reads the events of a path through a charted session file, a block at a time.
import type { Event } from '../../core/index.ts';
import type { Chart, Range } from './chart.ts';
import type { Disk } from './disk.ts';
import { eventAt } from './line.ts';
import { blocksOf, eachLine } from './lines.ts';

/** Some events and the offsets of their lines. */
export type Batch = { readonly events: readonly Event[]; readonly offsets: readonly number[] };

/** Old events as today's: one step for each version of the format that is no longer written. There is none yet. */
const upcasts: Readonly<Record<number, (event: Event) => Event>> = {};

/** The events in these parts of a file, in order. */
export function* batchesOf(disk: Disk, fd: number, chart: Chart, path: readonly Range[]): Generator<Batch> {
  const upcast = upcasts[chart.header?.version ?? 0];
  let before: Event | undefined;
  for (const { from, to } of path) {
    for (const block of blocksOf(disk, fd, from, to)) {
      const events: Event[] = [];
      const offsets: number[] = [];
      const add = (found: Event, offset: number): void => {
        before = upcast ? upcast(found) : found;
        events.push(before);
        offsets.push(offset);
      };
      eachLine(block, (line) => {
        const hole = chart.holes.get(line.offset);
        if (hole) for (const text of hole) add(eventAt(text, 0, text.length), line.offset);
        else if (line.offset > 0 || !chart.header) add(eventAt(line.text, line.start, line.end, before), line.offset);
      });
      if (events.length > 0) yield { events, offsets };
    }
  }
}
