// Reads quantities: a number with a unit, or several of them, such as "2 h 30 min".
import {
  numberPattern,
  numberWords,
  parseNumber,
  scaleNumber,
  scaleWords,
  type NumberNotation,
  type WrittenNumber,
} from './numbers.ts';
import { compare, rational, subtract } from './rational.ts';
import { getUnitTable, type UnitMeanings } from './unit-table.ts';

/** A number with the unit that follows it. */
export type QuantityPart = { readonly written: WrittenNumber; readonly name: string; readonly meanings: UnitMeanings };

/** A quantity in a text: its parts and where it ends. */
export type Quantity = {
  readonly parts: readonly QuantityPart[];
  readonly text: string;
  readonly end: number;
  /** Whether a comma joins its parts: they may also be two quantities. */
  readonly isLoose: boolean;
};

const signedNumber = new RegExp(String.raw`([-\u2212]?)(${numberPattern})`, 'y');
const wordPattern = /(\p{L}+)\s+/uy;
const scalePattern = /\s+(hundred|thousand|million|billion|trillion)\b/y;
const symbolPattern = /\s?(°\s?[CFcf]|[\p{L}µμ]+(?:\/\p{L}+)?(?:[²³]|\^[23])?)/uy;
const wordsPattern = /\s+(\p{L}+)(?:\s\p{L}+){0,2}/uy;
const maxParts = 4;

/** Reads the quantity that starts at a position; undefined if there is none. */
export function readQuantity(text: string, start: number, notation: NumberNotation): Quantity | undefined {
  const parts: QuantityPart[] = [];
  let end = start;
  let isLoose = false;
  let joinedByComma = false;
  for (let at = start; parts.length < maxParts;) {
    const number = readNumber(text, at, notation);
    const unit = number && readUnit(text, number.end);
    if (!number || !unit || !isSmaller(unit.meanings, parts.at(-1)?.meanings)) break;
    // The sign of `-5 ft 2 in` is that of the whole.
    if (parts.length > 0 && text[start] !== undefined && /[-\u2212]/.test(text[start])) return undefined;
    isLoose ||= joinedByComma;
    parts.push({ written: number.written, name: unit.name, meanings: unit.meanings });
    end = unit.end;
    const joint = /^(?:,?\s+and\s+|,?\s+)(?=\d)/.exec(text.slice(end, end + 12));
    if (!joint) break;
    joinedByComma = joint[0].startsWith(',');
    at = end + joint[0].length;
  }
  return parts.length > 0 ? { parts, text: text.slice(start, end), end, isLoose } : undefined;
}

function readNumber(
  text: string,
  at: number,
  notation: NumberNotation,
): { readonly written: WrittenNumber; readonly end: number } | undefined {
  signedNumber.lastIndex = at;
  const match = signedNumber.exec(text);
  if (!match) return readNumberWord(text, at);
  const written = parseNumber(match[2] ?? '', notation);
  if (!written) return undefined;
  const signed = match[1] === '' ? written : { ...written, value: subtract(rational(0n), written.value) };
  const end = at + match[0].length;
  scalePattern.lastIndex = end;
  const scale = scalePattern.exec(text);
  const factor = scaleWords.get(scale?.[1] ?? '');
  return scale && factor
    ? { written: scaleNumber(signed, factor), end: end + scale[0].length }
    : { written: signed, end };
}

function readNumberWord(
  text: string,
  at: number,
): { readonly written: WrittenNumber; readonly end: number } | undefined {
  wordPattern.lastIndex = at;
  const match = wordPattern.exec(text);
  const word = match?.[1]?.toLowerCase() ?? '';
  const value = word === 'a' || word === 'an' ? 1 : numberWords.get(word);
  if (!match || value === undefined) return undefined;
  // The white space belongs to the unit.
  const end = at + (match[1]?.length ?? 0);
  return { written: { value: rational(BigInt(value)), decimals: 0, step: rational(1n) }, end };
}

function readUnit(
  text: string,
  at: number,
): { readonly name: string; readonly meanings: UnitMeanings; readonly end: number } | undefined {
  const { symbols, words, firstWords } = getUnitTable();
  wordsPattern.lastIndex = at;
  const found = wordsPattern.exec(text);
  const run = found && firstWords.has((found[1] ?? '').toLowerCase()) ? found[0] : undefined;
  for (
    let candidate = run;
    candidate !== undefined && candidate !== '';
    candidate = candidate.replace(/\s+\p{L}+$/u, '')
  ) {
    const meanings = words.get(candidate.trim().toLowerCase().replaceAll(/\s+/g, ' '));
    if (meanings && !isContinued(text, at + candidate.length))
      return { name: candidate.trim(), meanings, end: at + candidate.length };
  }
  symbolPattern.lastIndex = at;
  const match = symbolPattern.exec(text);
  const symbol = match?.[1]?.replace(/^°\s?([cf])/i, (_, letter: string) => `°${letter.toUpperCase()}`) ?? '';
  const meanings = symbols.get(symbol);
  if (!match || !meanings || isContinued(text, at + match[0].length)) return undefined;
  return { name: symbol, meanings, end: at + match[0].length };
}

/** Whether a unit continues a quantity in a larger unit, as the minutes of `2 h 30 min` do. */
function isSmaller(meanings: UnitMeanings, larger: UnitMeanings | undefined): boolean {
  if (!larger) return true;
  const [[small], [large]] = [Object.values(meanings), Object.values(larger)];
  return small?.dimension === large?.dimension && !!small && !!large && compare(small.factor, large.factor) < 0;
}

/** Whether a name continues after this position, as in `m` of `m²`. */
const isContinued = (text: string, end: number): boolean => /[\p{L}\p{N}²³^/°]/u.test(text[end] ?? ' ');
