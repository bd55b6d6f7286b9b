// Opens a session: new, existing, cloned, or in memory only.
import { rmSync } from 'node:fs';
import { Session } from '../agent/index.ts';
import { FairleadError, type ResolvedAgent } from '../core/index.ts';
import type { JsonlLog } from '../stores/index.ts';
import {
  createSessionFile,
  findLatestSession,
  findSession,
  type SessionDirs,
  type SessionFile,
} from './session-directory.ts';
import { findRewrittenHead, recordHead } from './known-heads.ts';
import { cloneSession } from './session-operations.ts';

/** Which session to open. */
export type SessionSelector =
  | { readonly type: 'new'; readonly name?: string }
  /** Without a name, the user chooses. */
  | { readonly type: 'resume'; readonly session?: string }
  | { readonly type: 'clone'; readonly session: string; readonly name?: string }
  | { readonly type: 'latest' }
  | { readonly type: 'ephemeral' };

/** An open session and its file. */
export type OpenSession = {
  readonly session: Session;
  readonly sessionFile: SessionFile | undefined;
  readonly log: JsonlLog | undefined;
  /** What is wrong with the file although its hashes are correct, in one sentence. */
  readonly fileProblem?: string;
  /** Records the last line of the closed file. */
  readonly recordHead?: () => void;
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
    return { session, sessionFile: undefined, log: undefined, isNew: true, isUsed: trackUse(session) };
  }
  const sessionFile = await resolveSessionFile(dirs, selector);
  const isNew = selector.type === 'new';
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

/** The error for a session that another process has locked. */
function lockedSessionError(error: unknown, { name, file }: SessionFile): FairleadError | undefined {
  if (!(error instanceof FairleadError) || error.code !== 'store/locked') return undefined;
  return new FairleadError(error.code, error.message.replace(file, `The session ${JSON.stringify(name)}`), {
    blame: 'user',
    retry: true,
    hint: `Go on with a copy (--clone-session ${JSON.stringify(name)}), or watch it: fairlead --interactive --resume ${JSON.stringify(name)}`,
    cause: error,
  });
}

async function resolveSessionFile(
  dirs: SessionDirs,
  selector: Exclude<SessionSelector, { type: 'ephemeral' }>,
): Promise<SessionFile> {
  switch (selector.type) {
    case 'new':
      return createSessionFile(dirs, selector.name);
    case 'clone':
      return cloneSession(dirs, findSession(dirs, selector.session), selector.name);
    case 'resume':
      return findSession(dirs, selector.session ?? '');
    case 'latest': {
      const latest = findLatestSession(dirs);
      if (latest) return latest;
      throw new FairleadError('session/unknown', 'There is no session to continue yet.', {
        blame: 'user',
        hint: 'Leave --continue away to begin one.',
      });
    }
  }
}

/** Closes a session. Deletes the file if this process created it and it has no input. */
export async function closeSession(opened: OpenSession): Promise<void> {
  const { session, sessionFile, isNew, isUsed } = opened;
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
