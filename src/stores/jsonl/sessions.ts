// A folder of session files as a place that keeps sessions.
import fs from 'node:fs';
import path from 'node:path';
import { FairleadError, type SessionInfo, type SessionStore } from '../../core/index.ts';
import { realDisk } from './disk.ts';
import { peekSession, readSessionId, type SessionPeek } from './peek.ts';
import { getLockOwner, acquireLock, defaultLockTimeoutMs } from './lock.ts';
import { openJsonl } from './log.ts';
import { toDiskError } from './errors.ts';

const fileExtension = '.jsonl';
const defaultListLimit = 100;

/** The sessions in a folder, each in a file of its own. A file may have any name: what counts is the session it says it holds. */
export function jsonlSessions(folder: string, options: { readonly silentMs?: number } = {}): SessionStore {
  const usualFile = (session: string): string => path.join(folder, `${encodeFileName(session)}${fileExtension}`);

  function fileOf(session: string): string | undefined {
    const usual = usualFile(session);
    if (tryReadSessionId(usual) === session) return usual;
    return listSessionFiles(folder).find((file) => file !== usual && tryReadSessionId(file) === session);
  }

  function mustFind(session: string): string {
    const file = fileOf(session);
    if (file === undefined) throw sessionFileNotFoundError(session, folder);
    return file;
  }

  return {
    async open(session, { force = false } = {}) {
      fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
      return openJsonl(fileOf(session) ?? usualFile(session), { ...options, session, force });
    },
    reader: async (session) => openJsonl(mustFind(session), { mode: 'read' }),
    async list({ limit: most = defaultListLimit, before } = {}) {
      const entries = listSessionFiles(folder)
        .flatMap((file) => toSessionEntry(file) ?? [])
        .toSorted((a, b) => b.changed.localeCompare(a.changed) || b.session.localeCompare(a.session));
      const start = before === undefined ? 0 : entries.findIndex(({ session }) => session === before) + 1;
      return entries.slice(start, start + most);
    },
    async remove(session) {
      const file = mustFind(session);
      // Whoever removes it holds it first: nobody begins to write to a file that is just going away.
      const lock = await acquireLock(realDisk, file, options.silentMs ?? defaultLockTimeoutMs);
      try {
        for (const beside of listSideFiles(folder, path.basename(file))) fs.rmSync(beside, { force: true });
        fs.rmSync(file, { force: true });
      } catch (error) {
        throw toDiskError(error, file, 'remove');
      } finally {
        lock.release();
      }
    },
  };
}

/** A session's id as the name of a file: what a file system might take for something else is written as its number. */
const encodeFileName = (session: string): string =>
  session.replaceAll(/[^A-Za-z0-9_-]/g, (each) => `%${each.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** What lies beside a session's file and belongs to it: its index, what was kept of damage; not its lock. */
const listSideFiles = (folder: string, base: string): readonly string[] =>
  fs
    .readdirSync(folder)
    .filter((name) => name.startsWith(`${base}.`) && !name.startsWith(`${base}.lock`))
    .map((name) => path.join(folder, name));

function listSessionFiles(folder: string): readonly string[] {
  try {
    const names = fs.readdirSync(folder).filter((name) => name.endsWith(fileExtension));
    return names.map((name) => path.join(folder, name));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw toDiskError(error, folder, 'list');
  }
}

/** A file that vanished or may not be read while others are looked at is none of these sessions. */
function tryReadSessionId(file: string): string | undefined {
  try {
    return readSessionId(file);
  } catch {
    return undefined;
  }
}

function tryPeekSession(file: string): SessionPeek | undefined {
  try {
    return peekSession(file);
  } catch {
    return undefined;
  }
}

function toSessionEntry(file: string): SessionInfo | undefined {
  const found = tryPeekSession(file);
  if (!found || found.session === '') return undefined;
  const { session, created, changed, time, events = 0 } = found;
  const name = sessionName(file, found);
  const holder = getLockOwner(file);
  return {
    session,
    begun: created,
    changed: time ?? new Date(changed).toISOString(),
    events,
    ...(name === undefined ? {} : { name }),
    ...(holder === undefined ? {} : { holder: `process ${holder.pid} on ${holder.host}` }),
  };
}

/** What the session calls itself, or what its file is called. */
function sessionName(file: string, found: SessionPeek): string | undefined {
  const started = found.first('session-started');
  if (started?.type === 'session-started' && started.name !== undefined) return started.name;
  const stem = path.basename(file, fileExtension);
  return stem === encodeFileName(found.session) ? undefined : stem;
}

const sessionFileNotFoundError = (session: string, folder: string): FairleadError =>
  new FairleadError('store/no-session', `There is no session ${session} in ${folder}.`, {
    blame: 'user',
    hint: 'List the sessions to see which there are.',
  });
