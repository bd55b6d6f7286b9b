// Operations on the values of arithmetic: exact numbers with a currency, a percent sign or no unit.
import type { WrittenNumber } from './numbers.ts';
import { divide, multiply, rational, remainder, Undecided, type Rational } from './rational.ts';

/** The value of an expression. */
export type ArithmeticValue = {
  readonly value: Rational;
  /** A currency, `%`, or empty. */
  readonly unit: string;
  /** The decimals of the most exact number in it. */
  readonly decimals: number;
  /** How many operations it has. */
  readonly operations: number;
  /** The number, if the expression is one number only. */
  readonly written?: WrittenNumber;
};

const hundred = rational(100n);

/** The value of an operation on two values. */
export function combineValues(a: ArithmeticValue, b: ArithmeticValue, value: Rational, unit: string): ArithmeticValue {
  const operations = a === b ? a.operations + 1 : a.operations + b.operations + 1;
  return { value, unit, decimals: Math.max(a.decimals, b.decimals), operations };
}

/** The value of an operation on a list of values of one unit; only a sum keeps the unit. */
export function foldValues(
  values: readonly ArithmeticValue[],
  operation: (a: Rational, b: Rational) => Rational,
  keepsUnit: boolean,
): ArithmeticValue {
  return values.reduce((left, right) => {
    if (keepsUnit ? left.unit !== right.unit : left.unit !== '' || right.unit !== '')
      throw new Undecided('values of different units');
    return combineValues(left, right, operation(left.value, right.value), left.unit);
  });
}

/** The value of a product, a quotient, a remainder, or a share such as `12 % of 250`. */
export function applyProduct(operator: string, left: ArithmeticValue, right: ArithmeticValue): ArithmeticValue {
  if (operator === 'of')
    return combineValues(left, right, divide(multiply(left.value, right.value), hundred), right.unit);
  if (operator === 'mod') {
    if (left.unit !== '' || right.unit !== '') throw new Undecided('a remainder with units');
    return combineValues(left, right, remainder(left.value, right.value), '');
  }
  if (operator === '*') {
    if (left.unit !== '' && right.unit !== '') throw new Undecided('a product of two units');
    return combineValues(left, right, multiply(left.value, right.value), left.unit + right.unit);
  }
  if (right.unit !== '' && right.unit !== left.unit) throw new Undecided('a division by a unit');
  return combineValues(left, right, divide(left.value, right.value), right.unit === '' ? left.unit : '');
}
