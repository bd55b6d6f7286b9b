// Decides which runs a client may start, and which runs of others it may send text and answers to, by role and folder.
import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { isPathInside, type FleetRun, type JsonObject } from '../../core/index.ts';
import { createHttpError } from './errors.ts';
import { hasRole, type Caller } from './keys.ts';
import type { QueueQuota } from './queue-quota.ts';

/** The real paths of the folders that runs may work in; the first is the default. */
export type RunFolders = readonly [string, ...string[]];

/** What decides which runs a client may start. */
export type RunAuthority = {
  readonly caller: Caller;
  readonly folders: RunFolders;
  /** Throws if a tenant would have too much in the queue. */
  readonly quota: QueueQuota;
  /** Whether the client may keep permissions for a project: the owner, on a server that other machines cannot reach. */
  readonly canKeepPermissions?: boolean;
};

/** Returns the folder of a run with these settings; throws 403 if the client may not start such a run. */
export async function assertMayStart(
  { caller, folders }: Omit<RunAuthority, 'quota'>,
  settings: JsonObject,
  resolveFolder: FolderResolver = createFolderResolver(folders),
): Promise<string> {
  if (settings['auto'] === true && !hasRole(caller.role, 'operator'))
    throw createHttpError(
      'server/role',
      `The role ${caller.role} may not start a run with auto: true. It needs the role operator.`,
    );
  return resolveFolder(settings['folder']);
}

/** Throws 403 unless the client could have started each of these runs as it is: text and answers use the rights of the run. */
export async function assertMayInstruct({ caller, folders }: RunAuthority, runs: readonly FleetRun[]): Promise<void> {
  if (hasRole(caller.role, 'operator')) return;
  const resolveFolder = createFolderResolver(folders);
  for (const { id, settings } of runs) {
    if (settings['auto'] === true)
      throw createHttpError(
        'server/role',
        `Run ${id} of this session has auto: true, so the session accepts text and answers of the role operator only.`,
        { hint: 'Fork the session, and start a run in the fork.' },
      );
    await resolveFolder(settings['folder']);
  }
}

/** Returns the real path of a requested folder; throws 403 if it is not allowed. */
export type FolderResolver = (requested: unknown) => Promise<string>;

/** Creates a resolver that resolves each distinct folder once. It must not outlive a request: a link may change. */
export function createFolderResolver(folders: RunFolders): FolderResolver {
  const [defaultFolder] = folders;
  const known = new Map<string, Promise<string>>();

  async function resolve(requested: string): Promise<string> {
    const file = path.resolve(defaultFolder, requested);
    const isReadable = !requested.includes('\0') && file.split(path.sep).length <= maxFolderDepth;
    const found = isReadable ? await resolveRealPath(file) : undefined;
    if (found !== undefined && folders.some((folder) => isPathInside(folder, found))) return found;
    throw createHttpError('server/wrong-folder', 'Folder not allowed.', {
      hint: `Allowed folders: ${folders.join(', ')}. Add one with fairlead serve --folder <folder>.`,
    });
  }

  return (requested) => {
    if (typeof requested !== 'string') return Promise.resolve(defaultFolder);
    const found = known.get(requested) ?? resolve(requested);
    known.set(requested, found);
    return found;
  };
}

/** Each folder of a path takes a request to the file system. */
const maxFolderDepth = 128;

/** Resolves the links of a path, as far as it exists on this machine: a worker may run on another one. */
export async function resolveRealPath(file: string): Promise<string> {
  const { root } = path.parse(file);
  let found = root;
  const rest = file.slice(root.length).split(path.sep).filter(Boolean);
  // From the root down: the first part that does not exist ends the search.
  for (const [i, part] of rest.entries()) {
    const next = await realpath(path.join(found, part)).catch(() => undefined);
    if (next === undefined) return path.join(found, ...rest.slice(i));
    found = next;
  }
  return found;
}
