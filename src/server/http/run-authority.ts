// Decides which runs a client may start, and which runs of others it may send text and answers to, by role and folder.
import { realpathSync } from 'node:fs';
import path from 'node:path';
import { isPathInside, type FleetRun, type JsonObject } from '../../core/index.ts';
import { createHttpError } from './errors.ts';
import { hasRole, type Caller } from './keys.ts';

/** The real paths of the folders that runs may work in; the first is the default. */
export type RunFolders = readonly [string, ...string[]];

/** What decides which runs a client may start. */
export type RunAuthority = { readonly caller: Caller; readonly folders: RunFolders };

/** Returns the folder of a run with these settings; throws 403 if the client may not start such a run. */
export function assertMayStart({ caller, folders }: RunAuthority, settings: JsonObject): string {
  if (settings['auto'] === true && !hasRole(caller.role, 'operator'))
    throw createHttpError(
      'server/role',
      `The role ${caller.role} may not start a run with auto: true. It needs the role operator.`,
    );
  return resolveRunFolder(folders, settings['folder']);
}

/** Throws 403 unless the client could have started each of these runs as it is: text and answers use the rights of the run. */
export function assertMayInstruct({ caller, folders }: RunAuthority, runs: readonly FleetRun[]): void {
  if (hasRole(caller.role, 'operator')) return;
  for (const { id, settings } of runs) {
    if (settings['auto'] === true)
      throw createHttpError(
        'server/role',
        `Run ${id} of this session has auto: true, so the session accepts text and answers of the role operator only.`,
        { hint: 'Fork the session, and start a run in the fork.' },
      );
    resolveRunFolder(folders, settings['folder']);
  }
}

function resolveRunFolder(folders: RunFolders, requested: unknown): string {
  const [defaultFolder] = folders;
  if (typeof requested !== 'string') return defaultFolder;
  const found = requested.includes('\0') ? undefined : resolveRealPath(path.resolve(defaultFolder, requested));
  if (found !== undefined && folders.some((folder) => isPathInside(folder, found))) return found;
  throw createHttpError('server/wrong-folder', 'Folder not allowed.', {
    hint: `Allowed folders: ${folders.join(', ')}. Add one with fairlead serve --folder <folder>.`,
  });
}

/** Resolves the links of a path, as far as it exists on this machine: a worker may run on another one. */
export function resolveRealPath(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    const parent = path.dirname(file);
    return parent === file ? file : path.join(resolveRealPath(parent), path.basename(file));
  }
}
