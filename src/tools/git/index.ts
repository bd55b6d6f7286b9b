// The git tools and the access of other tools to git.
export { findGitProgram } from './inert-repository.ts';
export { gitTools } from './git-tools.ts';
export { gitOutput, guardRepository, runGit, type GitRunOptions, type GitWorkspaces } from './safe-git.ts';
