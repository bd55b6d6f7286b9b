// Edits the file of a session in place: the file is closed, changed by the user and opened again. The store records the change as a new branch.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { FairleadError, formatError, type ResolvedAgent } from '../core/index.ts';
import { closeSession, openSession, type OpenSession, type SessionSelector } from './open-session.ts';
import type { SessionDirs } from './session-directory.ts';

/** What became of an edit of a session file. */
export type SessionFileEdit =
  | { readonly type: 'edited' | 'unchanged' }
  /** The session has no file, or no message yet. */
  | { readonly type: 'empty' }
  /** The new content cannot be used; it is kept in another file, which the message names. */
  | { readonly type: 'rejected'; readonly message: string };

/**
 * Closes a session, lets `edit` change its file, and opens it again. If the file is missing or cannot be opened afterwards, it is restored.
 * If another process opened the session meanwhile, a new session is opened.
 */
export async function editSessionFile(
  open: OpenSession,
  dirs: SessionDirs,
  parts: ResolvedAgent,
  edit: (file: string) => Promise<void>,
): Promise<{ readonly open: OpenSession; readonly result: SessionFileEdit }> {
  const { sessionFile } = open;
  if (!sessionFile || (open.isNew && !open.isUsed())) return { open, result: { type: 'empty' } };
  const { name, file } = sessionFile;
  const selector: SessionSelector = { type: 'resume', session: name };
  await closeSession(open);
  const before = readFileSync(file);
  await edit(file);
  const after = existsSync(file) ? readFileSync(file) : undefined;
  if (after && after.length > 0) {
    try {
      return {
        open: await openSession(dirs, selector, parts),
        result: { type: after.equals(before) ? 'unchanged' : 'edited' },
      };
    } catch (error) {
      if (error instanceof FairleadError && error.code === 'store/locked')
        return {
          open: await openSession(dirs, { type: 'new' }, parts),
          result: { type: 'rejected', message: `${formatError(error)} This is a new session.` },
        };
      writeFileSync(`${file}.rejected`, after, { mode: 0o600 });
      const reason = error instanceof Error ? formatError(error) : String(error);
      return restore(
        `The edited file cannot be used: ${reason} It is kept as ${file}.rejected; the session is as before.`,
      );
    }
  }
  return restore('The file was empty or missing after the edit, so the session is as before.');

  async function restore(message: string): Promise<{ readonly open: OpenSession; readonly result: SessionFileEdit }> {
    writeFileSync(file, before, { mode: 0o600 });
    return { open: await openSession(dirs, selector, parts), result: { type: 'rejected', message } };
  }
}
