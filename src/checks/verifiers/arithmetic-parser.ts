// Parses and evaluates statements of arithmetic in a list of tokens, by recursive descent and without rounding.
import type { Token } from './arithmetic-tokens.ts';
import { applyProduct, combineValues, foldValues, type ArithmeticValue } from './arithmetic-values.ts';
import { currencyWords, multiples, shares, wordOperators } from './arithmetic-words.ts';
import {
  numberWords,
  parseNumber,
  scaleNumber,
  scaleWords,
  type NumberNotation,
  type WrittenNumber,
} from './numbers.ts';
import {
  absolute,
  add,
  divide,
  greatestDivisor,
  multiply,
  power,
  rational,
  squareRoot,
  subtract,
  Undecided,
  type Rational,
} from './rational.ts';

/** Thrown if the tokens are no expression. */
export class NoExpression extends Error {}

/** The one instance: it is thrown often, and an error takes long to create. */
export const noExpression: NoExpression = new NoExpression();

const maxDepth = 24;
const maxTokens = 400;

const leastMultiple = (a: Rational, b: Rational): Rational => absolute(divide(multiply(a, b), greatestDivisor(a, b)));

/** A reader of tokens from a position on. It throws NoExpression at what it cannot read, and Undecided at what it cannot compute. */
export class ArithmeticReader {
  readonly tokens: readonly Token[];
  readonly notation: NumberNotation;
  at: number;
  readonly #start: number;
  #depth = 0;

  constructor(tokens: readonly Token[], at: number, notation: NumberNotation) {
    this.tokens = tokens;
    this.at = at;
    this.#start = at;
    this.notation = notation;
  }

  /** The token at the position, past emphasis. */
  peek(): Token | undefined {
    while (this.tokens[this.at]?.type === 'markup') this.at += 1;
    if (this.at - this.#start > maxTokens) throw noExpression;
    return this.tokens[this.at];
  }

  /** Whether the next tokens are these words; they are taken if so. */
  take(...words: readonly string[]): boolean {
    const start = this.at;
    for (const word of words) {
      const token = this.peek();
      if ((token?.type === 'word' || token?.type === 'punctuation') && token.text === word) this.at += 1;
      else {
        this.at = start;
        return false;
      }
    }
    return true;
  }

  /** Whether the next token is this operator; it is taken if so. */
  takeOperator(operator: string): boolean {
    const token = this.peek();
    if (token?.type !== 'operator' || token.text !== operator) return false;
    this.at += 1;
    return true;
  }

  /** Reads sums of products. */
  readExpression(): ArithmeticValue {
    if (++this.#depth > maxDepth) throw noExpression;
    let left = this.#readTerm();
    for (let sign = this.#readSign(); sign !== undefined; sign = this.#readSign()) {
      const right = this.#readTerm();
      if (left.unit !== right.unit) throw new Undecided('a sum of different units');
      left = combineValues(left, right, (sign === '+' ? add : subtract)(left.value, right.value), left.unit);
    }
    this.#depth -= 1;
    return left;
  }

  #readSign(): string | undefined {
    const token = this.peek();
    const sign = token?.type === 'word' ? wordOperators[token.text] : token?.text;
    if ((token?.type !== 'operator' && token?.type !== 'word') || (sign !== '+' && sign !== '-')) return undefined;
    this.at += 1;
    return sign;
  }

  #readTerm(): ArithmeticValue {
    let left = this.#readFactor();
    for (;;) {
      const operator = this.#readProductOperator(left);
      if (operator === undefined) return left;
      left = applyProduct(operator, left, this.#readFactor());
    }
  }

  #readProductOperator(left: ArithmeticValue): string | undefined {
    const token = this.peek();
    if (token?.type === 'operator') {
      const operator = token.text === 'x' ? '*' : token.text;
      if (operator !== '*' && operator !== '/') return undefined;
      this.at += 1;
      return operator;
    }
    if (this.take('multiplied', 'by')) return '*';
    if (this.take('divided', 'by')) return '/';
    if (this.take('out', 'of')) return '/';
    if (left.unit === '%' && this.take('of')) return 'of';
    const operator = token?.type === 'word' ? wordOperators[token.text] : undefined;
    if (operator === undefined || operator === '+' || operator === '-') return undefined;
    this.at += 1;
    return operator;
  }

  #readFactor(): ArithmeticValue {
    if (++this.#depth > maxDepth) throw noExpression;
    const sign = this.peek();
    if (sign?.type === 'operator' && sign.text === '-' && this.tokens[this.at + 1]?.isTight === true) {
      this.at += 1;
      const inner = this.#readFactor();
      this.#depth -= 1;
      const written = inner.written && {
        ...inner.written,
        value: subtract(rational(0n), inner.written.value),
      };
      const { written: _, ...rest } = inner;
      return { ...rest, value: subtract(rational(0n), inner.value), ...(written && { written }) };
    }
    let base = this.#readPostfix(this.#readPrimary());
    if (this.takeOperator('^') || this.take('to', 'the', 'power', 'of')) {
      const exponent = this.#readFactor();
      if (base.unit !== '' || exponent.unit !== '') throw new Undecided('a power with units');
      base = combineValues(base, exponent, power(base.value, exponent.value), '');
    }
    this.#depth -= 1;
    return base;
  }

  #readPostfix(base: ArithmeticValue): ArithmeticValue {
    const raised = (exponent: bigint): ArithmeticValue => {
      if (base.unit !== '') throw new Undecided('a power with units');
      return combineValues(base, base, power(base.value, rational(exponent)), '');
    };
    if (this.takeOperator('²') || this.take('squared')) return raised(2n);
    if (this.takeOperator('³') || this.take('cubed')) return raised(3n);
    if (this.takeOperator('%') || this.take('percent') || this.take('per', 'cent')) {
      if (base.unit !== '') throw noExpression;
      return { ...base, unit: '%' };
    }
    return base;
  }

  #readPrimary(): ArithmeticValue {
    const token = this.peek();
    if (token === undefined) throw noExpression;
    if (token.type === 'number') return this.#readNumber();
    if (token.type === 'currency') {
      this.at += 1;
      const amount = this.#readNumber();
      if (amount.unit !== '') throw noExpression;
      return { ...amount, unit: token.text };
    }
    if (this.takeOperator('(')) {
      const inner = this.readExpression();
      if (!this.takeOperator(')')) throw noExpression;
      const { written: _, ...value } = inner;
      return value;
    }
    if (this.takeOperator('√')) return this.#readRoot();
    return this.#readFunction();
  }

  #readNumber(): ArithmeticValue {
    const token = this.peek();
    if (token?.type !== 'number') throw noExpression;
    this.at += 1;
    let written = this.#parseToken(token);
    const scale = this.peek();
    const factor = scale?.type === 'word' ? scaleWords.get(scale.text) : undefined;
    if (factor) {
      this.at += 1;
      written = scaleNumber(written, factor);
    }
    const next = this.peek();
    const unit = next?.type === 'word' ? (currencyWords[next.text] ?? '') : next?.type === 'currency' ? next.text : '';
    if (unit !== '') this.at += 1;
    return { value: written.value, unit, decimals: written.decimals, operations: 0, written };
  }

  #parseToken(token: Token): WrittenNumber {
    const word = numberWords.get(token.text);
    if (word === undefined) {
      const parsed = parseNumber(token.text, this.notation);
      if (!parsed) throw new Undecided('a number in another notation');
      return parsed;
    }
    const [hyphen, unit] = [this.tokens[this.at], this.tokens[this.at + 1]];
    const ones =
      unit?.type === 'number' && hyphen?.text === '-' && unit.isTight ? numberWords.get(unit.text) : undefined;
    const isCompound = word >= 20 && ones !== undefined && ones > 0 && ones < 10;
    if (isCompound) this.at += 2;
    return { value: rational(BigInt(word + (isCompound ? ones : 0))), decimals: 0, step: rational(1n) };
  }

  #readRoot(): ArithmeticValue {
    const inner = this.#readPrimary();
    if (inner.unit !== '') throw new Undecided('a root with units');
    return combineValues(inner, inner, squareRoot(inner.value), '');
  }

  #readFunction(): ArithmeticValue {
    this.take('the');
    if (this.take('square', 'root', 'of')) return this.#readRoot();
    if (this.take('sum', 'of')) return foldValues(this.#readList(), add, true);
    if (this.take('product', 'of')) return foldValues(this.#readList(), multiply, false);
    if (this.take('greatest', 'common', 'divisor', 'of')) return foldValues(this.#readList(), greatestDivisor, false);
    if (this.take('least', 'common', 'multiple', 'of')) return foldValues(this.#readList(), leastMultiple, false);
    if (this.take('average', 'of') || this.take('mean', 'of')) return this.#readMean();
    if (this.take('difference', 'between')) {
      const values = this.#readList();
      const [first, second] = values;
      if (!first || !second || values.length !== 2 || first.unit !== second.unit) throw noExpression;
      return combineValues(first, second, absolute(subtract(first.value, second.value)), first.unit);
    }
    if (this.take('remainder', 'of') || this.take('remainder', 'when')) return this.#readRemainder();
    return this.#readShare();
  }

  /** Reads one number or one expression in brackets. */
  readOperand(): ArithmeticValue {
    return this.#readPrimary();
  }

  #readRemainder(): ArithmeticValue {
    const first = this.#readPrimary();
    this.take('is');
    if (!this.take('divided', 'by') && !this.takeOperator('/')) throw noExpression;
    return applyProduct('mod', first, this.#readPrimary());
  }

  #readShare(): ArithmeticValue {
    this.take('a');
    const token = this.peek();
    const word = token?.type === 'word' ? token.text : '';
    const isShare = Object.hasOwn(shares, word);
    const factor = isShare ? shares[word] : Object.hasOwn(multiples, word) ? multiples[word] : undefined;
    if (!factor) throw noExpression;
    this.at += 1;
    if (isShare && !this.take('of')) throw noExpression;
    const inner = this.#readFactor();
    return combineValues(inner, inner, multiply(factor, inner.value), inner.unit);
  }

  #readMean(): ArithmeticValue {
    const values = this.#readList();
    const sum = foldValues(values, add, true);
    return { ...sum, value: divide(sum.value, rational(BigInt(values.length))), operations: sum.operations + 1 };
  }

  /** Reads `1, 2 and 3`: two values or more. */
  #readList(): readonly ArithmeticValue[] {
    const values = [this.#readFactor()];
    for (;;) {
      const start = this.at;
      const hasComma = this.take(',');
      const isLast = this.take('and');
      if (!hasComma && !isLast) break;
      try {
        values.push(this.#readFactor());
      } catch (error) {
        if (!(error instanceof NoExpression)) throw error;
        this.at = start;
        break;
      }
      if (isLast) break;
    }
    if (values.length < 2) throw noExpression;
    return values;
  }
}
