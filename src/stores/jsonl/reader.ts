// Reads the events of a path through a charted session file, a run of lines at a time.
import { isAscii } from 'node:buffer';
import type { Event } from '../../core/index.ts';
import type { Chart, Range } from './chart.ts';
import type { Disk } from './disk.ts';
import { keptEventAt } from './kept.ts';
import { eventAt } from './line.ts';
import { eachSpan, runsOf } from './lines.ts';

/** Some events and the offsets of their lines. */
export type Batch = { readonly events: readonly Event[]; readonly offsets: readonly number[] };

/** Old events as today's: one step for each version of the format that is no longer written. There is none yet. */
const upcasts: Readonly<Record<number, (event: Event) => Event>> = {};

/** The events in these parts of a file, in order. */
export function* batchesOf(disk: Disk, fd: number, chart: Chart, path: readonly Range[]): Generator<Batch> {
  const upcast = upcasts[chart.header?.version ?? 0];
  let before: Event | undefined;
  for (const range of path) {
    for (const { bytes, offset: base } of runsOf(disk, fd, { ...range, stay: true })) {
      const events: Event[] = [];
      const offsets: number[] = [];
      const add = (found: Event, offset: number): void => {
        before = upcast ? upcast(found) : found;
        events.push(before);
        offsets.push(offset);
      };
      const coding = isAscii(bytes) ? 'latin1' : 'utf8';
      eachSpan(bytes, (start, end) => {
        const offset = base + start;
        const hole = chart.holes.get(offset);
        if (hole) for (const text of hole) add(eventAt(text, 0, text.length), offset);
        else if (offset > 0 || !chart.header)
          add(keptEventAt(bytes, start, end, before) ?? eventIn(bytes.toString(coding, start, end), before), offset);
      });
      if (events.length > 0) yield { events, offsets };
    }
  }
}

const eventIn = (text: string, before: Event | undefined): Event => eventAt(text, 0, text.length, before);
