// What could be meant while a line is typed: slash commands and what follows them, and files after an @.
import type { Conversation } from '../conversation/conversation.ts';
import type { Choice, Completer, Suggestions } from '../face/face.ts';
import { allCommands, commandIn } from '../slash/table.ts';
import { filesNear } from './files.ts';

const most = 50;

/** Suggestions for a line of this conversation. */
export function completer(talk: Conversation): Completer {
  return async (before, signal) => {
    const mention = /(?:^|\s)@([^\s@]*)$/.exec(before);
    if (mention) return files(talk.outfit.workspace.cwd, before, mention[1] ?? '', signal);
    if (!before.startsWith('/') || before.includes('\n')) return undefined;
    const space = before.indexOf(' ');
    if (space < 0) return narrowed(0, before, commandChoices(talk));
    const found = commandIn(before, talk.outfit.commands);
    const choices = await found?.command.complete?.(found.args, { talk });
    return choices && found ? narrowed(before.length - found.args.length, found.args, choices) : undefined;
  };
}

const commandChoices = (talk: Conversation): readonly Choice[] =>
  allCommands(talk.outfit.commands).map(({ name, about, takes }) => ({
    value: `/${name}${takes === undefined ? '' : ' '}`,
    label: `/${name}`,
    about,
  }));

/** The choices that hold what was typed, those that begin with it first; what is written in full already stays as it is. */
function narrowed(from: number, typed: string, choices: readonly Choice[]): Suggestions | undefined {
  const word = typed.toLowerCase();
  const rank = ({ value }: Choice): number => (value === typed ? 0 : value.toLowerCase().startsWith(word) ? 1 : 2);
  const fitting = choices
    .filter(({ value }) => value.toLowerCase().includes(word))
    .map((choice) => (choice.value.trimEnd() === typed ? { ...choice, value: typed } : choice))
    .toSorted((a, b) => rank(a) - rank(b))
    .slice(0, most);
  return fitting.some(({ value }) => value !== typed) ? { from, choices: fitting } : undefined;
}

async function files(
  cwd: string,
  before: string,
  typed: string,
  signal: AbortSignal,
): Promise<Suggestions | undefined> {
  const found = await filesNear(cwd, typed, most, signal);
  const from = before.length - typed.length - 1;
  return found.length ? { from, choices: found.map((path) => ({ value: `@${path}`, label: path })) } : undefined;
}
