// What can be done to a whole session: rename, clone, put into the trash and take out again. A session that another process writes to is left alone.
import { existsSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { FairleadError, isObject } from '../core/index.ts';
import { copyJsonl, peekSession, getLockOwner, moveJsonl, type JsonlLog } from '../stores/index.ts';
import { readSessionId } from '../stores/jsonl/peek.ts';
import { withFileError, makePrivateDir } from '../stores/private-file.ts';
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

/** Renames a session: its file gets another name. One that is open in this process is renamed through its log and stays open. */
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

/** Where no name is given: `<name>-clone`, then `<name>-clone-2`. */
const findCloneName = (shelf: SessionDirs, name: string): string =>
  findFreeName(`${name}-clone`, (each) => existsSync(sessionFilePath(shelf, each)));

/** Copies a session with all its branches into a new one; the original is left as it is, whoever has it open. */
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

/** A session in the trash: what it was called and when it was put there. */
export type TrashedSession = SessionFile & { readonly since: string };

/** The folder of the sessions that were deleted. */
export const trashDir = ({ data }: SessionDirs): string => path.join(data, 'trash');

/** Moves a session into the trash, from where it can be restored. */
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

/** What is in the trash, the latest first. */
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

/** Takes the session of this name that was put into the trash last out again, under this name or another. */
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

/** Deletes everything in the trash for good, with the agents that those sessions started, and says how many sessions that were. */
export function emptyTrash(shelf: SessionDirs): number {
  const sessions = listTrash(shelf);
  const gone = new Set(sessions.flatMap(({ file }) => tryRead(() => readSessionId(file)) || []));
  for (const { file } of listSessionFiles(shelf, subagentSessionsDir(shelf)))
    if (gone.has(tryRead(() => readParentSession(file)) ?? '') && !getLockOwner(file))
      withFileError(file, 'delete', () => rmSync(file, { force: true }));
  withFileError(trashDir(shelf), 'empty', () => rmSync(trashDir(shelf), { recursive: true, force: true }));
  return sessions.length;
}

/** The session that started the agent in this file, if it shows. */
function readParentSession(file: string): string | undefined {
  const mark = peekSession(file).first('annotation-added');
  const { parent } = mark?.type === 'annotation-added' && isObject(mark.value) ? mark.value : {};
  return typeof parent === 'string' ? parent : undefined;
}

/** One file that cannot be read must not keep the others in the trash. */
function tryRead<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
