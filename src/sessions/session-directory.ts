// The session directory: lists, finds and creates session files. There is no index besides the files.
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { FairleadError, closestMatches, normalizeUnicode, systemErrorCode, type Event } from '../core/index.ts';
import { peekSession, readSessionId, type SessionPeek } from '../stores/jsonl/index.ts';
import { withFileError, makePrivateDir } from '../stores/index.ts';
import {
  formatDateName,
  toSessionFileName,
  findFreeName,
  parseSessionFileName,
  normalizeSessionName,
} from './session-names.ts';
import { getSessionTitle, isSameFolder, peekLabels } from './session-labels.ts';
import { typedText } from './reports/branch-path.ts';

/** The data directory, in which the session files are stored. */
export type SessionDirs = {
  readonly data: string;
  /** Where the last line of each session file is recorded; absent: nothing is recorded. */
  readonly state?: string;
};

/** A session and its file. */
export type SessionFile = { readonly name: string; readonly file: string };

/** A session in a listing. */
export type SessionSummary = SessionFile & {
  readonly id: string;
  readonly created: string;
  /** Time of the last event. */
  readonly changed: string;
  readonly size: number;
  /** Number of events; absent if the ends of the file do not show it. */
  readonly events: number | undefined;
  readonly model: string | undefined;
  /** The first user message. */
  readonly first: string | undefined;
  /** The title that the user chose, the name that the user gave, or the first message. */
  readonly title: string;
  /** The folder that the session works in; undefined in files of older versions. */
  readonly folder: string | undefined;
  /** Whether its last run waits for an approval. */
  readonly waiting: boolean;
};

/** Returns the directory of the session files. */
export const sessionsDir = ({ data }: SessionDirs): string => path.join(data, 'sessions');

/** Returns the file of the session with this name, existing or not. */
export const sessionFilePath = (dirs: SessionDirs, name: string): string =>
  path.join(sessionsDir(dirs), toSessionFileName(name));

/** Returns the directory of sub-agent sessions; separate, so that listings do not show them. */
export const subagentSessionsDir = (dirs: SessionDirs): string => path.join(sessionsDir(dirs), 'agents');

/** Returns the names and files of all sessions in a directory, unordered. */
export function listSessionFiles(dirs: SessionDirs, directory: string = sessionsDir(dirs)): readonly SessionFile[] {
  return readDirOrEmpty(directory).flatMap((file) => {
    const name = parseSessionFileName(file);
    return name === undefined ? [] : [{ name, file: path.join(directory, file) }];
  });
}

function readDirOrEmpty(directory: string): readonly string[] {
  return withFileError(directory, 'read', () => {
    try {
      return readdirSync(directory);
    } catch (error) {
      if (systemErrorCode(error) === 'ENOENT') return [];
      throw error;
    }
  });
}

/** Reserves a new session: with this name, which must be free, or named by date and time. Other processes see the name as taken. */
export function createSessionFile(dirs: SessionDirs, name?: string, now: Date = new Date()): SessionFile {
  makePrivateDir(sessionsDir(dirs));
  if (name !== undefined) {
    const sessionFile = { name: normalizeSessionName(name), file: sessionFilePath(dirs, name) };
    if (!reserveFile(sessionFile.file)) throw duplicateNameError(sessionFile.name);
    return sessionFile;
  }
  const free = findFreeName(formatDateName(now), (each) => !reserveFile(sessionFilePath(dirs, each)));
  return { name: free, file: sessionFilePath(dirs, free) };
}

/** Creates an empty file: a session that has not started. */
function reserveFile(file: string): boolean {
  return withFileError(file, 'make', () => {
    try {
      writeFileSync(file, '', { flag: 'wx', mode: 0o600 });
      return true;
    } catch (error) {
      if (systemErrorCode(error) === 'EEXIST') return false;
      throw error;
    }
  });
}

/** The error for a name that is taken. */
export const duplicateNameError = (name: string): FairleadError =>
  new FairleadError('session/name-taken', `There is already a session named "${name}".`, {
    blame: 'user',
    hint: 'Choose another name, or resume that one.',
  });

/** Lists all started sessions, the last changed first. Reads only the ends of the files. */
export function listSessions(dirs: SessionDirs): readonly SessionSummary[] {
  return listSessionFiles(dirs)
    .flatMap((sessionFile) => summarizeSession(sessionFile) ?? [])
    .toSorted((a, b) => b.changed.localeCompare(a.changed) || a.name.localeCompare(b.name));
}

/** Returns the listing entry of a session; undefined if it has not started or cannot be read. */
export function summarizeSession(sessionFile: SessionFile): SessionSummary | undefined {
  const preview = tryPeek(sessionFile.file);
  if (!preview || preview.size === 0) return undefined;
  const { session, created, changed, size, events, time } = preview;
  const labels = peekLabels(preview);
  const first = getFirstInput(preview);
  return {
    ...sessionFile,
    id: session,
    created,
    changed: time ?? new Date(changed).toISOString(),
    size,
    events,
    model: getLastModel(preview),
    first,
    title: getSessionTitle({ name: sessionFile.name, title: labels.title, first }),
    folder: labels.folder,
    waiting: isWaiting(preview),
  };
}

/** Whether a run has an approval that was requested and not resolved. Most sessions end with their run, so only few are searched. */
function isWaiting(preview: SessionPeek): boolean {
  if (preview.last('approval-requested', 'run-ended', 'branch-started')?.type !== 'approval-requested') return false;
  const since = preview.last('turn-ended', 'run-started')?.seq ?? 0;
  const settled = new Set<string>();
  for (const type of ['approval-resolved', 'tool-ended'] as const)
    preview.lastWanted(type, (event) => {
      if ('call' in event) settled.add(event.call);
      return event.seq < since;
    });
  const isOpen = (event: Event): boolean =>
    event.type === 'approval-requested' &&
    event.seq > since &&
    event.kind !== 'client-tool' &&
    !settled.has(event.call);
  return preview.lastWanted('approval-requested', isOpen) !== undefined;
}

/** A file that vanished or is not readable is omitted. */
function tryPeek(file: string): SessionPeek | undefined {
  try {
    return peekSession(file);
  } catch {
    return undefined;
  }
}

function readIdOrEmpty(file: string): string {
  try {
    return readSessionId(file);
  } catch {
    return '';
  }
}

function getLastModel(preview: SessionPeek): string | undefined {
  const event = preview.last('turn-ended', 'epoch-started');
  return event?.type === 'turn-ended' || event?.type === 'epoch-started' ? event.model : undefined;
}

function getFirstInput(preview: SessionPeek): string | undefined {
  // The text of a hook comes before the prompt that it belongs to, and is not what the user wrote.
  const event = preview.first('input-received', (each) => each.type === 'input-received' && each.by === undefined);
  if (event?.type !== 'input-received') return undefined;
  return typedText(event.parts).slice(0, 200) || undefined;
}

/** Finds a session by name, id or unique id prefix; the error suggests similar names. */
export function findSession(dirs: SessionDirs, nameOrId: string): SessionFile {
  const query = normalizeUnicode(nameOrId, 'NFC').trim();
  const sessions = [...listSessionFiles(dirs), ...listSessionFiles(dirs, subagentSessionsDir(dirs))];
  const named = sessions.find(({ name }) => name === query);
  if (named) return named;
  const ids =
    query.length < 4 ? [] : sessions.map((sessionFile) => ({ sessionFile, id: readIdOrEmpty(sessionFile.file) }));
  const exact = ids.find(({ id }) => id === query);
  if (exact) return exact.sessionFile;
  const matches = ids.filter(({ id }) => id.startsWith(query.toLowerCase()));
  if (matches.length === 1 && matches[0]) return matches[0].sessionFile;
  throw matches.length > 1 ? ambiguousSessionError(query, matches) : unknownSessionError(query, sessions);
}

const quoteNames = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(', ');

const ambiguousSessionError = (
  query: string,
  matches: readonly { readonly sessionFile: SessionFile }[],
): FairleadError =>
  new FairleadError('session/ambiguous', `The ids of ${matches.length} sessions begin with "${query}".`, {
    blame: 'user',
    hint: `Give more of the id, or a name: ${quoteNames(matches.slice(0, 5).map(({ sessionFile }) => sessionFile.name))}.`,
  });

function unknownSessionError(query: string, sessions: readonly SessionFile[]): FairleadError {
  const similarNames = closestMatches(
    query,
    sessions.map(({ name }) => name),
  );
  const hint =
    similarNames.length > 0 ? `Did you mean ${similarNames.map((name) => `"${name}"`).join(' or ')}?` : undefined;
  return new FairleadError('session/unknown', `There is no session with the name or id "${query}".`, {
    blame: 'user',
    hint: hint ?? '"fairlead sessions list" shows what there is.',
  });
}

/** Returns the session that was written last, if there is one; with a folder, the last one of that folder. */
export function findLatestSession(dirs: SessionDirs, folder?: string): SessionFile | undefined {
  return listSessionFiles(dirs)
    .map((sessionFile) => {
      const { size = 0, mtimeMs = 0 } = statSync(sessionFile.file, { throwIfNoEntry: false }) ?? {};
      return { sessionFile, size, mtimeMs };
    })
    .filter(({ size }) => size > 0)
    .toSorted((a, b) => b.mtimeMs - a.mtimeMs)
    .find(({ sessionFile }) => folder === undefined || isSessionOf(sessionFile, folder))?.sessionFile;
}

function isSessionOf(sessionFile: SessionFile, folder: string): boolean {
  const preview = tryPeek(sessionFile.file);
  const own = preview && peekLabels(preview).folder;
  return own !== undefined && isSameFolder(own, folder);
}

/** Puts the sessions of a folder first, each part in the given order. */
export function sortByFolder<T extends Pick<SessionSummary, 'folder'>>(
  sessions: readonly T[],
  folder: string,
): { readonly own: readonly T[]; readonly others: readonly T[] } {
  const isOwn = ({ folder: each }: T): boolean => each !== undefined && isSameFolder(each, folder);
  return { own: sessions.filter(isOwn), others: sessions.filter((each) => !isOwn(each)) };
}

/** How many characters of an id are shown if they are unique. */
const shortIdChars = 8;

/** Returns the shortest start of a session id, of at least eight characters, that no other session has. */
export function getShortSessionId(dirs: SessionDirs, id: string): string {
  const others = listSessionFiles(dirs).map(({ file }) => readIdOrEmpty(file));
  let length = shortIdChars;
  while (length < id.length && others.some((each) => each !== id && each.startsWith(id.slice(0, length)))) length++;
  return id.slice(0, length);
}
