// A PATH without folders of the workspace, where the agent could have written programs.
import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { FairleadError, isPathInside, type Workspace } from '../core/index.ts';

/** Returns the absolute folders on PATH, in order, that the given function does not exclude. */
const filterPath = (search: string, isExcluded: (folder: string) => boolean): readonly string[] =>
  search.split(path.delimiter).filter((folder) => path.isAbsolute(folder) && !isExcluded(folder));

/** Returns the folders on PATH, in order, without those inside the workspace. */
export const foldersOutsideWorkspace = (
  workspace: Pick<Workspace, 'locate'>,
  search: string = process.env['PATH'] ?? '',
): readonly string[] => filterPath(search, (folder) => leadsIntoWorkspace(workspace, folder));

/** Returns the folders on PATH, in order, without those inside a folder and without those that do not exist, because any process could create them. */
export const foldersOutside = (root: string, search: string = ''): readonly string[] =>
  filterPath(search, (folder) => {
    try {
      return isPathInside(root, realpathSync.native(folder));
    } catch {
      return true;
    }
  });

/** Returns this environment with a PATH that has no folder inside the given one, for a program that runs as the user. */
export const environmentOutside = (root: string, env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv => ({
  ...env,
  PATH: foldersOutside(realpathSync.native(root), env['PATH']).join(path.delimiter),
});

/** Returns the path of a program on PATH that is not inside this folder; undefined if there is none. */
export const findProgramOutside = (name: string, root: string): string | undefined =>
  foldersOutside(realpathSync.native(root), process.env['PATH'])
    .map((folder) => path.join(folder, name))
    .find(isExecutable);

/** Whether a path names a file that this user may run. */
export function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** Returns false only if the workspace refuses the path as outside. */
export function leadsIntoWorkspace(workspace: Pick<Workspace, 'locate'>, file: string): boolean {
  try {
    workspace.locate(file);
    return true;
  } catch (error) {
    return !(error instanceof FairleadError && error.code === 'workspace/outside');
  }
}
