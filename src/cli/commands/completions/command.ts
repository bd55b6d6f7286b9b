// The `completions` command: prints the completion script of a shell.
import { printUsage } from '../../args/stdio.ts';
import { FairleadError, formatError } from '../../../core/index.ts';
import type { Command } from '../../args/command.ts';
import { readSettings } from '../../../coding-agent/settings/index.ts';
import type { CompletionPoint } from './completion-spec.ts';
import { formatCompletionLines, completionValues } from './dynamic-values.ts';

const usage = `Usage: fairlead completions bash    add to ~/.bashrc: source <(fairlead completions bash)
       fairlead completions zsh     add to ~/.zshrc, after compinit: source <(fairlead completions zsh)
       fairlead completions fish    fairlead completions fish > ~/.config/fish/completions/fairlead.fish`;

const scriptByShell: Readonly<Record<string, () => Promise<(points: readonly CompletionPoint[]) => string>>> = {
  bash: async () => (await import('./bash.ts')).formatBashScript,
  zsh: async () => (await import('./zsh.ts')).formatZshScript,
  fish: async () => (await import('./fish.ts')).formatFishScript,
};

/** Prints a script, or with `--values` the names that a script completes; exit code 0 done, 1 failed, 2 invalid arguments. */
export const run: Command['run'] = async (args, commands) => {
  const [word = '', kind = '', ...more] = args;
  if (word === '--values' && Object.hasOwn(completionValues, kind) && more.length === 0) return printValues(kind);
  const shell = Object.hasOwn(scriptByShell, word) && kind === '' ? scriptByShell[word] : undefined;
  if (word === '--help' || word === '-h') {
    printUsage(usage);
    return 0;
  }
  if (!shell) {
    process.stderr.write(`${usage}\n`);
    return 2;
  }
  const { createCompletionSpec } = await import('./completion-spec.ts');
  process.stdout.write((await shell())(createCompletionSpec(commands)));
  return 0;
};

async function printValues(kind: string): Promise<number> {
  try {
    process.stdout.write(formatCompletionLines((await completionValues[kind]?.(readSettings())) ?? []));
    return 0;
  } catch (error) {
    if (!(error instanceof FairleadError)) throw error;
    process.stderr.write(`${formatError(error)}\n`);
    return 1;
  }
}
