// The git tools and the access of other tools to git.
export { gitTools } from './git-tools.ts';
export { gitOutput, guardRepository, runGit, type GitRunOptions, type GitWorkspaces } from './safe-git.ts';
