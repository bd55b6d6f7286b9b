// Session store in a directory: one JSONL file per session.
import fs from 'node:fs';
import path from 'node:path';
import { systemErrorCode, type SessionInfo, type SessionStore } from '../../core/index.ts';
import { defaultListLimit } from '../defaults.ts';
import { sessionNotFoundError } from '../store-errors.ts';
import { realDisk } from './disk.ts';
import { peekSession, readSessionId, type SessionPeek } from './session-preview.ts';
import { getLockOwner, acquireLock, defaultLockTimeoutMs } from './lock.ts';
import { openJsonl } from './log.ts';
import { toDiskError } from './errors.ts';

const fileExtension = '.jsonl';

/** The sessions in a directory. A file may have any name: the session id is in its first line. */
export function jsonlSessions(directory: string, options: { readonly lockTimeoutMs?: number } = {}): SessionStore {
  const defaultFile = (session: string): string => path.join(directory, `${encodeFileName(session)}${fileExtension}`);

  function findFile(session: string): string | undefined {
    const defaultPath = defaultFile(session);
    if (tryReadSessionId(defaultPath) === session) return defaultPath;
    return listSessionFiles(directory).find((file) => file !== defaultPath && tryReadSessionId(file) === session);
  }

  function mustFind(session: string): string {
    const file = findFile(session);
    if (file === undefined) throw sessionNotFoundError(session, directory);
    return file;
  }

  return {
    async open(session, { force = false } = {}) {
      fs.mkdirSync(directory, { recursive: true, mode: 0o700 });
      return openJsonl(findFile(session) ?? defaultFile(session), { ...options, session, force });
    },
    reader: async (session) => openJsonl(mustFind(session), { mode: 'read' }),
    async list({ limit = defaultListLimit, before } = {}) {
      const entries = listSessionFiles(directory)
        .flatMap((file) => toSessionEntry(file) ?? [])
        .toSorted((a, b) => b.updatedAt.localeCompare(a.updatedAt) || b.session.localeCompare(a.session));
      const start = before === undefined ? 0 : entries.findIndex(({ session }) => session === before) + 1;
      return entries.slice(start, start + limit);
    },
    async remove(session) {
      const file = mustFind(session);
      // Under the lock, so that no writer opens a file that is being removed.
      const lock = await acquireLock(realDisk, file, options.lockTimeoutMs ?? defaultLockTimeoutMs);
      try {
        for (const sideFile of listSideFiles(directory, path.basename(file))) fs.rmSync(sideFile, { force: true });
        fs.rmSync(file, { force: true });
      } catch (error) {
        throw toDiskError(error, file, 'remove');
      } finally {
        lock.release();
      }
    },
  };
}

/** A session id as a file name: characters that a file system may treat specially are written as their code. */
const encodeFileName = (session: string): string =>
  session.replaceAll(/[^A-Za-z0-9_-]/g, (each) => `%${each.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** The side files of a session file: its index and its backups, but not its lock. */
const listSideFiles = (directory: string, base: string): readonly string[] =>
  fs
    .readdirSync(directory)
    .filter((name) => name.startsWith(`${base}.`) && !name.startsWith(`${base}.lock`))
    .map((name) => path.join(directory, name));

function listSessionFiles(directory: string): readonly string[] {
  try {
    const names = fs.readdirSync(directory).filter((name) => name.endsWith(fileExtension));
    return names.map((name) => path.join(directory, name));
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return [];
    throw toDiskError(error, directory, 'list');
  }
}

/** A file that was removed meanwhile or cannot be read is not listed. */
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
  const peek = tryPeekSession(file);
  if (!peek || peek.session === '') return undefined;
  const { session, created, changed, time, events = 0 } = peek;
  const name = sessionName(file, peek);
  const holder = getLockOwner(file);
  return {
    session,
    createdAt: created,
    updatedAt: time ?? new Date(changed).toISOString(),
    events,
    ...(name === undefined ? {} : { name }),
    ...(holder === undefined ? {} : { holder: `process ${holder.pid} on ${holder.host}` }),
  };
}

/** The name of the session, or of its file. */
function sessionName(file: string, peek: SessionPeek): string | undefined {
  const started = peek.first('session-started');
  if (started?.type === 'session-started' && started.name !== undefined) return started.name;
  const stem = path.basename(file, fileExtension);
  return stem === encodeFileName(peek.session) ? undefined : stem;
}
