// Decides whether the first word of a command line looks like a command that does not exist, so that a mistyped command is never sent to a model as a prompt.
import { closestMatches } from '../../core/index.ts';
import { withProgramName } from './program-name.ts';

/** Names that other programs, or documents about this one, use for commands; the text says what to use here. */
const reservedWords: Readonly<Record<string, string>> = {
  continue: 'To continue the latest session of this folder: fairlead --continue',
  fork: 'To continue a copy of a session: fairlead --fork <session>',
  redteam: '',
  resume: 'To resume a session: fairlead --resume <session>',
  update: 'To update: npm install -g fairlead',
  upgrade: 'To update: npm install -g fairlead',
  version: 'To show the version: fairlead --version',
};

const commandNamePattern = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/;

/**
 * Returns a sentence if the arguments look like a command that does not exist. The first word looks like one if it is in lower case and has a
 * hyphen, is similar to the name of a command, is reserved, or has further words after it. One plain word such as `hello` is a prompt. With text on standard input a similar word is a prompt too
 * unless it is almost the name of a command: `git diff | fairlead test` is not a mistyped `trust`.
 */
export function findUnknownCommand(
  words: readonly string[],
  commands: readonly string[],
  hasPipedText = false,
): string | undefined {
  const [first, ...rest] = words;
  if (first === undefined || !commandNamePattern.test(first)) return undefined;
  const asPrompt = `To send it to the model: ${withProgramName('fairlead --prompt')} ${quoteWords(words)}`;
  if (commands.includes(first)) return `The command "${first}" must be the first argument. ${asPrompt}`;
  const reserved = Object.hasOwn(reservedWords, first) ? reservedWords[first] : undefined;
  const similar =
    reserved === undefined ? findSimilarCommand(first, commands, hasPipedText && rest.length === 0) : undefined;
  if (reserved === undefined && similar === undefined && !first.includes('-') && rest.length === 0) return undefined;
  const instead = reserved ? `${withProgramName(reserved)}.` : '';
  const hint = similar === undefined ? instead : `Did you mean "${similar}"?`;
  return [`There is no command "${first}".`, hint, asPrompt].filter(Boolean).join(' ');
}

function findSimilarCommand(word: string, commands: readonly string[], isStrict: boolean): string | undefined {
  // Up to three letters are close to every short name: "say" and "hi" are prompts, not a mistyped "why".
  const isLike = (name: string): boolean => (word.length > 3 && !isStrict) || name[0] === word[0];
  return closestMatches(word, commands, isStrict ? 1 : undefined).find(
    (name) => isLike(name) && Math.abs(name.length - word.length) <= 2,
  );
}

/** The words as one argument of a shell. */
const quoteWords = (words: readonly string[]): string => `"${words.join(' ').replaceAll(/["\\$`]/g, String.raw`\$&`)}"`;
