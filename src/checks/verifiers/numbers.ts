// Reads numbers as they are written, in the notation of English (1,000.5) or of German (1.000,5), and compares exact values with them.
import { absolute, compare, divide, isTerminating, multiply, rational, subtract, type Rational } from './rational.ts';
import type { Truth } from './verifier.ts';

/** How numbers are written: `en` is 1,000.5 and `de` is 1.000,5. */
export type NumberNotation = 'en' | 'de';

/** A number as it is written. */
export type WrittenNumber = {
  readonly value: Rational;
  /** The decimals that are written. */
  readonly decimals: number;
  /** The value of one unit of the last digit that is written. */
  readonly step: Rational;
};

/** The characters of a number: digits with single separators between them. */
export const numberPattern: string = String.raw`\d+(?:[.,'\u2019\u00a0\u202f]\d+)*`;

const maxNumberChars = 60;
const englishNumber = /^(?:\d{1,3}(?:,\d{3})+|\d{1,3}(?:[\u00a0\u202f'’]\d{3})+|\d+)(?:\.(\d+))?$/;
const germanNumber = /^(?:\d{1,3}(?:\.\d{3})+|\d{1,3}(?:[\u00a0\u202f'’]\d{3})+|\d+)(?:,(\d+))?$/;

/** Parses a number in a notation; undefined if it is not written so. */
export function parseNumber(text: string, notation: NumberNotation): WrittenNumber | undefined {
  if (text.length > maxNumberChars) return undefined;
  const match = (notation === 'en' ? englishNumber : germanNumber).exec(text);
  if (!match) return undefined;
  const fraction = match[1] ?? '';
  const scale = 10n ** BigInt(fraction.length);
  return {
    value: rational(BigInt(text.replaceAll(/\D/g, '')), scale),
    decimals: fraction.length,
    step: rational(1n, scale),
  };
}

/** Returns a number as digits with a decimal point, without separators and without zeros at the end of the fraction; a number in no notation keeps its spelling. */
export function canonicalNumber(text: string, notation: NumberNotation): string {
  if (/^[1-9]\d*$/.test(text)) return text;
  const patterns = notation === 'en' ? [englishNumber, germanNumber] : [germanNumber, englishNumber];
  for (const pattern of patterns) {
    const match = text.length > maxNumberChars ? null : pattern.exec(text);
    if (!match) continue;
    const fraction = match[1] ?? '';
    const digits = text.replaceAll(/\D/g, '');
    const whole = digits.slice(0, digits.length - fraction.length).replace(/^0+(?=\d)/, '');
    const rest = fraction.replace(/0+$/, '');
    return rest === '' ? whole : `${whole}.${rest}`;
  }
  return text;
}

/** A written number times a factor, such as `2.5 million`. */
export const scaleNumber = ({ value, decimals, step }: WrittenNumber, factor: Rational): WrittenNumber => ({
  value: multiply(value, factor),
  decimals,
  step: multiply(step, factor),
});

const smallNumbers =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(
    ' ',
  );
const tens = 'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ');

/** The numbers that are written as one word. */
export const numberWords: ReadonlyMap<string, number> = new Map([
  ...smallNumbers.map((word, value) => [word, value] as const),
  ...tens.map((word, index) => [word, (index + 2) * 10] as const),
]);

/** The words that multiply the number before them. */
export const scaleWords: ReadonlyMap<string, Rational> = new Map(
  (
    [
      ['hundred', 2],
      ['thousand', 3],
      ['million', 6],
      ['billion', 9],
      ['trillion', 12],
    ] as const
  ).map(([word, zeros]) => [word, { n: 10n ** BigInt(zeros), d: 1n }] as const),
);

/** How a written number claims to be the value: `exactly` allows no rounding, `equal` leaves a rounding undecided, `about` allows a difference of 1 %. */
export type Precision = 'rounded' | 'equal' | 'exactly' | 'about';

const onePercent = rational(1n, 100n);
const twentyPercent = rational(1n, 5n);
const halfPercent = rational(1n, 200n);

/** The value of one unit of the last digit of a number that is not a zero at the end of a whole number: 100 for 6200. */
function significantStep({ value, decimals, step }: WrittenNumber): Rational {
  if (decimals > 0 || value.d !== 1n || value.n === 0n) return step;
  let [digits, place] = [value.n, 1n];
  for (; digits % 10n === 0n; digits /= 10n) place *= 10n;
  return rational(place);
}

/**
 * Compares an exact value with a written number. `rounded` accepts a rounding to the decimals that are written: two at least, and not
 * fewer than the operands have; with `isConversion` one is enough within 0.5 %, and none for a value without a finite notation.
 * `about` accepts a rounding to the digits that are written within 1 %, and rejects a difference of more than 20 %. What lies between
 * a rounding and a wrong number cannot be decided: a digit that was cut off, a half that is rounded up or down, a whole number for a fraction.
 */
export function compareWritten(
  exact: Rational,
  written: WrittenNumber,
  options: { readonly precision: Precision; readonly operandDecimals?: number; readonly isConversion?: boolean },
): Truth {
  const difference = absolute(subtract(exact, written.value));
  if (difference.n === 0n) return 'true';
  const isWithin = (share: Rational): boolean => compare(difference, multiply(absolute(exact), share)) <= 0;
  const isRoundedTo = (step: Rational): boolean => compare(multiply(difference, rational(2n)), step) < 0;
  if (options.precision === 'exactly') return 'false';
  if (options.precision === 'about') {
    if (exact.n === 0n) return 'undecided';
    if (isWithin(onePercent) && isRoundedTo(significantStep(written))) return 'true';
    return isWithin(twentyPercent) ? 'undecided' : 'false';
  }
  if (divide(exact, written.step).d === 1n) return 'false';
  if (compare(difference, written.step) > 0) return 'false';
  if (options.precision === 'equal' || !isRoundedTo(written.step)) return 'undecided';
  if (options.isConversion === true) {
    const minDecimals = isTerminating(exact) ? 2 : 0;
    return written.decimals >= minDecimals && isWithin(halfPercent) ? 'true' : 'undecided';
  }
  return written.decimals >= Math.max(2, isTerminating(exact) ? (options.operandDecimals ?? 0) : 0)
    ? 'true'
    : 'undecided';
}

const englishWords =
  /\b(?:is|are|was|equals?|of|the|and|times|divided|by|percent|has|have|there|between|gives|about|with)\b/i;
const germanWords =
  /\b(?:ist|sind|war|und|der|die|das|dem|den|von|mal|durch|ergibt|gleich|prozent|entspricht|hat|zwischen|mit|ein|eine|nicht)\b/i;

/** The notations in which the numbers of a text may be written, the likelier one first: by its words, or both if it has none that tell. */
export function likelyNotations(text: string): readonly NumberNotation[] {
  if (germanWords.test(text)) return ['de'];
  return englishWords.test(text) ? ['en'] : ['en', 'de'];
}
