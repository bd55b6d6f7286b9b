// Recomputes the unit conversions of a claim, such as "5 km is 3.107 miles". A conversion that depends on the system of a unit is decided only if all systems agree.
import type { Claim, ClaimVerdict, Verifier } from '../types.ts';
import { isIndirect } from './assertion.ts';
import { hasSomeTrait, hasTraits, traits } from './claim-traits.ts';
import { isJoinedOnly } from './joined-text.ts';
import { compareWritten, likelyNotations, type NumberNotation, type Precision } from './numbers.ts';
import { readQuantity, type Quantity } from './quantities.ts';
import {
  absolute,
  add,
  compare,
  divide,
  formatRational,
  multiply,
  rational,
  subtract,
  Undecided,
  type Rational,
} from './rational.ts';
import { anySystem, getUnitTable, type Dimension, type Unit } from './unit-table.ts';
import { computedEvidence, decideExactly, isReadable, verifier, withoutCitations, type Truth } from './verifier.ts';

const name = 'units';

type Conversion = {
  readonly start: number;
  readonly end: number;
  readonly truth: Truth;
  readonly computation: string;
  /** Whether words instead of a symbol or a bracket relate the two quantities. */
  readonly isWorded: boolean;
};

const relationPattern =
  /\s*(=|≈|~|\()\s*|\s+(?:(?:is|are|equals?|makes?|gives?|corresponds to|converts to|comes to)(?:\s+(?:equal to|the same as))?|(has|have|contains?|in))(?:\s+(exactly|precisely)|\s+(about|approximately|roughly|around|nearly|almost))?\s+/iy;
/** Where a conversion can start: before a number, or before an article at the start of a clause. */
const startPattern =
  /(?:there\s+(?:are|is)\s+)?(?<![\p{L}\p{N}.,:°/'′-])(?<!\d['′]\s)(?=[-−]?\d)|(?:^[\s*_-]{0,8}|[,;.]\s|\b(?:and|so)\s)(?:there\s+(?:are|is)\s+)?(?=an?\s|one\s)/giu;

/** Dimensions whose whole numbers are exact. */
const exactDimensions = new Set<Dimension>(['time', 'calendar', 'data']);

function readConversion(text: string, start: number, from: number, notation: NumberNotation): Conversion | undefined {
  const left = readQuantity(text, from, notation);
  if (!left) return undefined;
  relationPattern.lastIndex = left.end;
  const relation = relationPattern.exec(text);
  if (!relation) return undefined;
  const [found, symbol, , exactly, about] = relation;
  const right = readQuantity(text, left.end + found.length, notation);
  if (!right) return undefined;
  const isBracket = symbol === '(';
  if (isBracket && (text[right.end] !== ')' || left.parts[0]?.name === right.parts[0]?.name)) return undefined;
  const precision: Precision =
    exactly !== undefined ? 'exactly' : about !== undefined || symbol === '≈' || symbol === '~' ? 'about' : 'rounded';
  const { truth: related, computation } = relateQuantities(left, right, precision);
  // A comma joins the parts of a quantity, or two quantities of a list.
  const truth = related === 'false' && (left.isLoose || right.isLoose) ? 'undecided' : related;
  return { start, end: isBracket ? right.end + 1 : right.end, truth, computation, isWorded: symbol === undefined };
}

/** The systems in which both quantities have a meaning. */
function commonSystems(parts: Quantity['parts']): readonly string[] {
  const many = parts.filter(({ meanings }) => !Object.hasOwn(meanings, anySystem));
  const [first] = many;
  if (!first) return [anySystem];
  return Object.keys(first.meanings).filter((system) => many.every(({ meanings }) => Object.hasOwn(meanings, system)));
}

function relateQuantities(
  left: Quantity,
  right: Quantity,
  precision: Precision,
): { readonly truth: Truth; readonly computation: string } {
  const systems = commonSystems([...left.parts, ...right.parts]);
  const results = systems.map((system) => relateInSystem(left, right, precision, system));
  const [first] = results;
  if (!first) throw new Undecided('units without a common system');
  const truths = new Set(results.map(({ truth }) => truth));
  // The decimal meaning of kB, MB and GB is the standard; the binary one is in use.
  const isRight = systems[0] === 'si' ? first.truth === 'true' : truths.size === 1 && first.truth === 'true';
  const isWrong = truths.size === 1 && first.truth === 'false';
  const computation = results.map((each) => each.computation).join('\n');
  return { truth: isRight ? 'true' : isWrong ? 'false' : 'undecided', computation };
}

function relateInSystem(
  left: Quantity,
  right: Quantity,
  precision: Precision,
  system: string,
): { readonly truth: Truth; readonly computation: string } {
  const [a, b] = [toBase(left, system), toBase(right, system)];
  if (a.dimension !== b.dimension) throw new Undecided('units of different dimensions');
  const isWhole = [...left.parts, ...right.parts].every(({ written }) => written.decimals === 0);
  const strict = exactDimensions.has(a.dimension) && isWhole && precision === 'rounded' ? 'exactly' : precision;
  const toRight = compareWith(a.base, right, system, strict, left);
  const toLeft = compareWith(b.base, left, system, strict, right);
  const finer = isFiner(left, right) ? (toLeft ?? toRight) : (toRight ?? toLeft);
  if (!finer) throw new Undecided('two sums of quantities');
  const label = system === anySystem ? '' : ` (${system})`;
  const computation = toRight
    ? `${left.text} = ${toRight.text}${label}`
    : `${right.text} = ${toLeft?.text ?? left.text}${label}`;
  const isRight = toRight?.truth === 'true' || toLeft?.truth === 'true';
  return { truth: isRight ? 'true' : finer.truth, computation };
}

/** Whether the first quantity is written with more digits than the second. */
function isFiner(first: Quantity, second: Quantity): boolean {
  const [a, b] = [first.parts[0]?.written, second.parts[0]?.written];
  if (!a || !b) return false;
  const order = compare(multiply(absolute(b.value), a.step), multiply(absolute(a.value), b.step));
  return order < 0;
}

/** Compares a value in base units with a quantity of one unit, as it is written. */
function compareWith(
  base: Rational,
  { parts }: Quantity,
  system: string,
  precision: Precision,
  other: Quantity,
): { readonly truth: Truth; readonly text: string } | undefined {
  const [part] = parts;
  if (!part || parts.length > 1) return undefined;
  const unit = unitOf(part.meanings, system);
  const exact = divide(subtract(base, unit.offset ?? rational(0n)), unit.factor);
  const isConversion = !exactDimensions.has(unit.dimension);
  const truth = compareWritten(exact, part.written, { precision, isConversion });
  // `6 ft 2 in is 6.2 ft` is a rounding by chance: its digits are those of the parts.
  const isChance = truth === 'true' && precision === 'rounded' && isPartOf(part, other) && part.written.decimals < 2;
  return {
    truth: isChance && compare(exact, part.written.value) !== 0 ? 'undecided' : truth,
    text: `${formatRational(exact)} ${part.name}`,
  };
}

/** Whether a unit is one of the units of a compound quantity, such as the feet of `6 ft 2 in`. */
const isPartOf = ({ meanings }: Quantity['parts'][number], { parts }: Quantity): boolean =>
  parts.length > 1 && parts.some((part) => part.meanings === meanings);

function unitOf(meanings: Quantity['parts'][number]['meanings'], system: string): Unit {
  const unit = meanings[anySystem] ?? meanings[system];
  if (!unit) throw new Undecided('a unit without this system');
  return unit;
}

function toBase({ parts }: Quantity, system: string): { readonly base: Rational; readonly dimension: Dimension } {
  let base = rational(0n);
  let dimension: Dimension | undefined;
  for (const part of parts) {
    const unit = unitOf(part.meanings, system);
    if (dimension !== undefined && (unit.dimension !== dimension || unit.offset))
      throw new Undecided('a sum of different dimensions');
    dimension = unit.dimension;
    base = add(base, add(multiply(part.written.value, unit.factor), unit.offset ?? rational(0n)));
  }
  if (dimension === undefined) throw new Undecided('no quantity');
  return { base, dimension };
}

function readConversions(text: string, notation: NumberNotation): readonly Conversion[] {
  const found: Conversion[] = [];
  for (const match of text.matchAll(startPattern)) {
    if (match.index < (found.at(-1)?.end ?? 0)) continue;
    try {
      const conversion = readConversion(text, match.index, match.index + match[0].length, notation);
      if (conversion) found.push(conversion);
    } catch (error) {
      if (!(error instanceof Undecided)) throw error;
    }
  }
  return found;
}

function verifyUnits(claim: Claim): ClaimVerdict | undefined {
  const text = withoutCitations(claim.text);
  const [notation = 'en', other] = likelyNotations(text);
  const conversions = readConversions(text, notation);
  if (conversions.length === 0) return undefined;
  const isAllOfIt = isJoinedOnly(text, conversions);
  if (isAllOfIt && conversions.every(({ truth, isWorded }) => truth === 'true' && (isWorded || !text.includes('('))))
    return decide('supported', conversions);
  const wrong = conversions.filter(({ truth, isWorded }) => truth === 'false' && (isAllOfIt || !isWorded));
  const isWrongOtherwise = other === undefined || readConversions(text, other).some(({ truth }) => truth === 'false');
  const rest = conversions.reduceRight((left, { start, end }) => left.slice(0, start) + left.slice(end), text);
  if (wrong.length === 0 || !isWrongOtherwise || isIndirect(rest)) return undefined;
  return decide('contradicted', wrong);
}

function decide(type: 'supported' | 'contradicted', conversions: readonly Conversion[]): ClaimVerdict {
  const computed = conversions.map(({ computation }) => computation).join('\n');
  const why = `The conversion was recomputed: ${computed.replaceAll('\n', '; ')}.`;
  return decideExactly(type, name, [computedEvidence(name, computed)], why);
}

const mayRelate = /[=≈~(]|\b(?:is|are|equals?|makes?|gives?|corresponds|converts|comes|has|have|contains?)\b/i;

/** Whether a number, or an article, has a unit after it. */
function hasUnit(text: string): boolean {
  const { symbols, firstWords } = getUnitTable();
  unitCandidate.lastIndex = 0;
  for (let found = unitCandidate.exec(text); found; found = unitCandidate.exec(text)) {
    const [, symbol = '', word = ''] = found;
    if (symbols.has(symbol) || firstWords.has((symbol === '' ? word : symbol).toLowerCase()) || symbol.startsWith('°'))
      return true;
  }
  return false;
}

const unitCandidate =
  /\d\s{0,4}([\p{L}°µμ]{1,20}(?:\/\p{L}{1,3})?(?:[²³]|\^[23])?)|\b(?:an?|one|thousand|million|billion|trillion|hundred)\s{1,4}(\p{L}{1,20})/giu;

/** Recomputes conversions of length, area, volume, mass, time, speed, data size and temperature, with exact factors. */
export const unitVerifier: Verifier = verifier({
  name,
  handles: (claim) =>
    isReadable(claim) &&
    hasTraits(claim.text, traits.relation) &&
    hasSomeTrait(claim.text, traits.digit | traits.unit) &&
    mayRelate.test(claim.text) &&
    hasUnit(claim.text),
  verify: verifyUnits,
});
