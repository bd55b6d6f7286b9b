// What can be done to a whole session: rename, clone, put into the trash and take out again. A session that another process writes to is left alone.
import { existsSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { FairleadError, isObject } from '../../core/index.ts';
import { copyJsonl, peekSession, getLockOwner, moveJsonl, type JsonlLog } from '../../stores/index.ts';
import { readSessionId } from '../../stores/jsonl/glimpse.ts';
import { attempt, makeFolder } from '../settings/private-file.ts';
import { dateName, fileNameFor, freeName, nameOf, tidyName } from './names.ts';
import {
  agentFolder,
  nameTaken,
  sessionFile,
  sessionFolder,
  sessionPlaces,
  type SessionPlace,
  type Shelf,
} from './sessions.ts';

/** Renames a session: its file gets another name. One that is open in this process is renamed through its log and stays open. */
export async function renameSession(
  shelf: Shelf,
  from: SessionPlace,
  to: string,
  log?: JsonlLog,
): Promise<SessionPlace> {
  const place = { name: tidyName(to), file: sessionFile(shelf, to) };
  if (place.file === from.file) return place;
  await mustBeFree(place.name, () => (log ? log.move(place.file) : moveJsonl(from.file, place.file)));
  return place;
}

/** Where no name is given: `<name>-clone`, then `<name>-clone-2`. */
const cloneName = (shelf: Shelf, name: string): string =>
  freeName(`${name}-clone`, (each) => existsSync(sessionFile(shelf, each)));

/** Copies a session with all its branches into a new one; the original is left as it is, whoever has it open. */
export async function cloneSession(shelf: Shelf, from: SessionPlace, to?: string): Promise<SessionPlace> {
  makeFolder(sessionFolder(shelf));
  const name = to === undefined ? cloneName(shelf, from.name) : tidyName(to);
  const file = sessionFile(shelf, name);
  await mustBeFree(name, () => copyJsonl(from.file, file));
  return { name, file };
}

async function mustBeFree<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof FairleadError && error.code === 'store/exists' ? nameTaken(name) : error;
  }
}

/** A session in the trash: what it was called and when it was put there. */
export type Trashed = SessionPlace & { readonly since: string };

/** The folder of the sessions that were deleted. */
export const trashFolder = ({ data }: Shelf): string => path.join(data, 'trash');

/** Moves a session into the trash, from where it can be restored. */
export async function trashSession(shelf: Shelf, session: SessionPlace, now: Date = new Date()): Promise<Trashed> {
  const folder = trashFolder(shelf);
  makeFolder(folder);
  const fileName = path.basename(session.file);
  const since = freeName(dateName(now), (each) => existsSync(path.join(folder, `${each}.${fileName}`)));
  const file = path.join(folder, `${since}.${fileName}`);
  await moveJsonl(session.file, file);
  return { name: session.name, file, since };
}

/** What is in the trash, the latest first. */
export function listTrash(shelf: Shelf): readonly Trashed[] {
  const folder = trashFolder(shelf);
  const files = existsSync(folder) ? readdirSync(folder) : [];
  return files
    .flatMap((each): readonly Trashed[] => {
      const dot = each.indexOf('.');
      const name = nameOf(each.slice(dot + 1));
      return name === undefined ? [] : [{ name, file: path.join(folder, each), since: each.slice(0, dot) }];
    })
    .toSorted((a, b) => b.since.localeCompare(a.since));
}

/** Takes the session of this name that was put into the trash last out again, under this name or another. */
export async function restoreSession(shelf: Shelf, name: string, as?: string): Promise<SessionPlace> {
  const wanted = name.normalize('NFC').trim();
  const found = listTrash(shelf).find((each) => each.name === wanted);
  if (!found)
    throw new FairleadError('session/unknown', `There is no session named "${wanted}" in the trash.`, {
      blame: 'user',
      hint: '"fairlead sessions trash" shows what there is.',
    });
  const place = {
    name: tidyName(as ?? found.name),
    file: path.join(sessionFolder(shelf), fileNameFor(as ?? found.name)),
  };
  makeFolder(sessionFolder(shelf));
  await mustBeFree(place.name, () => moveJsonl(found.file, place.file));
  return place;
}

/** Deletes everything in the trash for good, with the agents that those sessions started, and says how many sessions that were. */
export function emptyTrash(shelf: Shelf): number {
  const sessions = listTrash(shelf);
  const gone = new Set(sessions.flatMap(({ file }) => readable(() => readSessionId(file)) || []));
  for (const { file } of sessionPlaces(shelf, agentFolder(shelf)))
    if (gone.has(readable(() => parentIn(file)) ?? '') && !getLockOwner(file))
      attempt(file, 'delete', () => rmSync(file, { force: true }));
  attempt(trashFolder(shelf), 'empty', () => rmSync(trashFolder(shelf), { recursive: true, force: true }));
  return sessions.length;
}

/** The session that started the agent in this file, if it shows. */
function parentIn(file: string): string | undefined {
  const mark = peekSession(file).first('annotation-added');
  const { parent } = mark?.type === 'annotation-added' && isObject(mark.value) ? mark.value : {};
  return typeof parent === 'string' ? parent : undefined;
}

/** One file that cannot be read must not keep the others in the trash. */
function readable<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
