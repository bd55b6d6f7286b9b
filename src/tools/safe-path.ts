// A PATH without folders of the workspace, where the agent could have written programs.
import path from 'node:path';
import { FairleadError, type Workspace } from '../core/index.ts';

/** Returns the folders on PATH, in order, without those inside the workspace. */
export const foldersOutsideWorkspace = (
  workspace: Pick<Workspace, 'locate'>,
  search: string = process.env['PATH'] ?? '',
): readonly string[] =>
  search.split(path.delimiter).filter((folder) => path.isAbsolute(folder) && !leadsIntoWorkspace(workspace, folder));

/** Returns false only if the workspace refuses the path as outside. */
export function leadsIntoWorkspace(workspace: Pick<Workspace, 'locate'>, file: string): boolean {
  try {
    workspace.locate(file);
    return true;
  } catch (error) {
    return !(error instanceof FairleadError && error.code === 'workspace/outside');
  }
}
