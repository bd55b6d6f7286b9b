// The search path without what the folder being worked in could have brought along: whoever works there writes programs there too.
import path from 'node:path';
import { FairleadError, type Workspace } from '../core/index.ts';

/** The folders in which programs are looked for, by their order, without those that lead into the workspace. */
export const foldersOutsideWorkspace = (
  workspace: Pick<Workspace, 'locate'>,
  search: string = process.env['PATH'] ?? '',
): readonly string[] =>
  search.split(path.delimiter).filter((folder) => path.isAbsolute(folder) && !leadsIntoWorkspace(workspace, folder));

/** Whether a path leads into the workspace; only what it refuses as outside is certain not to. */
export function leadsIntoWorkspace(workspace: Pick<Workspace, 'locate'>, file: string): boolean {
  try {
    workspace.locate(file);
    return true;
  } catch (error) {
    return !(error instanceof FairleadError && error.code === 'workspace/outside');
  }
}
