// Copies a session file with all its branches: the same events, a new session id and a new hash chain.
import { randomUUID } from 'node:crypto';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Event, Fact } from '../../core/index.ts';
import { realDisk, writeAll, type Disk } from './disk.ts';
import { formatEventBody, hashLine, formatHeaderLine, withHash } from './line.ts';
import { acquireLock, defaultLockTimeoutMs } from './lock.ts';
import { openForReading } from './open-file.ts';
import { readEventBatches } from './read-events.ts';
import { fileExistsError, toDiskError } from './errors.ts';

/** Options of a copy. */
export type CopyJsonlOptions = { readonly session?: string; readonly disk?: Disk };

/** Copies the current events of a session file, which may have a writer, and returns the new session id. The copy is created atomically. */
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
  const { fd, loaded } = await openForReading(disk, file);
  // If this process ends here, the next open of the copy's name deletes the draft.
  const draft = `${to}.new-copy`;
  disk.remove(draft);
  const out = disk.open(draft, 'x');
  try {
    const { index } = loaded;
    const source = { session: index.header?.session ?? '', event: index.id ?? '' };
    const write = createCopier(session, source, (text) => writeAll(disk, out, Buffer.from(text)));
    let batches = 0;
    for (const { events } of readEventBatches(disk, fd, index, [{ from: 0, to: index.offset }])) {
      write(events);
      // A long file must not block the event loop.
      if (++batches % 8 === 0) await yieldToEventLoop();
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

/** The copied session and its last event. */
type CopySource = { readonly session: string; readonly event: string };

/** Creates the function that writes events, each chained to the line before it. An event whose parent is missing follows the one before it. */
function createCopier(
  session: string,
  source: CopySource,
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
      const parent = event.parent !== null && !seen.has(event.parent) ? (last?.id ?? null) : event.parent;
      const body = formatEventBody(withSessionId(event, session, source), { ...event, parent });
      link = hashLine(link, body);
      text += `${withHash(body, link)}\n`;
      seen.add(event.id);
      last = event;
    }
    write(text);
  };
}

/** The fact with the id of the copy in place of the id of the copied session. */
function withSessionId(event: Event, session: string, source: CopySource): Fact {
  if (event.type === 'session-started') return { ...event, session, from: source };
  if (event.type === 'epoch-started' && event.baseline) return { ...event, baseline: { ...event.baseline, session } };
  return event;
}
