// What could be meant while a line is typed: slash commands and what follows them, and files after an @.
import type { Conversation } from '../../coding-agent/conversation.ts';
import type { UiChoice, Completer, Suggestions } from '../tui/ui.ts';
import { listSlashCommands, parseSlashCommand } from '../slash-commands/registry.ts';
import { searchFiles } from './file-search.ts';

const maxSuggestions = 50;

/** Suggestions for a line of this conversation. */
export function createCompleter(talk: Conversation): Completer {
  return async (before, signal) => {
    const mention = /(?:^|\s)@([^\s@]*)$/.exec(before);
    if (mention) return completeFiles(talk.agent.workspace.cwd, before, mention[1] ?? '', signal);
    if (!before.startsWith('/') || before.includes('\n')) return undefined;
    const space = before.indexOf(' ');
    if (space < 0) return filterChoices(0, before, commandChoices(talk));
    const found = parseSlashCommand(before, talk.agent.commands);
    const choices = await found?.command.complete?.(found.args, { conversation: talk });
    return choices && found ? filterChoices(before.length - found.args.length, found.args, choices) : undefined;
  };
}

const commandChoices = (talk: Conversation): readonly UiChoice[] =>
  listSlashCommands(talk.agent.commands).map(({ name, description, argumentHint }) => ({
    value: `/${name}${argumentHint === undefined ? '' : ' '}`,
    label: `/${name}`,
    description,
  }));

/** The choices that hold what was typed, those that begin with it first; what is written in full already stays as it is. */
function filterChoices(from: number, typed: string, choices: readonly UiChoice[]): Suggestions | undefined {
  const word = typed.toLowerCase();
  const rank = ({ value }: UiChoice): number => (value === typed ? 0 : value.toLowerCase().startsWith(word) ? 1 : 2);
  const fitting = choices
    .filter(({ value }) => value.toLowerCase().includes(word))
    .map((choice) => (choice.value.trimEnd() === typed ? { ...choice, value: typed } : choice))
    .toSorted((a, b) => rank(a) - rank(b))
    .slice(0, maxSuggestions);
  return fitting.some(({ value }) => value !== typed) ? { from, choices: fitting } : undefined;
}

async function completeFiles(
  cwd: string,
  before: string,
  typed: string,
  signal: AbortSignal,
): Promise<Suggestions | undefined> {
  const found = await searchFiles(cwd, typed, maxSuggestions, signal);
  const from = before.length - typed.length - 1;
  return found.length ? { from, choices: found.map((path) => ({ value: `@${path}`, label: path })) } : undefined;
}
