// The git tools, split by effect: read, change the repository, access remotes.
import type { Tool } from '../../core/index.ts';
import { gitChange } from './change.ts';
import { gitRead } from './read.ts';
import { gitRemote } from './remote.ts';
import type { GitWorkspaces } from './safe-git.ts';

/** Returns the git tools of a workspace; outside a sandbox, a repository whose configuration is not known to be harmless is refused. */
export const gitTools = (workspaces: GitWorkspaces): readonly Tool[] => [
  gitRead(workspaces),
  gitChange(workspaces),
  gitRemote(workspaces),
];
export { gitOutput, type GitWorkspaces } from './safe-git.ts';
