// The folder of a queued run: it must exist, and its real path must be inside the allowed folders.
import { realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { FairleadError, isPathInside } from '../../core/index.ts';

/** Returns the absolute path of the folder of a run; throws if it does not exist or is outside the allowed folders. */
export function resolveRunFolder({ folder, within }: { readonly folder?: string; readonly within?: unknown }): string {
  const cwd = path.resolve(folder ?? process.cwd());
  if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory())
    throw new FairleadError('coding-agent/no-folder', `There is no folder ${cwd} on this machine.`, { blame: 'user' });
  assertWithin(cwd, within);
  return cwd;
}

/** Throws if the real path of a directory is outside the allowed ones, such as after it was replaced by a link. */
function assertWithin(cwd: string, within: unknown): void {
  if (within === undefined) return;
  const found = realpathSync(cwd);
  if (Array.isArray(within) && within.some((each) => typeof each === 'string' && isPathInside(each, found))) return;
  throw new FairleadError(
    'coding-agent/wrong-folder',
    `The run may not work in ${cwd}: its real path is outside the allowed folders.`,
    { blame: 'user' },
  );
}
