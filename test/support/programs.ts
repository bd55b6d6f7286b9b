// Whether optional programs are installed: tests that need one are skipped by name otherwise.
import { spawnSync } from 'node:child_process';

/** Why tests with real git repositories are skipped; false if git is installed. */
export const noGit: string | false =
  spawnSync('git', ['--version'], { stdio: 'ignore' }).status !== 0 && 'needs git: install it';
