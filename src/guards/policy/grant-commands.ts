// Matches commands with grant rules. It is loaded for the first question about a command.
import { isObject, type ToolCall } from '../../core/index.ts';
import type { GrantRule } from '../grant-rule.ts';
import { evaluatePolicy, type PolicyContext } from './evaluate.ts';
import { isExecutingProgram, isNetworkProgram, isSubcommandProgram } from './executing-programs.ts';
import { findKnownProgram } from './known-programs.ts';
import { provePlainLine } from './plain-tree.ts';

/** Programs for which a prefix would cover too much: they delete, change or send what their other words name. */
const broadPrograms: ReadonlySet<string> = new Set(
  'rm rmdir unlink shred cp mv tee touch ln mkdir chmod chown truncate dd install kill pkill killall reboot shutdown mount umount tar zip unzip patch'.split(
    ' ',
  ),
);

/** The subcommands of git that only read: every other one changes the repository and needs approval. */
const gitReadingCommands: ReadonlySet<string> = new Set(
  'status log diff show blame rev-parse ls-files describe shortlog grep'.split(' '),
);

const subcommandPattern = /^[a-z][a-z0-9:_-]*$/i;

/** Returns the words that a grant for this command may begin with; undefined if no prefix of it says what runs. */
export async function findCommandPrefix(command: string): Promise<readonly string[] | undefined> {
  const words = await readSingleCommand(command);
  if (words === undefined) return undefined;
  const [program = '', subcommand, third] = words;
  if (program.includes('/') || broadPrograms.has(program) || isNetworkProgram(program)) return undefined;
  if (isSubcommandProgram(program)) {
    if (subcommand === undefined || findKnownProgram(program, subcommand) === undefined) return undefined;
    if (program === 'git') return gitReadingCommands.has(subcommand) ? [program, subcommand] : undefined;
    // "npm run" alone would cover every script.
    if (program === 'npm' && ['run', 'run-script'].includes(subcommand))
      return third !== undefined && subcommandPattern.test(third) ? [program, subcommand, third] : undefined;
    return program === 'npm' && ['install', 'i', 'ci', 'start'].includes(subcommand)
      ? undefined
      : [program, subcommand];
  }
  // The arguments of these programs are commands or code, so a prefix proves nothing.
  if (isExecutingProgram(program)) return undefined;
  // "make" alone would cover every target.
  if (findKnownProgram(program, subcommand) !== undefined && program !== 'make') return [program];
  return subcommand !== undefined && subcommandPattern.test(subcommand) ? [program, subcommand] : undefined;
}

/** Returns the words of a line that is one plain command: no other command, no variable, no pattern, no redirection but of one output to another. */
async function readSingleCommand(command: string): Promise<readonly string[] | undefined> {
  const reading = await provePlainLine(command);
  if ('notPlain' in reading || reading.line.commands.length !== 1) return undefined;
  const [only] = reading.line.commands;
  const isPlain =
    only?.words.every(({ isPattern }) => !isPattern) && only.redirections.every(({ operator }) => operator === '>&');
  return only && isPlain ? only.words.map(({ text }) => text) : undefined;
}

/** Whether a call is one plain command that begins with these words, and the rest of it is known to be harmless. */
export async function commandBeginsWith(
  { words, tool }: GrantRule & { readonly type: 'command' },
  { input }: Pick<ToolCall, 'tool' | 'input'>,
  context: PolicyContext,
): Promise<boolean> {
  const { command, ...others } = isObject(input) ? input : {};
  // A grant covers neither the background nor other options.
  if (typeof command !== 'string' || Object.keys(others).some((name) => name !== 'timeout_s')) return false;
  const given = await readSingleCommand(command);
  if (given === undefined || !words.every((word, at) => given[at] === word)) return false;
  const on = { tool: [tool], command: [words] };
  const { effect } = await evaluatePolicy(
    { rules: [{ effect: 'allow', on, source: 'a grant', match: [], noMatch: [] }] },
    { tool, input },
    context,
  );
  return effect === 'allow';
}
