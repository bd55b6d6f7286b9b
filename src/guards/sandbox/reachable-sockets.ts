// Lists the sockets that are covered for a command: those that programs outside the sandbox have bound in the folders that it sees.
import { findTopSockets } from './git-directories.ts';
import { findHostSockets } from './host-sockets.ts';
import type { SandboxPaths } from './sandbox.ts';
import { findForeignSockets } from './unlisted-sockets.ts';

/** Returns the sockets of programs outside the sandbox in these folders; real paths. Without a pause in the usual case, so that the working folder is read once. */
export function findReachableSockets(
  paths: SandboxPaths,
  folders: readonly string[],
): readonly string[] | Promise<readonly string[]> {
  const { listed, unlisted } = findSockets(paths, folders);
  return unlisted.length === 0 ? listed : findForeignSockets(unlisted).then((foreign) => [...listed, ...foreign]);
}

/** Returns the sockets in these folders that may be of programs outside the sandbox, without finding out which are served; real paths. */
export function listReachableSockets(paths: SandboxPaths, folders: readonly string[]): readonly string[] {
  const { listed, unlisted } = findSockets(paths, folders);
  return [...listed, ...unlisted];
}

function findSockets(
  paths: SandboxPaths,
  folders: readonly string[],
): { readonly listed: readonly string[]; readonly unlisted: readonly string[] } {
  // Elsewhere the sandbox denies sockets by its profile, or commands run in a virtual machine.
  if (process.platform !== 'linux') return { listed: [], unlisted: [] };
  const { sockets: listed, leftFolders } = findHostSockets(paths, folders);
  const others = new Set([...paths.roots, ...leftFolders].flatMap(findTopSockets));
  return { listed, unlisted: [...others].filter((at) => !listed.includes(at)) };
}
