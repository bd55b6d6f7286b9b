// The git tools, split by effect: read, change the repository, access remotes.
import type { Tool, Workspace } from '../../core/index.ts';
import { gitChange } from './change.ts';
import { gitRead } from './read.ts';
import { gitRemote } from './remote.ts';

/** Where the git tools run. */
export type GitWorkspaces = {
  /** Runs git that only reads. */
  readonly read: Workspace;
  /** Runs git that changes the repository or connects to a server. */
  readonly change: Workspace;
  /** True if `read` is a read-only sandbox without network, where a program of the repository can do no harm. */
  readonly isConfined: boolean;
};

/** Returns the git tools of a workspace; without a sandbox, a repository whose configuration is not known to be harmless is refused. */
export const gitTools = ({ read, change, isConfined }: GitWorkspaces): readonly Tool[] => [
  gitRead(read, isConfined),
  gitChange(change),
  gitRemote(change),
];
export { gitOutput } from './safe-git.ts';
