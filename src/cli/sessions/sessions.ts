// The sessions folder: which sessions there are, how each is found, and what is shown of it. The files alone say so; there is no list beside them.
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { FairleadError, closestMatches, messageText } from '../../core/index.ts';
import { errnoCode } from '../../stores/jsonl/disk.ts';
import { peekSession, readSessionId, type SessionPeek } from '../../stores/jsonl/glimpse.ts';
import type { Places } from '../settings/places.ts';
import { attempt, makeFolder } from '../settings/private-file.ts';
import { dateName, fileNameFor, freeName, nameOf, tidyName } from './names.ts';

/** Where sessions are kept: the program's data folder. */
export type Shelf = Pick<Places, 'data'>;

/** A session and its file. */
export type SessionPlace = { readonly name: string; readonly file: string };

/** What a listing shows of a session. */
export type SessionSummary = SessionPlace & {
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
export const sessionFolder = ({ data }: Shelf): string => path.join(data, 'sessions');

/** Where the session of this name is, or would be. */
export const sessionFile = (shelf: Shelf, name: string): string => path.join(sessionFolder(shelf), fileNameFor(name));

/** The folder of the sessions of agents that other sessions started: apart, so that no list is crowded with them and none is continued by mistake. */
export const agentFolder = (shelf: Shelf): string => path.join(sessionFolder(shelf), 'agents');

/** Every session's name and file, in no order; of those in this folder. */
export function sessionPlaces(shelf: Shelf, folder: string = sessionFolder(shelf)): readonly SessionPlace[] {
  return filesIn(folder).flatMap((file) => {
    const name = nameOf(file);
    return name === undefined ? [] : [{ name, file: path.join(folder, file) }];
  });
}

function filesIn(folder: string): readonly string[] {
  return attempt(folder, 'read', () => {
    try {
      return readdirSync(folder);
    } catch (error) {
      if (errnoCode(error) === 'ENOENT') return [];
      throw error;
    }
  });
}

/** Makes place for a new session: of this name, which must be free, or named by date and time. The name is taken from now on, also for other processes. */
export function newSession(shelf: Shelf, name?: string, now: Date = new Date()): SessionPlace {
  makeFolder(sessionFolder(shelf));
  if (name !== undefined) {
    const place = { name: tidyName(name), file: sessionFile(shelf, name) };
    if (!reserve(place.file)) throw nameTaken(place.name);
    return place;
  }
  const free = freeName(dateName(now), (each) => !reserve(sessionFile(shelf, each)));
  return { name: free, file: sessionFile(shelf, free) };
}

/** An empty file is a session that has not begun; whoever opens it begins it. */
function reserve(file: string): boolean {
  return attempt(file, 'make', () => {
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
export const nameTaken = (name: string): FairleadError =>
  new FairleadError('session/name-taken', `There is already a session named "${name}".`, {
    blame: 'user',
    hint: 'Choose another name, or resume that one.',
  });

/** Every session that has begun, the one changed last first. Looks at the ends of the files only. */
export function listSessions(shelf: Shelf): readonly SessionSummary[] {
  return sessionPlaces(shelf)
    .flatMap((place) => summaryOf(place) ?? [])
    .toSorted((a, b) => b.changed.localeCompare(a.changed) || a.name.localeCompare(b.name));
}

/** What a listing shows of one session; nothing if it has not begun or cannot be read. */
export function summaryOf(place: SessionPlace): SessionSummary | undefined {
  const seen = look(place.file);
  if (!seen || seen.size === 0) return undefined;
  const { session, created, changed, size, events, time } = seen;
  return {
    ...place,
    id: session,
    created,
    changed: time ?? new Date(changed).toISOString(),
    size,
    events,
    model: modelOf(seen),
    first: firstWords(seen),
  };
}

/** A file that vanished or may not be read while others are listed is left out of the list. */
function look(file: string): SessionPeek | undefined {
  try {
    return peekSession(file);
  } catch {
    return undefined;
  }
}

function idIn(file: string): string {
  try {
    return readSessionId(file);
  } catch {
    return '';
  }
}

function modelOf(seen: SessionPeek): string | undefined {
  const event = seen.last('turn-ended', 'epoch-started');
  return event?.type === 'turn-ended' || event?.type === 'epoch-started' ? event.model : undefined;
}

function firstWords(seen: SessionPeek): string | undefined {
  const event = seen.first('input-received');
  if (event?.type !== 'input-received') return undefined;
  return messageText({ role: 'user', parts: event.parts }).slice(0, 200) || undefined;
}

/** The session of this name, id, or beginning of an id that only one has; an error names what is near. */
export function findSession(shelf: Shelf, nameOrId: string): SessionPlace {
  const wanted = nameOrId.normalize('NFC').trim();
  const all = [...sessionPlaces(shelf), ...sessionPlaces(shelf, agentFolder(shelf))];
  const named = all.find(({ name }) => name === wanted);
  if (named) return named;
  const ids = wanted.length < 4 ? [] : all.map((place) => ({ place, id: idIn(place.file) }));
  const exact = ids.find(({ id }) => id === wanted);
  if (exact) return exact.place;
  const begun = ids.filter(({ id }) => id.startsWith(wanted.toLowerCase()));
  if (begun.length === 1 && begun[0]) return begun[0].place;
  throw begun.length > 1 ? severalSessions(wanted, begun) : noSession(wanted, all);
}

const quoted = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(', ');

const severalSessions = (wanted: string, found: readonly { readonly place: SessionPlace }[]): FairleadError =>
  new FairleadError('session/ambiguous', `The ids of ${found.length} sessions begin with "${wanted}".`, {
    blame: 'user',
    hint: `Give more of the id, or a name: ${quoted(found.slice(0, 5).map(({ place }) => place.name))}.`,
  });

function noSession(wanted: string, all: readonly SessionPlace[]): FairleadError {
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
export function mostRecent(shelf: Shelf): SessionPlace | undefined {
  let best: { readonly place: SessionPlace; readonly changed: number } | undefined;
  for (const place of sessionPlaces(shelf)) {
    const { size = 0, mtimeMs = 0 } = statSync(place.file, { throwIfNoEntry: false }) ?? {};
    if (size > 0 && mtimeMs > (best?.changed ?? 0)) best = { place, changed: mtimeMs };
  }
  return best?.place;
}
