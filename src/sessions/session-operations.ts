// Operations on whole sessions: rename, clone, move to trash, restore. Sessions that another process has locked are not changed.
import { existsSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { FairleadError, isObject } from '../core/index.ts';
import {
  copyJsonl,
  peekSession,
  getLockOwner,
  moveJsonl,
  type JsonlLog,
  withFileError,
  makePrivateDir,
} from '../stores/index.ts';
import { readSessionId } from '../stores/jsonl/index.ts';
import {
  formatDateName,
  toSessionFileName,
  findFreeName,
  parseSessionFileName,
  normalizeSessionName,
} from './session-names.ts';
import {
  subagentSessionsDir,
  duplicateNameError,
  sessionFilePath,
  sessionsDir,
  listSessionFiles,
  type SessionFile,
  type SessionDirs,
} from './session-directory.ts';

/** Renames a session by renaming its file. A session that is open in this process stays open. */
export async function renameSession(
  shelf: SessionDirs,
  from: SessionFile,
  to: string,
  log?: JsonlLog,
): Promise<SessionFile> {
  const place = { name: normalizeSessionName(to), file: sessionFilePath(shelf, to) };
  if (place.file === from.file) return place;
  await withDuplicateNameError(place.name, () => (log ? log.move(place.file) : moveJsonl(from.file, place.file)));
  return place;
}

/** Default name: `<name>-clone`, then `<name>-clone-2`. */
const findCloneName = (shelf: SessionDirs, name: string): string =>
  findFreeName(`${name}-clone`, (each) => existsSync(sessionFilePath(shelf, each)));

/** Copies a session with all branches; the original stays unchanged and may be open elsewhere. */
export async function cloneSession(shelf: SessionDirs, from: SessionFile, to?: string): Promise<SessionFile> {
  makePrivateDir(sessionsDir(shelf));
  const name = to === undefined ? findCloneName(shelf, from.name) : normalizeSessionName(to);
  const file = sessionFilePath(shelf, name);
  await withDuplicateNameError(name, () => copyJsonl(from.file, file));
  return { name, file };
}

async function withDuplicateNameError<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof FairleadError && error.code === 'store/exists' ? duplicateNameError(name) : error;
  }
}

/** A session in the trash: its name and the time of deletion. */
export type TrashedSession = SessionFile & { readonly since: string };

/** Returns the trash directory. */
export const trashDir = ({ data }: SessionDirs): string => path.join(data, 'trash');

/** Moves a session to the trash. */
export async function trashSession(
  shelf: SessionDirs,
  session: SessionFile,
  now: Date = new Date(),
): Promise<TrashedSession> {
  const folder = trashDir(shelf);
  makePrivateDir(folder);
  const fileName = path.basename(session.file);
  const since = findFreeName(formatDateName(now), (each) => existsSync(path.join(folder, `${each}.${fileName}`)));
  const file = path.join(folder, `${since}.${fileName}`);
  await moveJsonl(session.file, file);
  return { name: session.name, file, since };
}

/** Lists the trash, the latest first. */
export function listTrash(shelf: SessionDirs): readonly TrashedSession[] {
  const folder = trashDir(shelf);
  const files = existsSync(folder) ? readdirSync(folder) : [];
  return files
    .flatMap((each): readonly TrashedSession[] => {
      const dot = each.indexOf('.');
      const name = parseSessionFileName(each.slice(dot + 1));
      return name === undefined ? [] : [{ name, file: path.join(folder, each), since: each.slice(0, dot) }];
    })
    .toSorted((a, b) => b.since.localeCompare(a.since));
}

/** Restores the last deleted session with this name, under the same or another name. */
export async function restoreSession(shelf: SessionDirs, name: string, as?: string): Promise<SessionFile> {
  const wanted = name.normalize('NFC').trim();
  const found = listTrash(shelf).find((each) => each.name === wanted);
  if (!found)
    throw new FairleadError('session/unknown', `There is no session named "${wanted}" in the trash.`, {
      blame: 'user',
      hint: '"fairlead sessions trash" shows what there is.',
    });
  const place = {
    name: normalizeSessionName(as ?? found.name),
    file: path.join(sessionsDir(shelf), toSessionFileName(as ?? found.name)),
  };
  makePrivateDir(sessionsDir(shelf));
  await withDuplicateNameError(place.name, () => moveJsonl(found.file, place.file));
  return place;
}

/** Empties the trash, including sessions of sub-agents; returns the number of sessions. */
export function emptyTrash(shelf: SessionDirs): number {
  const sessions = listTrash(shelf);
  const gone = new Set(sessions.flatMap(({ file }) => tryRead(() => readSessionId(file)) || []));
  for (const { file } of listSessionFiles(shelf, subagentSessionsDir(shelf)))
    if (gone.has(tryRead(() => readParentSession(file)) ?? '') && !getLockOwner(file))
      withFileError(file, 'delete', () => rmSync(file, { force: true }));
  withFileError(trashDir(shelf), 'empty', () => rmSync(trashDir(shelf), { recursive: true, force: true }));
  return sessions.length;
}

/** Returns the parent session of a sub-agent file, if it is recorded. */
function readParentSession(file: string): string | undefined {
  const mark = peekSession(file).first('annotation-added');
  const { parent } = mark?.type === 'annotation-added' && isObject(mark.value) ? mark.value : {};
  return typeof parent === 'string' ? parent : undefined;
}

/** One unreadable file must not keep the others. */
function tryRead<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
