// Operations on whole sessions: rename, clone, move to trash, restore. Sessions that another process has locked are not changed.
import { existsSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import {
  FairleadError,
  isObject,
  normalizeUnicode,
  openSessionWriter,
  runStateView,
  sessionLabelsKey,
} from '../core/index.ts';
import {
  copyJsonl,
  peekSession,
  getLockOwner,
  moveJsonl,
  openJsonl,
  type JsonlLog,
  withFileError,
  makePrivateDir,
} from '../stores/index.ts';
import { readSessionId } from '../stores/jsonl/index.ts';
import { normalizeTitle, readSessionLabels, toLabelsValue, type SessionLabels } from './session-labels.ts';
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
  dirs: SessionDirs,
  from: SessionFile,
  to: string,
  log?: JsonlLog,
): Promise<SessionFile> {
  const target = { name: normalizeSessionName(to), file: sessionFilePath(dirs, to) };
  if (target.file === from.file) return target;
  await withDuplicateNameError(target.name, () => (log ? log.move(target.file) : moveJsonl(from.file, target.file)));
  return target;
}

/** Gives a session a title that lists show instead of its name or first message; an empty title removes it. The file keeps its name. */
export async function titleSession({ file }: SessionFile, title: string): Promise<SessionLabels> {
  const { title: _, ...rest } = readSessionLabels(file);
  const chosen = normalizeTitle(title);
  const labels = chosen === undefined ? rest : { ...rest, title: chosen };
  const log = await openJsonl(file);
  try {
    const writer = await openSessionWriter(log, runStateView());
    await writer.record([{ type: 'annotation-added', key: sessionLabelsKey, value: toLabelsValue(labels) }], {
      durable: true,
    });
  } finally {
    await log.close();
  }
  return labels;
}

/** Default name: `<name>-clone`, then `<name>-clone-2`. */
const findCloneName = (dirs: SessionDirs, name: string): string =>
  findFreeName(`${name}-clone`, (each) => existsSync(sessionFilePath(dirs, each)));

/** Copies a session with all branches; the original stays unchanged and may be open elsewhere. */
export async function cloneSession(dirs: SessionDirs, from: SessionFile, to?: string): Promise<SessionFile> {
  makePrivateDir(sessionsDir(dirs));
  const name = to === undefined ? findCloneName(dirs, from.name) : normalizeSessionName(to);
  const file = sessionFilePath(dirs, name);
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
  dirs: SessionDirs,
  session: SessionFile,
  now: Date = new Date(),
): Promise<TrashedSession> {
  const directory = trashDir(dirs);
  makePrivateDir(directory);
  const fileName = path.basename(session.file);
  const since = findFreeName(formatDateName(now), (each) => existsSync(path.join(directory, `${each}.${fileName}`)));
  const file = path.join(directory, `${since}.${fileName}`);
  await moveJsonl(session.file, file);
  return { name: session.name, file, since };
}

/** Lists the trash, the latest first. */
export function listTrash(dirs: SessionDirs): readonly TrashedSession[] {
  const directory = trashDir(dirs);
  const files = existsSync(directory) ? readdirSync(directory) : [];
  return files
    .flatMap((each): readonly TrashedSession[] => {
      const dot = each.indexOf('.');
      const name = parseSessionFileName(each.slice(dot + 1));
      return name === undefined ? [] : [{ name, file: path.join(directory, each), since: each.slice(0, dot) }];
    })
    .toSorted((a, b) => b.since.localeCompare(a.since));
}

/** Restores the last deleted session with this name, under the same or another name. */
export async function restoreSession(dirs: SessionDirs, name: string, as?: string): Promise<SessionFile> {
  const query = normalizeUnicode(name, 'NFC').trim();
  const trashed = listTrash(dirs).find((each) => each.name === query);
  if (!trashed)
    throw new FairleadError('session/unknown', `There is no session named "${query}" in the trash.`, {
      blame: 'user',
      hint: '"fairlead sessions trash" shows what there is.',
    });
  const target = {
    name: normalizeSessionName(as ?? trashed.name),
    file: path.join(sessionsDir(dirs), toSessionFileName(as ?? trashed.name)),
  };
  makePrivateDir(sessionsDir(dirs));
  await withDuplicateNameError(target.name, () => moveJsonl(trashed.file, target.file));
  return target;
}

/** Empties the trash, including sessions of sub-agents; returns the number of sessions. */
export function emptyTrash(dirs: SessionDirs): number {
  const sessions = listTrash(dirs);
  const deletedIds = new Set(sessions.flatMap(({ file }) => tryRead(() => readSessionId(file)) || []));
  for (const { file } of listSessionFiles(dirs, subagentSessionsDir(dirs)))
    if (deletedIds.has(tryRead(() => readParentSession(file)) ?? '') && !getLockOwner(file))
      withFileError(file, 'delete', () => rmSync(file, { force: true }));
  withFileError(trashDir(dirs), 'empty', () => rmSync(trashDir(dirs), { recursive: true, force: true }));
  return sessions.length;
}

/** Returns the parent session of a sub-agent file, if it is recorded. */
function readParentSession(file: string): string | undefined {
  const annotation = peekSession(file).first('annotation-added');
  const { parent } = annotation?.type === 'annotation-added' && isObject(annotation.value) ? annotation.value : {};
  return typeof parent === 'string' ? parent : undefined;
}

/** One unreadable file must not keep the others. */
function tryRead<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
