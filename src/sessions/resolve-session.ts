// Which session to open in interactive mode: what stands in the way of the one that was asked for is put to the person.
import { existsSync } from 'node:fs';
import type { TerminalUI } from '../cli/tui/ui.ts';
import type { SessionSelector } from '../cli/args/parse-args.ts';
import {
  findSession,
  findFreeName,
  getLockOwner,
  listSessions,
  findLatestSession,
  sessionFilePath,
  normalizeSessionName,
  type LockOwner,
  type SessionFile,
  type SessionDirs,
} from './index.ts';
import { toSessionChoice } from './session-choice.ts';

/** A session that another process writes to. */
export type LockedSession = { readonly sessionFile: SessionFile; readonly owner: LockOwner };

/** The session to open, and who must let go of it first. */
export type SessionResolution = { readonly selector: SessionSelector; readonly locked?: LockedSession };

/** Settles which session to open; nothing if the person would rather leave. */
export async function resolveSession(
  which: SessionSelector,
  shelf: SessionDirs,
  face: TerminalUI,
): Promise<SessionResolution | undefined> {
  if (which.type === 'resume' || which.type === 'latest') return resolveExistingSession(which, shelf, face);
  return which.type === 'ephemeral' || which.name === undefined
    ? { selector: which }
    : resolveSessionName(which, which.name, shelf, face);
}

type ExistingSelector = SessionSelector & { readonly type: 'resume' | 'latest' };

async function resolveExistingSession(
  which: ExistingSelector,
  shelf: SessionDirs,
  face: TerminalUI,
): Promise<SessionResolution | undefined> {
  const place = await findExistingSession(which, shelf, face);
  if (typeof place === 'string') return place === 'none-yet' ? { selector: { type: 'new' } } : undefined;
  const holder = place && getLockOwner(place.file);
  if (!place || !holder) return { selector: place ? { type: 'resume', session: place.name } : which };
  const key = await face.askKey({
    title: `"${place.name}" is being written by ${formatLockOwner(holder)}. What now?`,
    keys: [
      { key: 'w', label: 'watch it' },
      { key: 'c', label: 'go on with a copy' },
      { key: 'l', label: 'leave' },
    ],
    defaultKey: 'l',
  });
  if (key === 'c') return { selector: { type: 'clone', session: place.name } };
  return key === 'w'
    ? { selector: { type: 'resume', session: place.name }, locked: { sessionFile: place, owner: holder } }
    : undefined;
}

/** Where the session is that is to be gone on with: the person picks where none is named. */
async function findExistingSession(
  which: ExistingSelector,
  shelf: SessionDirs,
  face: TerminalUI,
): Promise<SessionFile | 'none-yet' | 'none-picked' | undefined> {
  if (which.type === 'latest') return findLatestSession(shelf);
  if (which.session !== undefined) return findSession(shelf, which.session);
  const sessions = listSessions(shelf);
  if (sessions.length === 0) return 'none-yet';
  const picked = await face.pick('Resume which session?', sessions.map(toSessionChoice));
  return sessions.find(({ name }) => name === picked) ?? 'none-picked';
}

/** The process that writes to a session, in words. */
export const formatLockOwner = ({ pid, host, time }: LockOwner): string => `process ${pid} on ${host} since ${time}`;

/** A new name that is taken already leads to that session, to another name, or out. */
async function resolveSessionName(
  which: SessionSelector & { readonly type: 'new' | 'clone' },
  name: string,
  shelf: SessionDirs,
  face: TerminalUI,
): Promise<SessionResolution | undefined> {
  const isTaken = (each: string): boolean => existsSync(sessionFilePath(shelf, each));
  if (!isTaken(name)) return { selector: which };
  const free = findFreeName(normalizeSessionName(name), isTaken);
  const key = await face.askKey({
    title: `There is already a session named "${normalizeSessionName(name)}". What now?`,
    keys: [
      { key: 'o', label: `call the new one "${free}"` },
      { key: 'r', label: 'resume the old one' },
      { key: 'l', label: 'leave' },
    ],
    defaultKey: 'l',
  });
  if (key === 'o') return { selector: { ...which, name: free } };
  return key === 'r' ? resolveExistingSession({ type: 'resume', session: name }, shelf, face) : undefined;
}
