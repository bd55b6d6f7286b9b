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
  selector: SessionSelector,
  dirs: SessionDirs,
  prompter: SessionPrompter,
): Promise<SessionResolution | undefined> {
  if (selector.type === 'resume' || selector.type === 'latest') return resolveExistingSession(selector, dirs, prompter);
  return selector.type === 'ephemeral' || selector.name === undefined
    ? { selector }
    : resolveSessionName(selector, selector.name, dirs, prompter);
}

type ExistingSelector = SessionSelector & { readonly type: 'resume' | 'latest' };

async function resolveExistingSession(
  selector: ExistingSelector,
  dirs: SessionDirs,
  prompter: SessionPrompter,
): Promise<SessionResolution | undefined> {
  const sessionFile = await findExistingSession(selector, dirs, prompter);
  if (typeof sessionFile === 'string') return sessionFile === 'none-yet' ? { selector: { type: 'new' } } : undefined;
  const owner = sessionFile && getLockOwner(sessionFile.file);
  if (!sessionFile || !owner)
    return { selector: sessionFile ? { type: 'resume', session: sessionFile.name } : selector };
  const key = await prompter.askKey({
    title: `"${sessionFile.name}" is being written by ${formatLockOwner(owner)}. What now?`,
    keys: [
      { key: 'w', label: 'watch it' },
      { key: 'c', label: 'continue with a copy' },
      { key: 'l', label: 'leave' },
    ],
    defaultKey: 'l',
  });
  if (key === 'c') return { selector: { type: 'clone', session: sessionFile.name } };
  return key === 'w'
    ? { selector: { type: 'resume', session: sessionFile.name }, locked: { sessionFile, owner } }
    : undefined;
}

/** Finds the session to continue; the user picks one if none is named. */
async function findExistingSession(
  selector: ExistingSelector,
  dirs: SessionDirs,
  prompter: SessionPrompter,
): Promise<SessionFile | 'none-yet' | 'none-picked' | undefined> {
  if (selector.type === 'latest') return findLatestSession(dirs);
  if (selector.session !== undefined) return findSession(dirs, selector.session);
  const sessions = listSessions(dirs);
  if (sessions.length === 0) return 'none-yet';
  const picked = await prompter.pick('Resume which session?', sessions.map(toSessionChoice));
  return sessions.find(({ name }) => name === picked) ?? 'none-picked';
}

/** Formats the process that holds the lock. */
export const formatLockOwner = ({ pid, host, time }: LockOwner): string => `process ${pid} on ${host} since ${time}`;

/** Handles a new name that is taken: open that session, choose another name, or cancel. */
async function resolveSessionName(
  selector: SessionSelector & { readonly type: 'new' | 'clone' },
  name: string,
  dirs: SessionDirs,
  prompter: SessionPrompter,
): Promise<SessionResolution | undefined> {
  const isTaken = (each: string): boolean => existsSync(sessionFilePath(dirs, each));
  if (!isTaken(name)) return { selector };
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
  if (key === 'o') return { selector: { ...selector, name: free } };
  return key === 'r' ? resolveExistingSession({ type: 'resume', session: name }, dirs, prompter) : undefined;
}
