// The sessions folder: which sessions there are, how each is found, and what is shown of it. The files alone say so; there is no list beside them.
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { FairleadError, closestMatches, messageText } from '../core/index.ts';
import { errnoCode } from '../stores/jsonl/disk.ts';
import { peekSession, readSessionId, type SessionPeek } from '../stores/jsonl/peek.ts';
import { withFileError, makePrivateDir } from '../stores/private-file.ts';
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

/** What a listing shows of a session. */
export type SessionSummary = SessionFile & {
  readonly id: string;
  readonly created: string;
  /** When its last event was written. */
  readonly changed: string;
  readonly size: number;
  /** How many events it has; nothing where that cannot be told from the ends of the file. */
  readonly events: number | undefined;
  readonly model: string | undefined;
  /** The first words that were said in it. */
  readonly first: string | undefined;
};

/** The folder of the session files. */
export const sessionsDir = ({ data }: SessionDirs): string => path.join(data, 'sessions');

/** Where the session of this name is, or would be. */
export const sessionFilePath = (shelf: SessionDirs, name: string): string =>
  path.join(sessionsDir(shelf), toSessionFileName(name));

/** The folder of the sessions of agents that other sessions started: apart, so that no list is crowded with them and none is continued by mistake. */
export const subagentSessionsDir = (shelf: SessionDirs): string => path.join(sessionsDir(shelf), 'agents');

/** Every session's name and file, in no order; of those in this folder. */
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
      if (errnoCode(error) === 'ENOENT') return [];
      throw error;
    }
  });
}

/** Makes place for a new session: of this name, which must be free, or named by date and time. The name is taken from now on, also for other processes. */
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

/** An empty file is a session that has not begun; whoever opens it begins it. */
function reserveFile(file: string): boolean {
  return withFileError(file, 'make', () => {
    try {
      writeFileSync(file, '', { flag: 'wx', mode: 0o600 });
      return true;
    } catch (error) {
      if (errnoCode(error) === 'EEXIST') return false;
      throw error;
    }
  });
}

/** There is a session of this name. */
export const duplicateNameError = (name: string): FairleadError =>
  new FairleadError('session/name-taken', `There is already a session named "${name}".`, {
    blame: 'user',
    hint: 'Choose another name, or resume that one.',
  });

/** Every session that has begun, the one changed last first. Looks at the ends of the files only. */
export function listSessions(shelf: SessionDirs): readonly SessionSummary[] {
  return listSessionFiles(shelf)
    .flatMap((place) => summarizeSession(place) ?? [])
    .toSorted((a, b) => b.changed.localeCompare(a.changed) || a.name.localeCompare(b.name));
}

/** What a listing shows of one session; nothing if it has not begun or cannot be read. */
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

/** A file that vanished or may not be read while others are listed is left out of the list. */
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

/** The session of this name, id, or beginning of an id that only one has; an error names what is near. */
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

/** The session that was written to last; nothing if there is none. */
export function findLatestSession(shelf: SessionDirs): SessionFile | undefined {
  let best: { readonly place: SessionFile; readonly changed: number } | undefined;
  for (const place of listSessionFiles(shelf)) {
    const { size = 0, mtimeMs = 0 } = statSync(place.file, { throwIfNoEntry: false }) ?? {};
    if (size > 0 && mtimeMs > (best?.changed ?? 0)) best = { place, changed: mtimeMs };
  }
  return best?.place;
}
