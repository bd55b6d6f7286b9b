// Finds what a command might do that an ask or deny rule forbids, although no rule matches what is known of it.
import { readAddresses } from './addresses.ts';
import { changesShell } from './executing-programs.ts';
import { findUnknownArgument } from './known-options.ts';
import { findKnownProgram } from './known-programs.ts';
import { hostMatches, pathMatches } from './match.ts';
import { programName } from './nested-commands.ts';
import { resolveOperationPath, type Operation, type PathContext } from './operations.ts';
import type { Policy, PolicyMatcher } from './policy.ts';

/** Returns the reasons why an operation might be forbidden, one sentence each; empty if no rule forbids a command, a path or a host. `unknowns` are the reasons why parts of the call are unknown. */
export function findDoubts(
  { rules }: Policy,
  operations: readonly Operation[],
  unknowns: readonly string[],
  context: PathContext,
): readonly string[] {
  const strict = rules.flatMap(({ effect, on }) =>
    effect !== 'allow' && (on.command ?? on.path ?? on.host) !== undefined ? [on] : [],
  );
  if (strict.length === 0) return [];
  if (unknowns.length > 0) return unknowns;
  return [...new Set(operations.flatMap((operation) => operationDoubts(operation, strict, context)))];
}

function operationDoubts(
  operation: Operation,
  strict: readonly PolicyMatcher[],
  context: PathContext,
): readonly string[] {
  const { argv } = operation;
  if (argv === undefined) return [];
  const program = programName(argv[0]);
  const doubts: string[] = [];
  const unknownWord = argv.find(({ known }) => !known);
  if (unknownWord) doubts.push(`The value of ${unknownWord.text} is not known.`);
  const hasPathRules = strict.some(({ path }) => path !== undefined);
  // A pattern with a folder before it never becomes a word of a command.
  const pattern = argv.find(({ pattern: isPattern, text }) => isPattern && (hasPathRules || !/^[^*?[]*\//.test(text)));
  if (pattern) doubts.push(`The names that replace ${pattern.text} are not known.`);
  if (operation.hasUncertainHost && strict.some(({ host }) => host !== undefined))
    doubts.push('It is not certain which host it names.');
  const words = argv.map(({ text }) => text);
  const isProved = findKnownProgram(program, words[1]) !== undefined && findUnknownArgument(argv, 1) === undefined;
  if (isProved) return doubts;
  if (changesShell(program)) doubts.push(`${program} can change what the rest of the line runs.`);
  const forbiddenPrograms = new Set(
    strict.flatMap(({ command = [] }) => command.map(([name = '']) => name.toLowerCase())),
  );
  const forbiddenWord = findWord(words, forbiddenPrograms);
  if (forbiddenWord !== undefined) doubts.push(`${program} may run ${forbiddenWord}, which a rule forbids.`);
  const forbiddenPath = findForbiddenPath(words, strict, context);
  if (forbiddenPath !== undefined) doubts.push(`${program} may use ${forbiddenPath}, which a rule forbids.`);
  const forbiddenHost = findForbiddenHost(words, strict);
  if (forbiddenHost !== undefined) doubts.push(`${program} may connect to ${forbiddenHost}, which a rule forbids.`);
  return doubts;
}

const maxBundledLetters = 8;

/** Returns the first word behind a program, or the first word inside a text, that is the name of a forbidden program. */
function findWord([program, ...args]: readonly string[], names: ReadonlySet<string>): string | undefined {
  // Option letters, and the addresses and commands of sed, may stand before a name without a blank.
  const isGlued = (word: string): boolean => word.startsWith('-') || program?.endsWith('sed') === true;
  return args
    .flatMap((text) => text.toLowerCase().split(/[^\w.+-]+/))
    .flatMap((word) => (isGlued(word) ? [word, ...suffixesOf(word)] : [word]))
    .find((word) => names.has(word));
}

const suffixesOf = (word: string): readonly string[] =>
  Array.from({ length: Math.min(maxBundledLetters, word.length) }, (_, at) => word.slice(at + 1));

const maxGuesses = 2000;

/** Returns the parts of a word that a program may read as a path: behind option letters, and behind punctuation. */
function pathGuesses(word: string, at: number): readonly string[] {
  if (word.length > 4096) return [];
  const parts = word.split(/[=:,@]/).slice(1);
  const isBundle = word.startsWith('-') || at === 1;
  const bundled = isBundle
    ? Array.from({ length: maxBundledLetters }, (_, offset) => word.slice(offset + 1)).filter(
        (rest, offset) => rest !== '' && /^-?[a-z]*$/i.test(word.slice(0, offset + 1)),
      )
    : [];
  return [...parts, ...bundled];
}

function findForbiddenPath(
  words: readonly string[],
  strict: readonly PolicyMatcher[],
  context: PathContext,
): string | undefined {
  const globs = strict.flatMap(({ path = [] }) => path);
  if (globs.length === 0) return undefined;
  const guesses = words.flatMap((word, at) => (at === 0 ? [] : pathGuesses(word, at))).slice(0, maxGuesses);
  return guesses.find((guess) => {
    const { given, resolved = given } = resolveOperationPath(guess, context);
    return globs.some((glob) => [given, resolved].some((file) => pathMatches(glob, file, context, true)));
  });
}

function findForbiddenHost([, ...args]: readonly string[], strict: readonly PolicyMatcher[]): string | undefined {
  const patterns = strict.flatMap(({ host = [] }) => host);
  if (patterns.length === 0) return undefined;
  return args
    .flatMap((text) => readAddresses(text, true).hosts)
    .find((host) => patterns.some((pattern) => hostMatches(pattern, host)));
}
