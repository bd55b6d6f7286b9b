// Errors of a workspace: one sentence that a model can act on, and a code for programs.
import { FairleadError, errorMessage, escapeInvisibleLine, systemErrorCode } from '../core/index.ts';

/** Why a path or a change was refused. */
export type WorkspaceErrorCode =
  | 'bad-path'
  | 'outside'
  | 'not-found'
  | 'not-a-file'
  | 'not-a-folder'
  | 'too-large'
  | 'not-read'
  | 'changed'
  | 'linked'
  | 'protected'
  | 'in-use'
  | 'no-access'
  | 'no-blob'
  | 'bad-content'
  | 'bad-command'
  | 'no-program';

/** Creates an error. The model receives its sentence unchanged. */
export const workspaceError = (why: WorkspaceErrorCode, sentence: string, cause?: unknown): FairleadError =>
  new FairleadError(`workspace/${why}`, sentence, { blame: 'model', ...(cause === undefined ? {} : { cause }) });

const errorMessages: Readonly<Record<string, readonly [WorkspaceErrorCode, (path: string) => string]>> = {
  ENOENT: ['not-found', (path) => `There is no file or folder ${path}.`],
  ENOTDIR: ['not-a-folder', (path) => `A part of the path ${path} is not a folder.`],
  EISDIR: ['not-a-file', (path) => `${path} is a folder, not a file.`],
  ELOOP: ['changed', (path) => `${path} became a link while it was opened, so nothing was done.`],
  EACCES: ['no-access', (path) => `The system does not allow access to ${path}.`],
  EPERM: ['no-access', (path) => `The system does not allow this on ${path}.`],
  ENAMETOOLONG: ['bad-path', (path) => `The path is too long: ${path.slice(0, 200)}…`],
  ENXIO: ['not-a-file', (path) => `${path} is not a regular file.`],
};

/** Converts a system error to a workspace error. A FairleadError stays unchanged. */
export function toWorkspaceError(error: unknown, path: string): FairleadError {
  if (error instanceof FairleadError) return error;
  const shown = escapeInvisibleLine(path);
  const [why, say] = errorMessages[systemErrorCode(error) ?? ''] ?? [];
  if (why && say) return workspaceError(why, say(shown), error);
  return new FairleadError('workspace/failed', `${shown} could not be used: ${errorMessage(error)}.`, {
    blame: 'tool',
    cause: error,
  });
}
