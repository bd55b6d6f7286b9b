// The ways from the first event of a session to any other, read from its file without holding its events.
import type { Event, Log } from '../../core/index.ts';
import { newChart, pathFromEpoch, pathTo, type Chart } from './chart.ts';
import type { Disk } from './disk.ts';
import { locate } from './links.ts';
import { batchesOf } from './reader.ts';
import { carryOn } from './survey.ts';
import { diskTrouble, unknownEvent } from './trouble.ts';

/** A file that is open, as it is charted now. */
export type Open = { readonly fd: number; readonly chart: Chart };

/** How a charted file is read. */
export type Paths = {
  readonly read: Log['read'];
  /** Where the line of an event ends; throws if there is none. */
  readonly endOf: (id: string) => Promise<number>;
};

/** The paths of a file. */
export function pathsOf(disk: Disk, file: string, now: () => Open): Paths {
  let history: Promise<Chart> | undefined;

  /** A file opened from its index is charted from an epoch on; who asks for what lies before it has the rest charted too. */
  function whole({ fd, chart }: Open): Promise<Chart> {
    if (chart.base === 0) return Promise.resolve(chart);
    const before = history ?? Promise.resolve(newChart());
    history = before.then(async (known) => {
      await carryOn(known, disk, file, fd, chart.offset);
      return known;
    });
    return history;
  }

  async function endOf(id: string): Promise<number> {
    const { fd, chart } = now();
    const ids = new Set([id]);
    const place = locate(disk, fd, chart, ids).get(id) ?? (chart.base > 0 && locate(disk, fd, chart, ids, 0).get(id));
    if (!place) throw unknownEvent(id);
    return place.next;
  }

  async function* read({ at, from = 'root' }: Parameters<Log['read']>[0] = {}): AsyncGenerator<readonly Event[]> {
    try {
      const open = now();
      const end = at === undefined ? open.chart.stretches.at(-1)?.to : await endOf(at);
      if (end === undefined) return;
      const find = from === 'epoch' ? pathFromEpoch : pathTo;
      let { chart } = open;
      let path = find(chart, end);
      if (!path) {
        chart = await whole(open);
        path = find(chart, end) ?? [];
      }
      for (const { events } of batchesOf(disk, open.fd, chart, path)) yield events;
    } catch (error) {
      throw diskTrouble(error, file, 'read');
    }
  }

  return { read, endOf };
}
