// A folder of session files as a place that keeps sessions.
import fs from 'node:fs';
import path from 'node:path';
import { FairleadError, type SessionInfo, type SessionStore } from '../../core/index.ts';
import { realDisk } from './disk.ts';
import { glimpse, sessionIn, type Glimpse } from './glimpse.ts';
import { holderOf, takeLock, usualSilence } from './lock.ts';
import { openJsonl } from './log.ts';
import { diskTrouble } from './trouble.ts';

const ending = '.jsonl';
const usualMost = 100;

/** The sessions in a folder, each in a file of its own. A file may have any name: what counts is the session it says it holds. */
export function jsonlSessions(folder: string, options: { readonly silentMs?: number } = {}): SessionStore {
  const usualFile = (session: string): string => path.join(folder, `${fileName(session)}${ending}`);

  function fileOf(session: string): string | undefined {
    const usual = usualFile(session);
    if (idIn(usual) === session) return usual;
    return files(folder).find((file) => file !== usual && idIn(file) === session);
  }

  function mustFind(session: string): string {
    const file = fileOf(session);
    if (file === undefined) throw missing(session, folder);
    return file;
  }

  return {
    async open(session, { force = false } = {}) {
      fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
      return openJsonl(fileOf(session) ?? usualFile(session), { ...options, session, force });
    },
    reader: async (session) => openJsonl(mustFind(session), { mode: 'read' }),
    async list({ most = usualMost, before } = {}) {
      const entries = files(folder)
        .flatMap((file) => entryOf(file) ?? [])
        .toSorted((a, b) => b.changed.localeCompare(a.changed) || b.session.localeCompare(a.session));
      const start = before === undefined ? 0 : entries.findIndex(({ session }) => session === before) + 1;
      return entries.slice(start, start + most);
    },
    async remove(session) {
      const file = mustFind(session);
      // Whoever removes it holds it first: nobody begins to write to a file that is just going away.
      const lock = await takeLock(realDisk, file, options.silentMs ?? usualSilence);
      try {
        for (const beside of sideFiles(folder, path.basename(file))) fs.rmSync(beside, { force: true });
        fs.rmSync(file, { force: true });
      } catch (error) {
        throw diskTrouble(error, file, 'remove');
      } finally {
        lock.release();
      }
    },
  };
}

/** A session's id as the name of a file: what a file system might take for something else is written as its number. */
const fileName = (session: string): string =>
  session.replaceAll(/[^A-Za-z0-9_-]/g, (each) => `%${each.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** What lies beside a session's file and belongs to it: its index, what was kept of damage; not its lock. */
const sideFiles = (folder: string, base: string): readonly string[] =>
  fs
    .readdirSync(folder)
    .filter((name) => name.startsWith(`${base}.`) && !name.startsWith(`${base}.lock`))
    .map((name) => path.join(folder, name));

function files(folder: string): readonly string[] {
  try {
    const names = fs.readdirSync(folder).filter((name) => name.endsWith(ending));
    return names.map((name) => path.join(folder, name));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw diskTrouble(error, folder, 'list');
  }
}

/** A file that vanished or may not be read while others are looked at is none of these sessions. */
function idIn(file: string): string | undefined {
  try {
    return sessionIn(file);
  } catch {
    return undefined;
  }
}

function seen(file: string): Glimpse | undefined {
  try {
    return glimpse(file);
  } catch {
    return undefined;
  }
}

function entryOf(file: string): SessionInfo | undefined {
  const found = seen(file);
  if (!found || found.session === '') return undefined;
  const { session, created, changed, time, events = 0 } = found;
  const name = nameOf(file, found);
  const holder = holderOf(file);
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
function nameOf(file: string, found: Glimpse): string | undefined {
  const started = found.first('session-started');
  if (started?.type === 'session-started' && started.name !== undefined) return started.name;
  const stem = path.basename(file, ending);
  return stem === fileName(found.session) ? undefined : stem;
}

const missing = (session: string, folder: string): FairleadError =>
  new FairleadError('store/no-session', `There is no session ${session} in ${folder}.`, {
    blame: 'user',
    hint: 'List the sessions to see which there are.',
  });
