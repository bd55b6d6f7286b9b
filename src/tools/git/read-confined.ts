// Reads a repository with one start of a sandbox, which takes longer than git: verification and command in one script.
import { randomUUID } from 'node:crypto';
import type { ExecResult } from '../../core/index.ts';
import {
  assertOwnGitPaths,
  execGit,
  gitPathsArgs,
  gitCommandLine,
  guardRepository,
  runGit,
  type GitRunOptions,
} from './safe-git.ts';

/** Runs git that only reads inside a sandbox. If the configuration may define filters, they are disabled by name, which takes two more starts. */
export async function readConfined(args: readonly string[], run: GitRunOptions): Promise<ExecResult> {
  const marker = `[${randomUUID()}]`;
  const script = `"$@" ${gitPathsArgs.join(' ')} || exit
"$@" config --list --name-only -z | /usr/bin/env PATH=/usr/bin:/bin LC_ALL=C grep -aq 'filter\\.'
[ $? -eq 1 ] || exit 0
printf '%s' '${marker}'
exec "$@" ${args.map(quoteArgument).join(' ')}`;
  const result = await execGit(['/bin/sh', '-c', script, 'sh', ...gitCommandLine(run)], run);
  const [places = '', output, ...others] = result.text.split(marker);
  if (output !== undefined && others.length === 0) {
    await assertOwnGitPaths(places, run);
    return { ...result, text: output };
  }
  return result.stopped ? { ...result, text: '' } : runGit(args, run, await guardRepository('look', run));
}

const quoteArgument = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
