// The patterns of the user: a small language without nested repetition, so that every pattern runs in linear time.
import { FairleadError } from '../../core/index.ts';

/** A pattern of the user with its name, which audit facts and placeholders show. */
export type DlpPattern = { readonly name: string; readonly pattern: string };

/** The maximum number of patterns. */
export const maxPatterns = 200;
const maxPatternChars = 300;
const maxRepeat = 100;
const namePattern = /^[A-Za-z][\w -]{0,39}$/;

/** Compiles a pattern. It may have characters, classes, alternatives in a group without repetition, and `?` or a bounded repetition of one character or class. */
export function compilePattern({ name, pattern }: DlpPattern): RegExp {
  const refuse = (why: string): never => {
    throw new FairleadError('dlp/bad-pattern', `The pattern ${JSON.stringify(name)} ${why}.`, {
      blame: 'user',
      hint: 'Write for example KD-[0-9]{6} or (?:cust|order) [A-Z]{2}\\d{4,8}.',
    });
  };
  if (!namePattern.test(name)) refuse('needs a name of letters, digits, spaces and dashes');
  if (pattern === '' || pattern.length > maxPatternChars) refuse(`must have 1 to ${maxPatternChars} characters`);
  if (/[*+]/.test(withoutLiterals(pattern))) refuse('may not repeat without a bound: use {1,20} instead of + or *');
  if (/\\[1-9k]|\(\?(?!:)/.test(pattern)) refuse('may have no back-reference, look-around or named group');
  if (/\)[{?]/.test(withoutLiterals(pattern))) refuse('may not repeat a group');
  const repeats = [...withoutLiterals(pattern).matchAll(/\{(\d+)(?:,(\d*))?\}/g)];
  if (repeats.some(([, low = '', high]) => high === '' || Number(high ?? low) > maxRepeat))
    refuse(`may repeat a character at most ${maxRepeat} times`);
  // Each variable repetition multiplies the work at a position by its bound.
  const work = repeats.reduce((product, [, low = '', high]) => product * (Number(high ?? low) - Number(low) + 1), 1);
  if (work > 10_000) refuse('has too many repetitions of variable length');
  try {
    const compiled = new RegExp(`(?<![A-Za-z0-9_])(?:${pattern})(?![A-Za-z0-9_])`, 'g');
    if (new RegExp(`^(?:${pattern})$`).test('')) refuse('matches an empty text');
    return compiled;
  } catch (error) {
    if (error instanceof FairleadError) throw error;
    return refuse('is not a regular expression');
  }
}

/** The pattern with escaped characters and classes replaced by a letter. */
const withoutLiterals = (pattern: string): string =>
  pattern.replaceAll(/\\./g, 'x').replaceAll(/\[[^\]]{1,200}\]/g, 'x');
