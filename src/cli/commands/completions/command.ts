// The `completions` command: prints the script with which a shell completes this program's command lines.
import { FairleadError, formatError } from '../../../core/index.ts';
import type { Command } from '../../args/command.ts';
import { readSettings } from '../../../coding-agent/settings/settings.ts';
import type { CompletionPoint } from './completion-spec.ts';
import { formatCompletionLines, completionValues } from './dynamic-values.ts';

const usage = `Usage: fairlead completions bash    add to ~/.bashrc: source <(fairlead completions bash)
       fairlead completions zsh     add to ~/.zshrc, after compinit: source <(fairlead completions zsh)
       fairlead completions fish    fairlead completions fish > ~/.config/fish/completions/fairlead.fish`;

const scriptByShell: Readonly<Record<string, () => Promise<(places: readonly CompletionPoint[]) => string>>> = {
  bash: async () => (await import('./bash.ts')).formatBashScript,
  zsh: async () => (await import('./zsh.ts')).formatZshScript,
  fish: async () => (await import('./fish.ts')).formatFishScript,
};

/** Prints a script, or, with `--values`, the names a script asks for: 0 printed, 1 not, 2 misused. */
export const run: Command['run'] = async (args, commands) => {
  const [word = '', what = '', ...more] = args;
  if (word === '--values' && Object.hasOwn(completionValues, what) && more.length === 0) return printScript(what);
  const shell = Object.hasOwn(scriptByShell, word) && what === '' ? scriptByShell[word] : undefined;
  if (word === '--help' || word === '-h') {
    process.stdout.write(`${usage}\n`);
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

async function printScript(what: string): Promise<number> {
  try {
    process.stdout.write(formatCompletionLines((await completionValues[what]?.(readSettings())) ?? []));
    return 0;
  } catch (error) {
    if (!(error instanceof FairleadError)) throw error;
    process.stderr.write(`${formatError(error)}\n`);
    return 1;
  }
}
