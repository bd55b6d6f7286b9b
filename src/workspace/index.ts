// Public API of the workspace: files, commands and network for tools.
export { isSecretVariable, publicEnvironment } from './environment.ts';
export { readGitBranch } from './git-branch.ts';
export { localWorkspace, protectedNames, type LocalWorkspaceOptions } from './local.ts';
export { isPublicAddress } from './net/addresses.ts';
export { createNetworkFetch, withNetwork, type NetworkOptions } from './net/network.ts';
export { shellQuote } from './shell-quote.ts';
