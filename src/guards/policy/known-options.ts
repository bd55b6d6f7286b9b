// Decides whether the arguments of a command are known to be harmless: each option is read as the program reads it.
import { isExecutingProgram, isNetworkProgram } from './executing-programs.ts';
import { findKnownProgram, type ProgramOptions } from './known-programs.ts';
import { isCertainAddress } from './addresses.ts';

/** A word of a command; a pattern becomes any number of words, with names that the text does not show. */
export type ArgumentWord = { readonly text: string; readonly pattern?: boolean };

/** Returns why the arguments after the first `namedLength` words are not known to be harmless; undefined if they are. `extraOptions` are options that the user allows. */
export function findUnknownArgument(
  argv: readonly ArgumentWord[],
  namedLength: number,
  extraOptions: readonly string[] = [],
): string | undefined {
  const words = argv.map(({ text }) => text);
  const program = words[0]?.split('/').at(-1) ?? '';
  const known = findKnownProgram(program, words[1]);
  if (known) {
    const start = Math.max(namedLength, known.nameLength);
    // The words that a rule names count as operands, so that their positions are right.
    const named = words.slice(known.nameLength, start).filter((word) => !word.startsWith('-')).length;
    return findUnknownOption(program, known.options, argv.slice(start), named, extraOptions);
  }
  const rest = words.slice(namedLength);
  if (rest.length === 1 && rest[0] === '--version' && isExecutingProgram(program)) return undefined;
  const unknown = rest.find(
    (word) => !isExtraOption(word, extraOptions) && (isExecutingProgram(program) || !isPlainOperand(program, word)),
  );
  if (unknown === undefined) return undefined;
  return isExecutingProgram(program)
    ? `${program} can run what its arguments say`
    : `it is not known what ${JSON.stringify(unknown)} means to ${program}`;
}

/** Whether a program could read the names that replace a pattern as more than files to read: as the file that it writes, for example, or as its code. */
const isUnsafePattern = (
  { pattern }: ArgumentWord,
  { maxOperands, isOperand, isFirstOperand }: ProgramOptions,
  operandCount: number,
): boolean =>
  pattern === true &&
  (maxOperands !== undefined || isOperand !== undefined || (isFirstOperand !== undefined && operandCount === 0));

const isExtraOption = (word: string, extraOptions: readonly string[]): boolean =>
  extraOptions.some((option) => (option.endsWith('=') ? word.startsWith(option) : word === option));

/** An operand of a program that is not in the table: a simple name or path, or an address. */
const isPlainOperand = (program: string, word: string): boolean =>
  isNetworkProgram(program) ? isCertainAddress(word) : /^[\w./+,%][\w./+,%-]*$/.test(word) || isCertainAddress(word);

const includesWord = (list: string | undefined, word: string): boolean => ` ${list ?? ''} `.includes(` ${word} `);

type OptionReading = 'known' | 'takes-next' | 'unknown';

function findUnknownOption(
  program: string,
  options: ProgramOptions,
  args: readonly ArgumentWord[],
  namedOperands: number,
  extraOptions: readonly string[],
): string | undefined {
  if (options.isAnyText) return undefined;
  let operandCount = namedOperands;
  let onlyOperands = false;
  for (let at = 0; at < args.length; at += 1) {
    const given = args[at] ?? { text: '' };
    const { text: arg } = given;
    if (isUnsafePattern(given, options, operandCount))
      return `${program} may read a name that replaces ${arg} in another way`;
    const word = at === 0 && options.isOldStyle && namedOperands === 0 && !arg.startsWith('-') ? `-${arg}` : arg;
    const isOption = !onlyOperands && word.startsWith('-') && word !== '-';
    if (!isOption) {
      // Not every program reads all words after "--" as operands: find still reads its expression.
      if (onlyOperands && word.startsWith('-') && word !== '-') return `${program} may read ${word} as an option`;
      const isAllowed =
        (operandCount > 0 || options.isFirstOperand?.(word) !== false) && options.isOperand?.(word) !== false;
      if (!isAllowed || operandCount >= (options.maxOperands ?? Infinity))
        return `${program} can do more with ${JSON.stringify(word)}`;
      if (isNetworkProgram(program) && !isCertainAddress(word)) return `it is not certain which host ${word} is`;
      operandCount += 1;
    } else if (operandCount > 0 && options.maxOperands !== undefined)
      // Some programs read options only before the first operand, and a word after it as the file to write.
      return `${program} may read ${word} as an operand`;
    else if (word === '--') onlyOperands = true;
    else if (!isExtraOption(word, extraOptions)) {
      const reading = readOption(options, word);
      if (reading === 'unknown') return `${program} ${word} is not a known option`;
      if (reading === 'takes-next') {
        at += 1;
        const { text: value, pattern: isManyWords } = args[at] ?? {};
        if (value === undefined || isManyWords || !isOptionValue(value) || !(options.isValue?.(value) ?? true))
          return `the value of ${program} ${word} is not known`;
        if (program === 'tar' && value.includes(':')) return `${value} may be on another machine`;
      }
    }
  }
  return undefined;
}

/** A value that looks like an option could be one, if the program reads its options otherwise. */
const isOptionValue = (value: string): boolean => !value.startsWith('-') || /^-\d{1,9}$/.test(value);

function readOption(options: ProgramOptions, word: string): OptionReading {
  if (word.startsWith('--')) {
    const [name, value] = splitAtEquals(word.slice(2));
    if (options.words !== undefined) return readWordOption(options, name, value);
    if (value === undefined && (includesWord(options.long, name) || includesWord(options.longAttached, name)))
      return name === '' ? 'unknown' : 'known';
    if (value !== undefined && includesWord(options.longAttached, name)) return 'known';
    if (includesWord(options.longValued, name)) return value === undefined ? 'takes-next' : 'known';
    return 'unknown';
  }
  const [name, value] = splitAtEquals(word.slice(1));
  if (options.words !== undefined) return readWordOption(options, name, value);
  if (options.isNumberOption && /^-\d{1,9}$/.test(word)) return 'known';
  return readShortOptions(options, word.slice(1));
}

function readWordOption(options: ProgramOptions, name: string, value: string | undefined): OptionReading {
  if (name === '') return 'unknown';
  if (value === undefined && includesWord(options.words, name)) return 'known';
  if (includesWord(options.wordsValued, name)) return value === undefined ? 'takes-next' : 'known';
  return 'unknown';
}

/** Reads short options that share a word, letter by letter. */
function readShortOptions(options: ProgramOptions, letters: string): OptionReading {
  const { flags = '', valued = '', attached = '', isValueInNextWord } = options;
  for (let at = 0; at < letters.length; at += 1) {
    const letter = letters.charAt(at);
    if (flags.includes(letter)) continue;
    if (attached.includes(letter)) return /^[\w.,:%]*$/.test(letters.slice(at + 1)) ? 'known' : 'unknown';
    const isLast = at + 1 === letters.length;
    if (!isLast && valued.includes(letter) && !(options.isValue?.(letters.slice(at + 1)) ?? true)) return 'unknown';
    if (valued.includes(letter) && (isLast || !isValueInNextWord)) return isLast ? 'takes-next' : 'known';
    return 'unknown';
  }
  return 'known';
}

function splitAtEquals(text: string): readonly [string, string | undefined] {
  const at = text.indexOf('=');
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}
