// Recomputes the arithmetic of a claim. A claim is supported if all of it was recomputed, and contradicted if one of its statements is false.
import type { Claim, ClaimVerdict, Verifier } from '../types.ts';
import { NoExpression } from './arithmetic-parser.ts';
import { readStatement, type ArithmeticStatement } from './arithmetic-statement.ts';
import { tokenizeArithmetic, type Token } from './arithmetic-tokens.ts';
import { hasSomeTrait, hasTraits, traits } from './claim-traits.ts';
import { currencyWords, multiples, shares, wordOperators } from './arithmetic-words.ts';
import { hasOtherArithmetic, isIndirect } from './assertion.ts';
import { likelyNotations, numberWords, scaleWords, type NumberNotation } from './numbers.ts';
import { Undecided } from './rational.ts';
import { computedEvidence, decideExactly, isReadable, verifier, withoutCitations } from './verifier.ts';

const name = 'arithmetic';

/** Words that join statements and state nothing themselves. */
const joiningWords = new Set('and so thus therefore hence because since then also but'.split(' '));

/** Words with which an expression can start. */
const startingWords = new Set(
  'the sum product average mean difference remainder square greatest least half third quarter fifth tenth double twice triple a'.split(
    ' ',
  ),
);

/** What the arithmetic of a claim says in one notation of numbers. */
type Reading = {
  readonly statements: readonly ArithmeticStatement[];
  /** Whether statements and words that join them are all of the claim. */
  readonly isComplete: boolean;
  /** The text of the claim outside the statements. */
  readonly rest: string;
};

/** Whether an expression can start at a token. After an article another of the starting words must follow. */
function isStart(tokens: readonly Token[], at: number): boolean {
  const token = tokens[at];
  if (token?.type === 'operator') return token.text === '(' || token.text === '-' || token.text === '√';
  if (token?.type !== 'word') return token?.type === 'number' || token?.type === 'currency';
  if (!startingWords.has(token.text)) return false;
  if (token.text !== 'the' && token.text !== 'a') return true;
  let next = at + 1;
  while (tokens[next]?.type === 'markup') next += 1;
  return tokens[next]?.type === 'word' && startingWords.has(tokens[next]?.text ?? '');
}

/** The words that an expression can have. */
const expressionWords = new Set([
  ...'of the a and by to power squared cubed percent per cent multiplied divided out square root sum product greatest common divisor least multiple average mean difference between remainder when'.split(
    ' ',
  ),
  ...Object.keys(wordOperators),
  ...Object.keys(shares),
  ...Object.keys(multiples),
  ...Object.keys(currencyWords),
  ...scaleWords.keys(),
]);

/** The words with which a relation or a division starts. */
const relatingWords = new Set('is does equals gives makes yields comes amounts adds results leaves has'.split(' '));

/** Whether a relation follows a token with nothing between them that no expression has. */
function mayState(tokens: readonly Token[], start: number): boolean {
  for (let at = start; at < tokens.length; at++) {
    const { type, text } = tokens[at] as Token;
    if (type === 'relation') return true;
    if (type === 'word' && relatingWords.has(text)) return true;
    if (type === 'other' || (type === 'word' && !expressionWords.has(text))) return false;
    if (type === 'punctuation' && text !== ',') return false;
  }
  return false;
}

const isJoint = (token: Token | undefined): boolean =>
  token === undefined ||
  token.type === 'markup' ||
  token.type === 'punctuation' ||
  (token.type === 'word' && joiningWords.has(token.text));

/** Whether a statement may be taken out of the text around it: between joints, or with symbols between separate words. */
function isSeparate(
  tokens: readonly Token[],
  first: number,
  start: number,
  { end, isSymbolic }: ArithmeticStatement,
): boolean {
  const isLoose = (token: Token | undefined, gap: Token | undefined): boolean =>
    isJoint(token) || (isSymbolic && token?.type === 'word' && gap?.isTight !== true);
  // A colon or a point inside a time, an address or a version separates nothing.
  const isInside = tokens[start - 1]?.type === 'punctuation' && tokens[start]?.isTight === true;
  const isContinued =
    tokens[end]?.type === 'punctuation' && /\w/.test(tokens[end + 1]?.text ?? '') && tokens[end + 1]?.isTight === true;
  if (isContinued || (isInside && start !== first)) return false;
  return (start === first || isLoose(tokens[start - 1], tokens[start])) && isLoose(tokens[end], tokens[end]);
}

/** Whether tokens look like a date, a range or a version instead of a calculation. */
function hasTightChain(tokens: readonly Token[], start: number, end: number, isSymbolic: boolean): boolean {
  let hyphens = 0;
  let slashes = 0;
  for (let at = start + 1; at < end - 1; at++) {
    const token = tokens[at];
    if (token?.type !== 'operator' || !token.isTight || tokens[at + 1]?.isTight !== true) continue;
    if (numberWords.has(tokens[at - 1]?.text ?? '')) continue;
    if (token.text === '-') hyphens += 1;
    if (token.text === '/') slashes += 1;
  }
  return hyphens > (isSymbolic ? 1 : 0) || slashes > 1;
}

function readClaim(text: string, tokens: readonly Token[], notation: NumberNotation): Reading {
  const statements: ArithmeticStatement[] = [];
  let isComplete = true;
  let rest = '';
  let restStart = 0;
  const first = skipListMark(tokens);
  // Every expression has a number.
  const lastNumber = tokens.findLastIndex(({ type }) => type === 'number');
  for (let at = first; at < tokens.length;) {
    const token = tokens[at] as Token;
    const statement =
      at <= lastNumber && isStart(tokens, at) && mayState(tokens, at) ? tryStatement(tokens, at, notation) : undefined;
    if (
      statement &&
      isSeparate(tokens, first, at, statement) &&
      !hasTightChain(tokens, at, statement.end, statement.isSymbolic)
    ) {
      statements.push(statement);
      rest += `${text.slice(restStart, token.start)} `;
      restStart = tokens[statement.end - 1]?.end ?? text.length;
      at = statement.end;
    } else {
      if (!isJoint(token)) isComplete = false;
      at += 1;
    }
  }
  return { statements, isComplete, rest: rest + text.slice(restStart) };
}

/** The first token after the mark of a list item, such as `-` or `1.`. */
function skipListMark(tokens: readonly Token[]): number {
  const [mark, next, third] = tokens;
  if (mark?.text === '-' && next?.isTight === false) return 1;
  return mark?.type === 'number' && next?.text === '.' && next.isTight && third?.isTight === false ? 2 : 0;
}

function tryStatement(tokens: readonly Token[], at: number, notation: NumberNotation): ArithmeticStatement | undefined {
  try {
    return readStatement(tokens, at, notation);
  } catch (error) {
    if (error instanceof NoExpression || error instanceof Undecided) return undefined;
    throw error;
  }
}

/** A sign of an operation between or after values, or a word of one. */
const operationPattern =
  /[+*×·⋅÷^√²³%]|[\d)]\s?[-−/x]\s?[-−(]?[\d$€£¥]|\b(?:plus|minus|times|divided|multiplied|over|mod|modulo|out of|sum|product|average|mean|difference|remainder|root|half|third|quarter|fifth|tenth|twice|double|triple|percent|per cent|prime|even|odd|divisible|multiple|divisor|squared|cubed|power)\b/i;
const relationPattern = /[=≈≠<>≤≥~]|\b(?:is|equals?|gives|makes|yields|comes|amounts|adds|results|leaves|has)\b/i;

/** Whether all of a claim was computed, and is right. */
const isProven = ({ statements, isComplete }: Reading): boolean =>
  isComplete && statements.length > 0 && statements.every(({ truth }) => truth === 'true');

function verifyArithmetic(claim: Claim): ClaimVerdict | undefined {
  const text = withoutCitations(claim.text);
  const tokens = tokenizeArithmetic(text);
  const [notation = 'en', ...others] = likelyNotations(text);
  const first = readClaim(text, tokens, notation);
  // The second notation counts only if the numbers cannot be read in the first.
  if (isProven(first)) return decide('supported', first.statements, text, tokens);
  const readings = [first, ...others.map((other) => readClaim(text, tokens, other))];
  const decided = readings.filter(({ statements }) => statements.length > 0);
  const [whole] = decided;
  if (whole && isProven(whole)) return decide('supported', whole.statements, text, tokens);
  const falseStatements = decided.map(({ statements }) => statements.filter(({ truth }) => truth === 'false'));
  const [wrong] = falseStatements;
  if (!wrong || falseStatements.some(({ length }) => length === 0)) return undefined;
  if (!whole || isIndirect(whole.rest) || hasOtherArithmetic(text) || startsWithDash(tokens)) return undefined;
  return decide('contradicted', wrong, text, tokens);
}

/** A dash at the start is the mark of a list item or a sign: a false statement after it is not decided. */
const startsWithDash = ([first, second]: readonly Token[]): boolean => first?.text === '-' && second?.isTight === false;

function decide(
  type: 'supported' | 'contradicted',
  statements: readonly ArithmeticStatement[],
  text: string,
  tokens: readonly Token[],
): ClaimVerdict {
  const texts = statements.map(({ start, end }) =>
    text.slice(tokens[start]?.start ?? 0, tokens[end - 1]?.end ?? text.length),
  );
  const computed = statements.map(({ computation }) => computation).join('\n');
  const isWord = type === 'supported' ? 'is' : 'is not';
  const why = `Recomputed: ${texts.map((each) => `"${each}" ${isWord} right`).join('; ')}.`;
  return decideExactly(type, name, [computedEvidence(name, computed)], why);
}

/** Recomputes expressions, equations, percentages, sums, remainders and comparisons, with exact fractions. */
export const arithmeticVerifier: Verifier = verifier({
  name,
  handles: (claim) =>
    isReadable(claim) &&
    hasTraits(claim.text, traits.statement) &&
    hasSomeTrait(claim.text, traits.digit | traits.numberWord) &&
    hasSomeTrait(claim.text, traits.digit | traits.operation) &&
    operationPattern.test(claim.text) &&
    relationPattern.test(claim.text),
  verify: verifyArithmetic,
});
