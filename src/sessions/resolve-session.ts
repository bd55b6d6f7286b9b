// Resolves which session to open interactively: asks the user if the name is taken or the session is locked.
import type { SessionSelector } from './open-session.ts';
import { existsSync } from 'node:fs';
import { getLockOwner, type LockOwner } from '../stores/index.ts';
import {
  findLatestSession,
  findSession,
  listSessions,
  sessionFilePath,
  type SessionDirs,
  type SessionFile,
  type SessionSummary,
} from './session-directory.ts';
import { findFreeName, normalizeSessionName } from './session-names.ts';

/** One of several sessions to choose from. */
export type SessionChoice = { readonly value: string; readonly label: string; readonly description?: string };

/** Asks the user which session to open; the UI of the terminal implements it. */
export type SessionPrompter = {
  askKey(question: {
    readonly title: string;
    readonly keys: readonly { readonly key: string; readonly label: string }[];
    readonly defaultKey: string;
  }): Promise<string>;
  /** Returns the value of the choice, or nothing if the user cancels. */
  pick(title: string, choices: readonly SessionChoice[]): Promise<string | undefined>;
};

/** A session as a choice: its name, when it changed, and its first message. */
export const toSessionChoice = ({ name, changed, first = '' }: SessionSummary): SessionChoice => ({
  value: name,
  label: name,
  description: `${changed.slice(0, 16).replace('T', ' ')}  ${first.replaceAll(/\s+/g, ' ').slice(0, 60)}`.trim(),
});

/** A session that another process has locked. */
export type LockedSession = { readonly sessionFile: SessionFile; readonly owner: LockOwner };

/** The session to open, and the process that must release it first. */
export type SessionResolution = { readonly selector: SessionSelector; readonly locked?: LockedSession };

/** Resolves which session to open; undefined if the user cancels. */
export async function resolveSession(
  which: SessionSelector,
  shelf: SessionDirs,
  prompter: SessionPrompter,
): Promise<SessionResolution | undefined> {
  if (which.type === 'resume' || which.type === 'latest') return resolveExistingSession(which, shelf, prompter);
  return which.type === 'ephemeral' || which.name === undefined
    ? { selector: which }
    : resolveSessionName(which, which.name, shelf, prompter);
}

type ExistingSelector = SessionSelector & { readonly type: 'resume' | 'latest' };

async function resolveExistingSession(
  which: ExistingSelector,
  shelf: SessionDirs,
  prompter: SessionPrompter,
): Promise<SessionResolution | undefined> {
  const place = await findExistingSession(which, shelf, prompter);
  if (typeof place === 'string') return place === 'none-yet' ? { selector: { type: 'new' } } : undefined;
  const holder = place && getLockOwner(place.file);
  if (!place || !holder) return { selector: place ? { type: 'resume', session: place.name } : which };
  const key = await prompter.askKey({
    title: `"${place.name}" is being written by ${formatLockOwner(holder)}. What now?`,
    keys: [
      { key: 'w', label: 'watch it' },
      { key: 'c', label: 'continue with a copy' },
      { key: 'l', label: 'leave' },
    ],
    defaultKey: 'l',
  });
  if (key === 'c') return { selector: { type: 'clone', session: place.name } };
  return key === 'w'
    ? { selector: { type: 'resume', session: place.name }, locked: { sessionFile: place, owner: holder } }
    : undefined;
}

/** Finds the session to continue; the user picks one if none is named. */
async function findExistingSession(
  which: ExistingSelector,
  shelf: SessionDirs,
  prompter: SessionPrompter,
): Promise<SessionFile | 'none-yet' | 'none-picked' | undefined> {
  if (which.type === 'latest') return findLatestSession(shelf);
  if (which.session !== undefined) return findSession(shelf, which.session);
  const sessions = listSessions(shelf);
  if (sessions.length === 0) return 'none-yet';
  const picked = await prompter.pick('Resume which session?', sessions.map(toSessionChoice));
  return sessions.find(({ name }) => name === picked) ?? 'none-picked';
}

/** Formats the process that holds the lock. */
export const formatLockOwner = ({ pid, host, time }: LockOwner): string => `process ${pid} on ${host} since ${time}`;

/** Handles a new name that is taken: open that session, choose another name, or cancel. */
async function resolveSessionName(
  which: SessionSelector & { readonly type: 'new' | 'clone' },
  name: string,
  shelf: SessionDirs,
  prompter: SessionPrompter,
): Promise<SessionResolution | undefined> {
  const isTaken = (each: string): boolean => existsSync(sessionFilePath(shelf, each));
  if (!isTaken(name)) return { selector: which };
  const free = findFreeName(normalizeSessionName(name), isTaken);
  const key = await prompter.askKey({
    title: `There is already a session named "${normalizeSessionName(name)}". What now?`,
    keys: [
      { key: 'o', label: `call the new one "${free}"` },
      { key: 'r', label: 'resume the old one' },
      { key: 'l', label: 'leave' },
    ],
    defaultKey: 'l',
  });
  if (key === 'o') return { selector: { ...which, name: free } };
  return key === 'r' ? resolveExistingSession({ type: 'resume', session: name }, shelf, prompter) : undefined;
}
