// Reads one statement of arithmetic: two or more expressions with relations between them, or a property of a number.
import { ArithmeticReader, noExpression } from './arithmetic-parser.ts';
import type { Token } from './arithmetic-tokens.ts';
import type { ArithmeticValue } from './arithmetic-values.ts';
import { compareWritten, type NumberNotation, type Precision, type WrittenNumber } from './numbers.ts';
import { compare, divide, formatRational, rational, remainder, Undecided, type Rational } from './rational.ts';
import { negate, type Truth } from './verifier.ts';

/** A statement of arithmetic in a list of tokens, and whether it is true. */
export type ArithmeticStatement = {
  readonly start: number;
  readonly end: number;
  readonly truth: Truth;
  /** What was computed, such as `12 % of 250 = 30`. */
  readonly computation: string;
  /** Whether its relation is a symbol such as `=`. */
  readonly isSymbolic: boolean;
};

type Relation = {
  readonly type: '=' | '<' | '>' | '≤' | '≥';
  readonly isNegated: boolean;
  readonly precision: Precision;
  readonly isSymbolic: boolean;
};

const symbols: Readonly<Record<string, Omit<Relation, 'isSymbolic'>>> = {
  '=': { type: '=', isNegated: false, precision: 'equal' },
  '≈': { type: '=', isNegated: false, precision: 'about' },
  '≠': { type: '=', isNegated: true, precision: 'exactly' },
  '<': { type: '<', isNegated: false, precision: 'exactly' },
  '>': { type: '>', isNegated: false, precision: 'exactly' },
  '≤': { type: '≤', isNegated: false, precision: 'exactly' },
  '≥': { type: '≥', isNegated: false, precision: 'exactly' },
};

const equalWords: readonly (readonly string[])[] = [
  ['equals'],
  ['gives'],
  ['makes'],
  ['yields'],
  ['comes', 'to'],
  ['amounts', 'to'],
  ['adds', 'up', 'to'],
  ['results', 'in'],
];
const aboutWords = ['about', 'approximately', 'roughly', 'around', 'nearly', 'almost'];
const moreWords = ['greater', 'more', 'larger', 'bigger', 'higher'];
const lessWords = ['less', 'smaller', 'lower', 'fewer'];

/** Reads the statement that starts at a token. Throws NoExpression if there is none, and Undecided if it cannot be computed. */
export function readStatement(tokens: readonly Token[], start: number, notation: NumberNotation): ArithmeticStatement {
  const division = readDivision(new ArithmeticReader(tokens, start, notation));
  if (division) return { start, ...division, isSymbolic: false };
  const reader = new ArithmeticReader(tokens, start, notation);
  const values = [readValue(reader)];
  const truths: Truth[] = [];
  const computations: string[] = [];
  let isSymbolic = false;
  for (let relation = readRelation(reader); relation !== undefined; relation = readRelation(reader)) {
    const left = values.at(-1) as ReadValue;
    const property = values.length === 1 && !relation.isSymbolic ? readProperty(reader, left.value) : undefined;
    if (property) {
      const truth = relation.isNegated ? negate(property.truth) : property.truth;
      return { start, end: reader.at, truth, computation: property.computation, isSymbolic: false };
    }
    const right = readValue(reader);
    truths.push(relate(relation, left.value, right.value));
    values.push(right);
    isSymbolic ||= relation.isSymbolic;
  }
  const operations = values.reduce((sum, { value }) => sum + value.operations, 0);
  if (truths.length === 0 || operations === 0) throw noExpression;
  for (const { value, text } of values)
    if (value.operations > 0) computations.push(`${text} = ${formatRational(value.value)}${value.unit}`);
  return { start, end: reader.at, truth: joinTruths(truths), computation: computations.join('\n'), isSymbolic };
}

/** Reads `1000 divided by 7 leaves a remainder of 6`. */
function readDivision(
  reader: ArithmeticReader,
): Pick<ArithmeticStatement, 'end' | 'truth' | 'computation'> | undefined {
  if (reader.peek()?.type !== 'number') return undefined;
  const dividend = reader.readOperand();
  if (!reader.take('divided', 'by')) return undefined;
  const divisor = reader.readOperand();
  if (!['leaves', 'has', 'gives'].some((word) => reader.take(word))) return undefined;
  reader.take('a');
  if (!reader.take('remainder')) return undefined;
  reader.take('of');
  const stated = reader.readOperand();
  if (dividend.unit !== '' || divisor.unit !== '' || stated.unit !== '') throw new Undecided('a remainder with units');
  const rest = remainder(dividend.value, divisor.value);
  const computation = `${formatRational(dividend.value)} mod ${formatRational(divisor.value)} = ${formatRational(rest)}`;
  return { end: reader.at, truth: compare(rest, stated.value) === 0 ? 'true' : 'false', computation };
}

/** A statement with a false part is false, one with an undecided part is undecided. */
const joinTruths = (truths: readonly Truth[]): Truth =>
  truths.includes('false') ? 'false' : truths.includes('undecided') ? 'undecided' : 'true';

type ReadValue = { readonly value: ArithmeticValue; readonly text: string };

/** Reads an expression and its text. */
function readValue(reader: ArithmeticReader): ReadValue {
  const start = reader.at;
  const value = reader.readExpression();
  const text = reader.tokens
    .slice(start, reader.at)
    .map((token, index) => (token.isTight || index === 0 ? token.text : ` ${token.text}`))
    .join('');
  return { value, text };
}

function readRelation(reader: ArithmeticReader): Relation | undefined {
  const token = reader.peek();
  if (token?.type === 'relation') {
    const known = symbols[token.text];
    if (!known) return undefined;
    reader.at += 1;
    return { ...known, isSymbolic: true };
  }
  if (reader.take('does', 'not', 'equal'))
    return { type: '=', isNegated: true, precision: 'exactly', isSymbolic: false };
  if (equalWords.some((words) => reader.take(...words)))
    return { type: '=', isNegated: false, precision: readPrecision(reader), isSymbolic: false };
  return reader.take('is') ? readIs(reader) : undefined;
}

function readIs(reader: ArithmeticReader): Relation {
  const isNegated = reader.take('not');
  const rest = { isNegated, isSymbolic: false, precision: 'exactly' } as const;
  if (moreWords.some((word) => reader.take(word, 'than'))) return { ...rest, type: '>' };
  if (lessWords.some((word) => reader.take(word, 'than'))) return { ...rest, type: '<' };
  if (reader.take('at', 'least')) return { ...rest, type: '≥' };
  if (reader.take('at', 'most')) return { ...rest, type: '≤' };
  reader.take('equal', 'to');
  const precision = readPrecision(reader);
  return { ...rest, type: '=', precision: isNegated && precision === 'rounded' ? 'exactly' : precision };
}

function readPrecision(reader: ArithmeticReader): Precision {
  if (reader.take('exactly') || reader.take('precisely')) return 'exactly';
  return aboutWords.some((word) => reader.take(word)) || reader.take('close', 'to') ? 'about' : 'rounded';
}

function relate(relation: Relation, left: ArithmeticValue, right: ArithmeticValue): Truth {
  const [a, b] = alignUnits(left, right);
  const truth = relateValues(relation, a, b);
  // Beside a currency a plain number can be wrong, but not right.
  return a.unit === b.unit || truth === 'false' ? truth : 'undecided';
}

function relateValues({ type, isNegated, precision }: Relation, a: ArithmeticValue, b: ArithmeticValue): Truth {
  if (type === '=') {
    const truth = equal(a, b, precision);
    return isNegated ? negate(truth) : truth;
  }
  const order = compare(a.value, b.value);
  const holds = { '<': order < 0, '>': order > 0, '≤': order <= 0, '≥': order >= 0 }[type];
  return holds !== isNegated ? 'true' : 'false';
}

function equal(a: ArithmeticValue, b: ArithmeticValue, precision: Precision): Truth {
  const operandDecimals = (b.written ? a : b).decimals;
  if (b.written) return compareWritten(a.value, b.written, { precision, operandDecimals });
  if (a.written) return compareWritten(b.value, a.written, { precision, operandDecimals });
  if (precision === 'about') throw new Undecided('two computed values that are about equal');
  return compare(a.value, b.value) === 0 ? 'true' : 'false';
}

/** A percentage beside a plain number is a hundredth of it. */
function alignUnits(a: ArithmeticValue, b: ArithmeticValue): readonly [ArithmeticValue, ArithmeticValue] {
  if (a.unit === b.unit) return [a, b];
  if (a.unit === '%' && b.unit === '') return [toPlain(a), b];
  if (b.unit === '%' && a.unit === '') return [a, toPlain(b)];
  if (a.unit !== '' && b.unit !== '') throw new Undecided('values of different units');
  return [a, b];
}

const hundredth = (value: Rational): Rational => divide(value, rational(100n));

function toPlain(value: ArithmeticValue): ArithmeticValue {
  const { written, ...rest } = value;
  const plain: WrittenNumber | undefined = written && {
    value: hundredth(written.value),
    decimals: written.decimals === 0 ? 0 : written.decimals + 2,
    step: hundredth(written.step),
  };
  return { ...rest, value: hundredth(value.value), unit: '', ...(plain && { written: plain }) };
}

type Property = { readonly truth: Truth; readonly computation: string };

/** Reads `even`, `a prime number`, `divisible by 3` and the like after `is`. */
function readProperty(reader: ArithmeticReader, { value, unit }: ArithmeticValue): Property | undefined {
  const start = reader.at;
  if (!reader.take('a')) reader.take('an');
  const word = ['even', 'odd', 'prime'].find((each) => reader.take(each));
  const divides = word === undefined && (reader.take('divisible', 'by') || reader.take('multiple', 'of'));
  if (word === undefined && !divides) {
    reader.at = start;
    return undefined;
  }
  if (unit !== '') throw new Undecided('a property of a quantity');
  if (divides) {
    const divisor = reader.readExpression().value;
    const rest = remainder(value, divisor);
    const computation = `${formatRational(value)} mod ${formatRational(divisor)} = ${formatRational(rest)}`;
    return { truth: rest.n === 0n ? 'true' : 'false', computation };
  }
  reader.take('number');
  if (word === 'prime') return decidePrime(value);
  const rest = remainder(value, rational(2n));
  const computation = `${formatRational(value)} mod 2 = ${formatRational(rest)}`;
  return { truth: (rest.n === 0n) === (word === 'even') ? 'true' : 'false', computation };
}

const maxPrime = 1_000_000_000n;

function decidePrime({ n, d }: Rational): Property {
  if (d !== 1n || n > maxPrime || n < 0n) throw new Undecided('a number that is not tested');
  const number = Number(n);
  if (number < 2) return { truth: 'false', computation: `${number} is below 2` };
  for (let divisor = 2; divisor * divisor <= number; divisor++)
    if (number % divisor === 0) return { truth: 'false', computation: `${number} = ${divisor} × ${number / divisor}` };
  return { truth: 'true', computation: `${number} has no divisor from 2 to its square root` };
}
