// The words of arithmetic: operators, shares, multiples and currencies.
import { rational, type Rational } from './rational.ts';

/** Words that join two values, as operators. */
export const wordOperators: Readonly<Record<string, string>> = {
  plus: '+',
  minus: '-',
  times: '*',
  over: '/',
  mod: 'mod',
  modulo: 'mod',
};

/** The words of shares, before `of`. */
export const shares: Readonly<Record<string, Rational>> = {
  half: rational(1n, 2n),
  third: rational(1n, 3n),
  quarter: rational(1n, 4n),
  fifth: rational(1n, 5n),
  tenth: rational(1n, 10n),
};

/** The words of multiples. */
export const multiples: Readonly<Record<string, Rational>> = {
  double: rational(2n),
  twice: rational(2n),
  triple: rational(3n),
};

/** The currencies by their words. */
export const currencyWords: Readonly<Record<string, string>> = {
  dollar: '$',
  dollars: '$',
  usd: '$',
  euro: '€',
  euros: '€',
  eur: '€',
  pounds: '£',
  gbp: '£',
  yen: '¥',
};
