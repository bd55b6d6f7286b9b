// The `completions` command: prints the script with which a shell completes this program's command lines.
import { FairleadError } from '../../core/index.ts';
import { commands, type Command } from '../commands.ts';
import { sentence } from '../front/sentence.ts';
import { readSettings } from '../settings/settings.ts';
import type { Place } from './grammar.ts';
import { linesOf, values } from './values.ts';

const usage = `Usage: fairlead completions bash    add to ~/.bashrc: source <(fairlead completions bash)
       fairlead completions zsh     add to ~/.zshrc, after compinit: source <(fairlead completions zsh)
       fairlead completions fish    fairlead completions fish > ~/.config/fish/completions/fairlead.fish`;

const shells: Readonly<Record<string, () => Promise<(places: readonly Place[]) => string>>> = {
  bash: async () => (await import('./bash.ts')).bashScript,
  zsh: async () => (await import('./zsh.ts')).zshScript,
  fish: async () => (await import('./fish.ts')).fishScript,
};

/** Prints a script, or, with `--values`, the names a script asks for: 0 printed, 1 not, 2 misused. */
export const run: Command['run'] = async (args) => {
  const [word = '', what = '', ...more] = args;
  if (word === '--values' && Object.hasOwn(values, what) && more.length === 0) return print(what);
  const shell = Object.hasOwn(shells, word) && what === '' ? shells[word] : undefined;
  if (word === '--help' || word === '-h') {
    process.stdout.write(`${usage}\n`);
    return 0;
  }
  if (!shell) {
    process.stderr.write(`${usage}\n`);
    return 2;
  }
  const { placesOf } = await import('./grammar.ts');
  process.stdout.write((await shell())(placesOf(commands)));
  return 0;
};

async function print(what: string): Promise<number> {
  try {
    process.stdout.write(linesOf((await values[what]?.(readSettings())) ?? []));
    return 0;
  } catch (error) {
    if (!(error instanceof FairleadError)) throw error;
    process.stderr.write(`${sentence(error)}\n`);
    return 1;
  }
}
