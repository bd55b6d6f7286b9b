// The git tools, split by effect: read, change the repository, access remotes.
import type { Tool, Workspace } from '../../core/index.ts';
import { gitChange } from './change.ts';
import { gitRead } from './read.ts';
import { gitRemote } from './remote.ts';

/** Returns the git tools of a workspace. */
export const gitTools = (workspace: Workspace): readonly Tool[] => [
  gitRead(workspace),
  gitChange(workspace),
  gitRemote(workspace),
];
export { gitOutput } from './safe-git.ts';
