// Opens a session: new, existing, cloned, or in memory only.
import { existsSync, rmSync } from 'node:fs';
import { Session } from '../agent/index.ts';
import { FairleadError, sessionLabelsKey, type Message, type ResolvedAgent } from '../core/index.ts';
import { getLockOwner, type JsonlLog } from '../stores/index.ts';
import {
  createSessionFile,
  findLatestSession,
  findSession,
  sessionFilePath,
  summarizeSession,
  type SessionDirs,
  type SessionFile,
} from './session-directory.ts';
import { findRewrittenHead, recordHead } from './known-heads.ts';
import { normalizeTitle, readSessionLabels, toLabelsValue, type SessionLabels } from './session-labels.ts';
import { findFreeName } from './session-names.ts';

/** Which session to open. */
export type SessionSelector =
  | { readonly type: 'new'; readonly name?: string }
  /** Without a name, the user chooses. */
  | { readonly type: 'resume'; readonly session?: string }
  | { readonly type: 'clone'; readonly session: string; readonly name?: string }
  /** The latest session of the folder of the agent. */
  | { readonly type: 'latest' }
  | { readonly type: 'ephemeral' }
  /** A new session with the conversation of an open one: up to an event, or with these messages instead. */
  | {
      readonly type: 'fork';
      readonly session: Session;
      /** The name of the new session, or the start of it if it is taken. */
      readonly name: string;
      readonly title: string;
      readonly at?: string;
      readonly messages?: readonly Message[];
    };

/** An open session and its file. */
export type OpenSession = {
  readonly session: Session;
  readonly sessionFile: SessionFile | undefined;
  readonly log: JsonlLog | undefined;
  /** What is wrong with the file although its hashes are correct, in one sentence. */
  readonly fileProblem?: string;
  /** Records the last line of the closed file. */
  readonly recordHead?: () => void;
  /** The labels that the file had when it was opened; the title changes with `setSessionTitle`. */
  labels: SessionLabels;
  /** True if this process created it. */
  readonly isNew: boolean;
  /** Returns true if it has input on any branch. */
  readonly isUsed: () => boolean;
};

/** Opens a session for an agent. */
export async function openSession(
  dirs: SessionDirs,
  selector: SessionSelector,
  parts: ResolvedAgent,
): Promise<OpenSession> {
  if (selector.type === 'ephemeral') {
    const { memoryLog } = await import('../stores/index.ts');
    const session = await Session.open(parts, memoryLog());
    return { session, sessionFile: undefined, log: undefined, labels: {}, isNew: true, isUsed: trackUse(session) };
  }
  if (selector.type === 'fork') return openFork(dirs, selector);
  const sessionFile = await resolveSessionFile(dirs, selector, parts.cwd);
  const isNew = selector.type === 'new';
  const labels = isNew ? {} : readSessionLabels(sessionFile.file);
  const { openJsonl } = await import('../stores/index.ts');
  const log = await openJsonl(sessionFile.file).catch((error: unknown) => {
    throw lockedSessionError(error, sessionFile) ?? error;
  });
  try {
    const session = await Session.open(parts, log, log.session);
    // The problems of an edited file are reported already.
    const fileProblem =
      isNew || log.report.length > 0 ? undefined : findRewrittenHead(dirs, sessionFile.file, log.session);
    return {
      session,
      sessionFile,
      log,
      labels,
      isNew,
      isUsed: trackUse(session),
      recordHead: () => recordHead(dirs, log.file, log.session),
      ...(fileProblem === undefined ? {} : { fileProblem }),
    };
  } catch (error) {
    await log.close();
    if (isNew) rmSync(sessionFile.file, { force: true });
    throw error;
  }
}

async function openFork(dirs: SessionDirs, selector: SessionSelector & { type: 'fork' }): Promise<OpenSession> {
  const name = findFreeName(selector.name, (each) => existsSync(sessionFilePath(dirs, each)));
  const sessionFile = createSessionFile(dirs, name);
  const { openJsonl } = await import('../stores/index.ts');
  const log = await openJsonl(sessionFile.file);
  try {
    const session = await selector.session.fork({ log, id: log.session, at: selector.at });
    if (selector.messages) await session.edit(selector.messages, 'before an earlier message');
    const opened: OpenSession = {
      session,
      sessionFile,
      log,
      labels: {},
      isNew: false,
      isUsed: () => true,
      recordHead: () => recordHead(dirs, log.file, log.session),
    };
    await setSessionTitle(opened, selector.title);
    return opened;
  } catch (error) {
    await log.close();
    rmSync(sessionFile.file, { force: true });
    throw error;
  }
}

/** The error for a session that another process has locked. */
function lockedSessionError(error: unknown, { name, file }: SessionFile): FairleadError | undefined {
  if (!(error instanceof FairleadError) || error.code !== 'store/locked') return undefined;
  const owner = getLockOwner(file);
  const session = `The session ${JSON.stringify(name)}`;
  return new FairleadError(
    error.code,
    owner
      ? `${session} is open in another process (${owner.pid} on ${owner.host}).`
      : error.message.replace(file, session),
    {
      blame: 'user',
      retry: true,
      hint: `To continue a copy: --clone-session ${JSON.stringify(name)}; to watch it: fairlead --interactive --resume ${JSON.stringify(name)}`,
      cause: error,
    },
  );
}

async function resolveSessionFile(
  dirs: SessionDirs,
  selector: Exclude<SessionSelector, { type: 'ephemeral' | 'fork' }>,
  cwd: string | undefined,
): Promise<SessionFile> {
  switch (selector.type) {
    case 'new':
      return createSessionFile(dirs, selector.name);
    case 'clone': {
      const { cloneSession } = await import('./session-operations.ts');
      return cloneSession(dirs, findSession(dirs, selector.session), selector.name);
    }
    case 'resume':
      return findSession(dirs, selector.session ?? '');
    case 'latest': {
      const latest = findLatestSession(dirs, cwd);
      if (latest) return latest;
      throw noLatestSessionError(dirs);
    }
  }
}

function noLatestSessionError(dirs: SessionDirs): FairleadError {
  const other = findLatestSession(dirs);
  const summary = other && summarizeSession(other);
  return new FairleadError('session/unknown', 'There is no session of this folder to continue yet.', {
    blame: 'user',
    hint: summary
      ? `The latest of another folder is "${summary.title}"${summary.folder === undefined ? '' : ` (${summary.folder})`}: fairlead --resume ${JSON.stringify(summary.name)}`
      : 'Leave --continue out to begin one.',
  });
}

/** Gives an open session a title; without one it has its name or its first message as its title again. */
export async function setSessionTitle(opened: OpenSession, title: string | undefined): Promise<void> {
  const { title: _, ...rest } = opened.labels;
  const chosen = title === undefined ? undefined : normalizeTitle(title);
  opened.labels = chosen === undefined ? rest : { ...rest, title: chosen };
  await writeLabels(opened);
}

/** The title of an open session: the one that was chosen, its name, or its first message; undefined if it is not saved. */
export const getOpenTitle = ({ sessionFile, labels }: OpenSession): string | undefined =>
  labels.title ?? (sessionFile && summarizeSession(sessionFile)?.title);

/** Renames an open session and its file; the new name is its title. */
export async function renameOpenSession(dirs: SessionDirs, opened: OpenSession, name: string): Promise<OpenSession> {
  const { sessionFile, log, labels } = opened;
  if (!sessionFile) return opened;
  const { renameSession } = await import('./session-operations.ts');
  const renamed = { ...opened, sessionFile: await renameSession(dirs, sessionFile, name, log) };
  if (labels.title !== undefined) await setSessionTitle(renamed, undefined);
  return renamed;
}

/** Up to which event a session is forked, or the messages of the fork; by default the whole conversation. */
export type ForkPoint = { readonly at?: string; readonly messages?: readonly Message[] };

/** The selector of a fork of an open session. */
export function createForkSelector(opened: OpenSession, from: ForkPoint): SessionSelector {
  const name = opened.sessionFile?.name ?? 'session';
  const title = `${getOpenTitle(opened) ?? name} (fork)`;
  return { type: 'fork', session: opened.session, name: `${name}-fork`, title, ...from };
}

const writeLabels = ({ session, labels }: OpenSession): Promise<void> =>
  session.annotate(sessionLabelsKey, toLabelsValue({ ...labels, ...folderOf(session) }));

const folderOf = ({ state: { cwd } }: Session): SessionLabels => (cwd === undefined ? {} : { folder: cwd });

/** Whether a list, which reads the ends of the file only, would show other labels than the session has. */
function hasHiddenLabels({ session, sessionFile, labels }: OpenSession): boolean {
  const shown = sessionFile && summarizeSession(sessionFile);
  if (!shown) return false;
  const { folder } = folderOf(session);
  return shown.folder !== folder || (labels.title !== undefined && shown.title !== labels.title);
}

/** Closes a session. Deletes the file if this process created it and it has no input. */
export async function closeSession(opened: OpenSession): Promise<void> {
  const { session, sessionFile, isNew, isUsed } = opened;
  // A disk that is full must not keep the session from being closed.
  if ((!isNew || isUsed()) && hasHiddenLabels(opened)) await writeLabels(opened).catch(() => undefined);
  await session.close();
  if (isNew && !isUsed() && sessionFile) rmSync(sessionFile.file, { force: true });
  else opened.recordHead?.();
}

/** Uses the events: after a rewind the current branch can be empty although the session has content. */
function trackUse(session: Session): () => boolean {
  let used = false;
  session.subscribe((event) => {
    if (event.type === 'input-received') used = true;
  });
  return () => used;
}

/** Max reported problems of a damaged file; the rest is only counted. */
const maxProblems = 5;

/** Formats the problems of a session file that was opened anyway, one sentence each. */
export function formatSessionProblems({ log, sessionFile, fileProblem }: OpenSession): readonly string[] {
  const problems = log?.report ?? [];
  const omitted = problems.length - maxProblems;
  return [
    ...(fileProblem === undefined ? [] : [fileProblem]),
    ...problems.slice(0, maxProblems).map(({ message }) => message),
    ...(omitted > 0
      ? [`And ${omitted} more: fairlead sessions verify ${JSON.stringify(sessionFile?.name ?? '')}`]
      : []),
  ];
}
