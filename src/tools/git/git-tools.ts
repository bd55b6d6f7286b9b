// The git tools, split by effect: read, change the repository, access remotes.
import type { Tool } from '../../core/index.ts';
import { gitChangeSpec, gitReadSpec, gitRemoteSpec } from './specs.ts';
import type { GitWorkspaces } from './safe-git.ts';

/** Returns the git tools of a workspace; outside a sandbox, a repository whose configuration is not known to be harmless is refused. */
export function gitTools(workspaces: GitWorkspaces): readonly Tool[] {
  const change = async (): Promise<Tool> => (await import('./change.ts')).gitChange(workspaces);
  const remote = async (): Promise<Tool> => (await import('./remote.ts')).gitRemote(workspaces);
  return [
    {
      ...gitReadSpec,
      execute: async (input, context) => (await import('./read.ts')).gitRead(workspaces).execute(input, context),
    },
    { ...gitChangeSpec, ...loadedWhenCalled(change) },
    { ...gitRemoteSpec, ...loadedWhenCalled(remote) },
  ];
}

/** The functions of a tool that is loaded for its first call. */
const loadedWhenCalled = (load: () => Promise<Tool>): Pick<Tool, 'needsApproval' | 'execute'> => ({
  needsApproval: async (input, state) => (await load()).needsApproval?.(input, state) ?? false,
  execute: async (input, context) => (await load()).execute(input, context),
});
