// Completes slash commands and their arguments, and file paths after an @.
import type { Conversation } from '../../coding-agent/index.ts';
import type { UiChoice, Completer, Suggestions } from '../tui/ui.ts';
import { listSlashCommands, parseSlashCommand } from '../slash-commands/registry.ts';
import { searchFiles } from './file-search.ts';

const maxSuggestions = 50;

/** Creates the completer of a conversation. */
export function createCompleter(conversation: Conversation): Completer {
  return async (before, signal) => {
    const mention = /(?:^|\s)@([^\s@]*)$/.exec(before);
    if (mention) return completeFiles(conversation.agent.workspace.cwd, before, mention[1] ?? '', signal);
    if (!before.startsWith('/') || before.includes('\n')) return undefined;
    const space = before.indexOf(' ');
    if (space < 0) return filterChoices(0, before, commandChoices(conversation));
    const parsed = parseSlashCommand(before, conversation.agent.commands);
    const choices = await parsed?.command.complete?.(parsed.args, { conversation });
    return choices && parsed ? filterChoices(before.length - parsed.args.length, parsed.args, choices) : undefined;
  };
}

const commandChoices = (conversation: Conversation): readonly UiChoice[] =>
  listSlashCommands(conversation.agent.commands).map(({ name, description, argumentHint }) => ({
    value: `/${name}${argumentHint === undefined ? '' : ' '}`,
    label: `/${name}`,
    description,
  }));

/** Returns the choices that contain the typed text, prefix matches first; a complete match gets no trailing space. */
function filterChoices(from: number, typed: string, choices: readonly UiChoice[]): Suggestions | undefined {
  const word = typed.toLowerCase();
  const rank = ({ value }: UiChoice): number => (value === typed ? 0 : value.toLowerCase().startsWith(word) ? 1 : 2);
  const matches = choices
    .filter(({ value }) => value.toLowerCase().includes(word))
    .map((choice) => (choice.value.trimEnd() === typed ? { ...choice, value: typed } : choice))
    .toSorted((a, b) => rank(a) - rank(b))
    .slice(0, maxSuggestions);
  return matches.some(({ value }) => value !== typed) ? { from, choices: matches } : undefined;
}

async function completeFiles(
  cwd: string,
  before: string,
  typed: string,
  signal: AbortSignal,
): Promise<Suggestions | undefined> {
  const paths = await searchFiles(cwd, typed, maxSuggestions, signal);
  const from = before.length - typed.length - 1;
  return paths.length ? { from, choices: paths.map((path) => ({ value: `@${path}`, label: path })) } : undefined;
}
