// Resolves the folder that a conversation continues in.
import { statSync } from 'node:fs';
import path from 'node:path';
import { FairleadError } from '../core/index.ts';

/** The absolute path of a folder; a relative one starts at `cwd`. Throws an error if there is none. */
export function resolveFolder(cwd: string, folder: string): string {
  const resolved = path.resolve(cwd, folder);
  if (statSync(resolved, { throwIfNoEntry: false })?.isDirectory()) return resolved;
  throw new FairleadError('coding-agent/no-folder', `There is no folder ${resolved}.`, { blame: 'user' });
}
