// Exact arithmetic: fractions of big integers, without rounding.

/** A fraction in lowest terms; the denominator is positive. */
export type Rational = { readonly n: bigint; readonly d: bigint };

/** Thrown if a value has no exact result within the bounds: the statement is not decided. */
export class Undecided extends Error {}

/** Max decimal digits of a numerator or denominator. */
const maxDigits = 400;
const limit = 10n ** BigInt(maxDigits);

function gcd(first: bigint, second: bigint): bigint {
  let [a, b] = [first < 0n ? -first : first, second < 0n ? -second : second];
  while (b > 0n) [a, b] = [b, a % b];
  return a;
}

/** Creates a fraction. A denominator of 0 and numbers of more than 400 digits are not decided. */
export function rational(n: bigint, d: bigint = 1n): Rational {
  if (d === 0n) throw new Undecided('a division by zero');
  if (d === 1n) return checkSize({ n, d });
  const divisor = gcd(n, d) * (d < 0n ? -1n : 1n);
  return checkSize({ n: n / divisor, d: d / divisor });
}

function checkSize(value: Rational): Rational {
  if (value.n >= limit || value.n <= -limit || value.d >= limit) throw new Undecided('a number of too many digits');
  return value;
}

/** The sum of two fractions. */
export const add = (a: Rational, b: Rational): Rational => rational(a.n * b.d + b.n * a.d, a.d * b.d);

/** The first fraction minus the second. */
export const subtract = (a: Rational, b: Rational): Rational => rational(a.n * b.d - b.n * a.d, a.d * b.d);

/** The product of two fractions. */
export const multiply = (a: Rational, b: Rational): Rational => rational(a.n * b.n, a.d * b.d);

/** The first fraction divided by the second. */
export const divide = (a: Rational, b: Rational): Rational => rational(a.n * b.d, a.d * b.n);

/** The fraction without its sign. */
export const absolute = (a: Rational): Rational => (a.n < 0n ? { n: -a.n, d: a.d } : a);

/** A negative number, 0 or a positive number, as the first fraction is below, equal to or above the second. */
export function compare(a: Rational, b: Rational): number {
  const difference = a.n * b.d - b.n * a.d;
  if (difference === 0n) return 0;
  return difference < 0n ? -1 : 1;
}

/** A fraction to the power of a whole number from -64 to 64; other powers are not decided. */
export function power(base: Rational, exponent: Rational): Rational {
  if (exponent.d !== 1n || exponent.n > 64n || exponent.n < -64n) throw new Undecided('a power that is not computed');
  if (base.n === 0n && exponent.n === 0n) throw new Undecided('zero to the power of zero');
  const positive = exponent.n < 0n ? -exponent.n : exponent.n;
  const raised = rational(base.n ** positive, base.d ** positive);
  return exponent.n < 0n ? rational(raised.d, raised.n) : raised;
}

/** The square root of a fraction if it is a fraction; other roots are not decided. */
export function squareRoot(value: Rational): Rational {
  if (value.n < 0n) throw new Undecided('the root of a negative number');
  const [n, d] = [integerRoot(value.n), integerRoot(value.d)];
  if (n * n !== value.n || d * d !== value.d) throw new Undecided('a root that is not a fraction');
  return { n, d };
}

function integerRoot(value: bigint): bigint {
  if (value < 2n) return value;
  let guess = 1n << BigInt((value.toString(2).length + 1) >> 1);
  for (;;) {
    const next = (guess + value / guess) >> 1n;
    if (next >= guess) return guess;
    guess = next;
  }
}

/** The remainder of a division of whole numbers with a positive divisor and a dividend of 0 or more; others are not decided. */
export function remainder(a: Rational, b: Rational): Rational {
  if (a.d !== 1n || b.d !== 1n || a.n < 0n || b.n <= 0n) throw new Undecided('a remainder that is not computed');
  return { n: a.n % b.n, d: 1n };
}

/** Whether a fraction has a finite decimal notation. */
export function isTerminating({ d }: Rational): boolean {
  let rest = d;
  for (const prime of [2n, 5n]) while (rest % prime === 0n) rest /= prime;
  return rest === 1n;
}

/** The greatest common divisor of whole numbers. */
export const greatestDivisor = (a: Rational, b: Rational): Rational => {
  if (a.d !== 1n || b.d !== 1n) throw new Undecided('a divisor of fractions');
  return { n: gcd(a.n, b.n), d: 1n };
};

const shownDecimals = 10;

/** Formats a fraction as a decimal number; `…` marks digits that are left out. */
export function formatRational({ n, d }: Rational): string {
  const sign = n < 0n ? '-' : '';
  const positive = n < 0n ? -n : n;
  const digits = ((positive % d) * 10n ** BigInt(shownDecimals)) / d;
  const isWhole = (positive * 10n ** BigInt(shownDecimals)) % d === 0n;
  const fraction = digits.toString().padStart(shownDecimals, '0');
  const shown = isWhole ? fraction.replace(/0+$/, '') : `${fraction}…`;
  return `${sign}${positive / d}${shown === '' ? '' : `.${shown}`}`;
}
