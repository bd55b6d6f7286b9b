// Verifies that git commands which read, called as a shell calls them, run no program of the repository and write nothing.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { errorMessage, escapeInvisibleLine } from '../../core/index.ts';
import { findKeyThatActs } from './config-keys.ts';
import { assertOwnRepository, gitOutput, localConfigKeys, type GitRunOptions, type GitWorkspaces } from './safe-git.ts';

const maxSeconds = 20;

/** Hooks that commands which read run, after they refresh the index. */
const readingHooks = ['post-index-change', 'fsmonitor-watchman'];

/** Returns why git could do more than read in this repository, in a part of a sentence; undefined if it only reads. The configuration of the user counts as theirs and is not judged. */
export async function findGitProgram({
  read,
  isConfined,
}: Pick<GitWorkspaces, 'read' | 'isConfined'>): Promise<string | undefined> {
  const run: GitRunOptions = {
    workspace: read,
    isConfined,
    signal: AbortSignal.timeout(maxSeconds * 1000),
    seconds: maxSeconds,
  };
  try {
    await assertOwnRepository(run);
    const key = findKeyThatActs(await localConfigKeys(run));
    if (key !== undefined) return `the repository sets ${escapeInvisibleLine(key)}, so use the tool git`;
    const folder = (await gitOutput(['rev-parse', '--path-format=absolute', '--git-common-dir'], run))?.trim();
    if (folder === undefined) return 'the git directory is not known';
    const hook = readingHooks.find((name) => existsSync(path.join(folder, 'hooks', name)));
    if (hook !== undefined) return `the repository has the hook ${hook}, so use the tool git`;
    // A submodule has a configuration of its own, with which git runs inside it.
    const index = await gitOutput(['ls-files', '--stage', '-z'], run);
    if (index === undefined || /(?<![^\0])160000 /.test(index))
      return 'the repository has submodules, or too many files, so use the tool git';
    return undefined;
  } catch (error) {
    return errorMessage(error).replace(/\.$/, '');
  }
}
