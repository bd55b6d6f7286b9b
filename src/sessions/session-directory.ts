// The session directory: lists, finds and creates session files. There is no index besides the files.
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { FairleadError, closestMatches, messageText, systemErrorCode } from '../core/index.ts';
import { peekSession, readSessionId, type SessionPeek } from '../stores/jsonl/index.ts';
import { withFileError, makePrivateDir } from '../stores/index.ts';
import {
  formatDateName,
  toSessionFileName,
  findFreeName,
  parseSessionFileName,
  normalizeSessionName,
} from './session-names.ts';

/** The data directory, in which the session files are stored. */
export type SessionDirs = { readonly data: string };

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
};

/** Returns the directory of the session files. */
export const sessionsDir = ({ data }: SessionDirs): string => path.join(data, 'sessions');

/** Returns the file of the session with this name, existing or not. */
export const sessionFilePath = (shelf: SessionDirs, name: string): string =>
  path.join(sessionsDir(shelf), toSessionFileName(name));

/** Returns the directory of sub-agent sessions; separate, so that listings do not show them. */
export const subagentSessionsDir = (shelf: SessionDirs): string => path.join(sessionsDir(shelf), 'agents');

/** Returns the names and files of all sessions in a directory, unordered. */
export function listSessionFiles(shelf: SessionDirs, folder: string = sessionsDir(shelf)): readonly SessionFile[] {
  return readDirOrEmpty(folder).flatMap((file) => {
    const name = parseSessionFileName(file);
    return name === undefined ? [] : [{ name, file: path.join(folder, file) }];
  });
}

function readDirOrEmpty(folder: string): readonly string[] {
  return withFileError(folder, 'read', () => {
    try {
      return readdirSync(folder);
    } catch (error) {
      if (systemErrorCode(error) === 'ENOENT') return [];
      throw error;
    }
  });
}

/** Reserves a new session: with this name, which must be free, or named by date and time. Other processes see the name as taken. */
export function createSessionFile(shelf: SessionDirs, name?: string, now: Date = new Date()): SessionFile {
  makePrivateDir(sessionsDir(shelf));
  if (name !== undefined) {
    const place = { name: normalizeSessionName(name), file: sessionFilePath(shelf, name) };
    if (!reserveFile(place.file)) throw duplicateNameError(place.name);
    return place;
  }
  const free = findFreeName(formatDateName(now), (each) => !reserveFile(sessionFilePath(shelf, each)));
  return { name: free, file: sessionFilePath(shelf, free) };
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
export function listSessions(shelf: SessionDirs): readonly SessionSummary[] {
  return listSessionFiles(shelf)
    .flatMap((place) => summarizeSession(place) ?? [])
    .toSorted((a, b) => b.changed.localeCompare(a.changed) || a.name.localeCompare(b.name));
}

/** Returns the listing entry of a session; undefined if it has not started or cannot be read. */
export function summarizeSession(place: SessionFile): SessionSummary | undefined {
  const seen = tryPeek(place.file);
  if (!seen || seen.size === 0) return undefined;
  const { session, created, changed, size, events, time } = seen;
  return {
    ...place,
    id: session,
    created,
    changed: time ?? new Date(changed).toISOString(),
    size,
    events,
    model: getLastModel(seen),
    first: getFirstInput(seen),
  };
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

function getLastModel(seen: SessionPeek): string | undefined {
  const event = seen.last('turn-ended', 'epoch-started');
  return event?.type === 'turn-ended' || event?.type === 'epoch-started' ? event.model : undefined;
}

function getFirstInput(seen: SessionPeek): string | undefined {
  const event = seen.first('input-received');
  if (event?.type !== 'input-received') return undefined;
  return messageText({ role: 'user', parts: event.parts }).slice(0, 200) || undefined;
}

/** Finds a session by name, id or unique id prefix; the error suggests similar names. */
export function findSession(shelf: SessionDirs, nameOrId: string): SessionFile {
  const wanted = nameOrId.normalize('NFC').trim();
  const all = [...listSessionFiles(shelf), ...listSessionFiles(shelf, subagentSessionsDir(shelf))];
  const named = all.find(({ name }) => name === wanted);
  if (named) return named;
  const ids = wanted.length < 4 ? [] : all.map((place) => ({ place, id: readIdOrEmpty(place.file) }));
  const exact = ids.find(({ id }) => id === wanted);
  if (exact) return exact.place;
  const begun = ids.filter(({ id }) => id.startsWith(wanted.toLowerCase()));
  if (begun.length === 1 && begun[0]) return begun[0].place;
  throw begun.length > 1 ? ambiguousSessionError(wanted, begun) : unknownSessionError(wanted, all);
}

const quoteNames = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(', ');

const ambiguousSessionError = (wanted: string, found: readonly { readonly place: SessionFile }[]): FairleadError =>
  new FairleadError('session/ambiguous', `The ids of ${found.length} sessions begin with "${wanted}".`, {
    blame: 'user',
    hint: `Give more of the id, or a name: ${quoteNames(found.slice(0, 5).map(({ place }) => place.name))}.`,
  });

function unknownSessionError(wanted: string, all: readonly SessionFile[]): FairleadError {
  const near = closestMatches(
    wanted,
    all.map(({ name }) => name),
  );
  const hint = near.length > 0 ? `Did you mean ${near.map((name) => `"${name}"`).join(' or ')}?` : undefined;
  return new FairleadError('session/unknown', `There is no session with the name or id "${wanted}".`, {
    blame: 'user',
    hint: hint ?? '"fairlead sessions list" shows what there is.',
  });
}

/** Returns the session that was written last, if there is one. */
export function findLatestSession(shelf: SessionDirs): SessionFile | undefined {
  let best: { readonly place: SessionFile; readonly changed: number } | undefined;
  for (const place of listSessionFiles(shelf)) {
    const { size = 0, mtimeMs = 0 } = statSync(place.file, { throwIfNoEntry: false }) ?? {};
    if (size > 0 && mtimeMs > (best?.changed ?? 0)) best = { place, changed: mtimeMs };
  }
  return best?.place;
}
