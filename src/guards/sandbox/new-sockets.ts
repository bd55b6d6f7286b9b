// Finds sockets that programs outside the sandbox opened in the working folder after a command began: its mounts do not cover them.
import { escapeInvisibleLine, errorMessage, isPathInside } from '../../core/index.ts';
import { findHostSockets } from './host-sockets.ts';
import { identityOf } from './open-folder.ts';
import type { MountedPaths, SandboxPaths } from './sandbox.ts';

/** What was covered for a command: paths, each with what was there. */
export type CoveredPaths = ReadonlyMap<string, string | undefined>;

/** Returns what these mounts cover now. */
export const recordCovered = ({ hidden }: MountedPaths): CoveredPaths =>
  new Map(hidden.map((at) => [at, identityOf(at)]));

/** Returns why a command that began with these covered paths has to end, as the end of a sentence; undefined if it can go on. */
export type SocketCheck = (covered: CoveredPaths) => string | undefined;

/** Reads the kernel's list of sockets once, for all running commands. */
export function createSocketCheck(paths: SandboxPaths): SocketCheck {
  if (process.platform !== 'linux') return () => undefined;
  let sockets: readonly (readonly [string, string | undefined])[];
  try {
    sockets = findHostSockets(paths, paths.roots).sockets.map((at) => [at, identityOf(at)]);
  } catch (error) {
    return () => errorMessage(error);
  }
  return (covered) => {
    const isCovered = ([at, identity]: readonly [string, string | undefined]): boolean =>
      covered.get(at) === identity || [...covered.keys()].some((each) => each !== at && isPathInside(each, at));
    const uncovered = sockets.find((each) => !isCovered(each));
    return (
      uncovered &&
      `another program opened the socket ${escapeInvisibleLine(uncovered[0])} in the working folder, through which the command could use that program. Start it again: sockets that exist before are hidden from it.`
    );
  };
}
