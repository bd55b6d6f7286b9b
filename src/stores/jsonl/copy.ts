// Copies a session with all its branches into a new file: the same events, another session's id, a hash chain of its own.
import { randomUUID } from 'node:crypto';
import { setImmediate as breathe } from 'node:timers/promises';
import type { Event, Fact } from '../../core/index.ts';
import { realDisk, writeAll, type Disk } from './disk.ts';
import { formatEventBody, hashLine, formatHeaderLine, withHash } from './line.ts';
import { acquireLock, defaultLockTimeoutMs } from './lock.ts';
import { fileExistsError } from './move.ts';
import { openForReading } from './open-file.ts';
import { readEventBatches } from './read-events.ts';
import { toDiskError } from './errors.ts';

/** How to copy. */
export type CopyJsonlOptions = { readonly session?: string; readonly disk?: Disk };

/** Copies what a session file says now, whoever writes to it, and gives the new session's id. The copy appears whole or not at all. */
export async function copyJsonl(from: string, to: string, options: CopyJsonlOptions = {}): Promise<string> {
  const { disk = realDisk, session = randomUUID() } = options;
  const file = disk.realpath(from);
  try {
    if (disk.inode(to) !== undefined) throw fileExistsError(to);
    const lock = await acquireLock(disk, to, defaultLockTimeoutMs);
    try {
      if (disk.inode(to) !== undefined) throw fileExistsError(to);
      await writeCopy(disk, file, to, session);
    } finally {
      lock.release();
    }
    return session;
  } catch (error) {
    throw toDiskError(error, file, 'copy');
  }
}

async function writeCopy(disk: Disk, file: string, to: string, session: string): Promise<void> {
  const { fd, found } = await openForReading(disk, file);
  // Swept up by whoever opens the copy's name next, should this process die here.
  const draft = `${to}.new-copy`;
  disk.remove(draft);
  const out = disk.open(draft, 'x');
  try {
    const { chart } = found;
    const from = { session: chart.header?.session ?? '', event: chart.id ?? '' };
    const write = createCopier(session, from, (text) => writeAll(disk, out, Buffer.from(text)));
    let batches = 0;
    for (const { events } of readEventBatches(disk, fd, chart, [{ from: 0, to: chart.offset }])) {
      write(events);
      // A long file must not keep the rest of the program waiting.
      if (++batches % 8 === 0) await breathe();
    }
    await disk.sync(out);
    disk.rename(draft, to);
  } catch (error) {
    disk.remove(draft);
    throw error;
  } finally {
    disk.close(out);
    disk.close(fd);
  }
}

/** What was copied: a session, up to an event. */
type CopySource = { readonly session: string; readonly event: string };

/** Writes events one after the other, each tied to the line before it. An event whose parent was lost follows the one before it. */
function createCopier(
  session: string,
  from: CopySource,
  write: (text: string) => void,
): (events: readonly Event[]) => void {
  const header = formatHeaderLine(session, new Date().toISOString());
  write(header.text);
  const seen = new Set<string>();
  let link = header.hash;
  let last: Event | undefined;
  return (events) => {
    let text = '';
    for (const event of events) {
      const above = event.parent !== null && !seen.has(event.parent) ? (last?.id ?? null) : event.parent;
      const body = formatEventBody(withSessionId(event, session, from), { ...event, parent: above });
      link = hashLine(link, body);
      text += `${withHash(body, link)}\n`;
      seen.add(event.id);
      last = event;
    }
    write(text);
  };
}

/** The fact with the copy's id wherever it names its own session. */
function withSessionId(event: Event, session: string, from: CopySource): Fact {
  if (event.type === 'session-started') return { ...event, session, from };
  if (event.type === 'epoch-started' && event.baseline) return { ...event, baseline: { ...event.baseline, session } };
  return event;
}
