// Resolves which session to open interactively: asks the user if the name is taken or the session is locked.
import type { SessionSelector } from './open-session.ts';
import { existsSync } from 'node:fs';
import { FairleadError } from '../core/index.ts';
import { getLockOwner, type LockOwner } from '../stores/index.ts';
import {
  findLatestSession,
  findSession,
  listSessions,
  sessionFilePath,
  sortByFolder,
  type SessionDirs,
  type SessionFile,
  type SessionSummary,
} from './session-directory.ts';
import { isSameFolder, readSessionLabels, readSessionModel, type SessionModel } from './session-labels.ts';
import { previewText } from './reports/index.ts';
import { findFreeName, normalizeSessionName } from './session-names.ts';

/** One of several sessions to choose from. */
export type SessionChoice = { readonly value: string; readonly label: string; readonly description?: string };

/** Finds sessions by the words in their messages. */
export type SessionSearch = (query: string, signal: AbortSignal) => AsyncIterable<SessionChoice>;

/** Asks the user which session to open; the UI of the terminal implements it. */
export type SessionPrompter = {
  askKey(question: {
    readonly title: string;
    readonly keys: readonly { readonly key: string; readonly label: string }[];
    readonly defaultKey: string;
  }): Promise<string>;
  /** Returns the value of the choice, or nothing if the user cancels. */
  pick(
    title: string,
    choices: readonly SessionChoice[],
    options?: { readonly noun?: string; readonly search?: SessionSearch },
  ): Promise<string | undefined>;
};

const formatTime = (time: string): string => time.slice(0, 16).replace('T', ' ');

/** A session as a completion: its name, when it changed, and its first message. */
export const toSessionChoice = ({ name, changed, first = '' }: SessionSummary): SessionChoice => ({
  value: name,
  label: name,
  description: `${formatTime(changed)}  ${first.replaceAll(/\s+/g, ' ').slice(0, 60)}`.trim(),
});

const maxListedTitleChars = 50;

/** Sessions as a list to choose from: the title, when it changed, the folder if it is another one, and the name. Those of the folder come first. */
export function toSessionChoices(sessions: readonly SessionSummary[], folder: string): readonly SessionChoice[] {
  const { own, others } = sortByFolder(sessions, folder);
  const toChoice =
    (isOwn: boolean) =>
    (each: SessionSummary): SessionChoice => ({
      value: each.name,
      // A long title would leave no room for the time.
      label: previewText(each.title, maxListedTitleChars),
      description: [
        formatTime(each.changed),
        ...(each.waiting ? ['waiting for approval'] : []),
        ...(isOwn ? [] : [each.folder ?? 'folder unknown']),
        each.title === each.name ? previewText(each.first ?? '') : each.name,
      ].join('  '),
    });
  return [...own.map(toChoice(true)), ...others.map(toChoice(false))];
}

const maxFoundTitleChars = 36;

/** Creates the search of a list of sessions: titles and messages that contain all words, with a part of the text. */
export const createSessionSearch = (
  dirs: SessionDirs,
  folder: string,
  isListed: (session: SessionSummary) => boolean = () => true,
): SessionSearch =>
  async function* search(query, signal) {
    const { searchSessions } = await import('./search-sessions.ts');
    for await (const match of searchSessions(dirs, query, { folder, signal }))
      if (isListed(match))
        yield {
          value: match.name,
          // The part of the text is what the user looks for, so the title leaves room for it.
          label: previewText(match.title, maxFoundTitleChars),
          description: [
            formatTime(match.changed),
            ...(match.folder === undefined || isSameFolder(match.folder, folder) ? [] : [match.folder]),
            match.excerpt,
          ].join('  '),
        };
  };

/** A session that another process has locked. */
export type LockedSession = { readonly sessionFile: SessionFile; readonly owner: LockOwner };

/** The session to open, the process that must release it first, and the folder to work in if it is not the current one. */
export type SessionResolution = {
  readonly selector: SessionSelector;
  readonly locked?: LockedSession;
  readonly folder?: string;
};

/** Where a session is resolved: the current folder, and whether the user named it as the folder to work in. */
export type SessionLocation = { readonly cwd: string; readonly isChosen: boolean };

/** Resolves which session to open; undefined if the user cancels. */
export async function resolveSession(
  selector: SessionSelector,
  dirs: SessionDirs,
  prompter: SessionPrompter,
  location: SessionLocation,
): Promise<SessionResolution | undefined> {
  const found = await resolveSelector(selector, dirs, prompter, location.cwd);
  const sessionFile = found && findSelectedFile(found.selector, dirs);
  if (!sessionFile || location.isChosen) return found;
  const folder = await chooseFolder(sessionFile, location.cwd, prompter);
  return folder === undefined ? undefined : isSameFolder(folder, location.cwd) ? found : { ...found, folder };
}

function resolveSelector(
  selector: SessionSelector,
  dirs: SessionDirs,
  prompter: SessionPrompter,
  cwd: string,
): Promise<SessionResolution | undefined> | SessionResolution {
  if (selector.type === 'resume' || selector.type === 'latest')
    return resolveExistingSession(selector, dirs, prompter, cwd);
  return selector.type === 'ephemeral' || selector.type === 'fork' || selector.name === undefined
    ? { selector }
    : resolveSessionName(selector, selector.name, dirs, prompter, cwd);
}

/** The existing session of a selector. */
const findSelectedFile = (selector: SessionSelector, dirs: SessionDirs): SessionFile | undefined =>
  (selector.type === 'resume' || selector.type === 'clone') && selector.session !== undefined
    ? findSession(dirs, selector.session)
    : undefined;

/**
 * Asks where to run a session of another folder: its commands and files belong to that folder. Returns the current folder, the folder of the session, or
 * undefined if the user cancels.
 */
export async function chooseFolder(
  { file, name }: SessionFile,
  cwd: string,
  prompter: Pick<SessionPrompter, 'askKey'>,
): Promise<string | undefined> {
  const { folder } = readSessionLabels(file);
  if (folder === undefined || isSameFolder(folder, cwd)) return cwd;
  const exists = existsSync(folder);
  const key = await prompter.askKey({
    title: `The session "${name}" belongs to ${folder}${exists ? '' : ', which no longer exists'}. Where should it run?`,
    keys: [
      ...(exists ? [{ key: 't', label: `there: ${folder}` }] : []),
      { key: 'h', label: `here: ${cwd}` },
      { key: 'l', label: 'leave' },
    ],
    defaultKey: 'l',
  });
  if (key === 't') return folder;
  return key === 'h' ? cwd : undefined;
}

/** Throws if the session of a selector belongs to another folder than the current one: without a user to ask, nothing runs in the wrong folder. */
export function assertSessionFolder(selector: SessionSelector, dirs: SessionDirs, cwd: string): void {
  const sessionFile = findSelectedFile(selector, dirs);
  const folder = sessionFile && readSessionLabels(sessionFile.file).folder;
  if (!sessionFile || folder === undefined || isSameFolder(folder, cwd)) return;
  throw new FairleadError('session/other-folder', `The session "${sessionFile.name}" belongs to ${folder}.`, {
    blame: 'user',
    hint: `To run it there: --cwd ${JSON.stringify(folder)}; to run it here: --cwd .`,
  });
}

/** The model of the existing session of a selector; undefined if there is none, or if it is not recorded. */
export function readSelectedModel(selector: SessionSelector, dirs: SessionDirs, cwd: string): SessionModel | undefined {
  const sessionFile = selector.type === 'latest' ? findLatestSession(dirs, cwd) : findSelectedFile(selector, dirs);
  return sessionFile && readSessionModel(sessionFile.file);
}

type ExistingSelector = SessionSelector & { readonly type: 'resume' | 'latest' };

async function resolveExistingSession(
  selector: ExistingSelector,
  dirs: SessionDirs,
  prompter: SessionPrompter,
  cwd: string,
): Promise<SessionResolution | undefined> {
  const sessionFile = await findExistingSession(selector, dirs, prompter, cwd);
  if (typeof sessionFile === 'string') return sessionFile === 'none-yet' ? { selector: { type: 'new' } } : undefined;
  const owner = sessionFile && getLockOwner(sessionFile.file);
  if (!sessionFile || !owner)
    return { selector: sessionFile ? { type: 'resume', session: sessionFile.name } : selector };
  const key = await prompter.askKey({
    title: `The session "${sessionFile.name}" is open in another process (${owner.pid} on ${owner.host}). Choose:`,
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
  cwd: string,
): Promise<SessionFile | 'none-yet' | 'none-picked' | undefined> {
  if (selector.type === 'latest') return findLatestSession(dirs, cwd);
  if (selector.session !== undefined) return findSession(dirs, selector.session);
  const sessions = listSessions(dirs);
  if (sessions.length === 0) return 'none-yet';
  const picked = await prompter.pick('Resume which session?', toSessionChoices(sessions, cwd), {
    noun: 'sessions',
    search: createSessionSearch(dirs, cwd),
  });
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
  cwd: string,
): Promise<SessionResolution | undefined> {
  const isTaken = (each: string): boolean => existsSync(sessionFilePath(dirs, each));
  if (!isTaken(name)) return { selector };
  const free = findFreeName(normalizeSessionName(name), isTaken);
  const key = await prompter.askKey({
    title: `There is already a session named "${normalizeSessionName(name)}". Choose:`,
    keys: [
      { key: 'o', label: `call the new one "${free}"` },
      { key: 'r', label: 'resume the old one' },
      { key: 'l', label: 'leave' },
    ],
    defaultKey: 'l',
  });
  if (key === 'o') return { selector: { ...selector, name: free } };
  return key === 'r' ? resolveExistingSession({ type: 'resume', session: name }, dirs, prompter, cwd) : undefined;
}
