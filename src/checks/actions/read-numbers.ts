// Reads numbers with the words beside them, in the formats of several languages, from statements and from output.
import { findAll } from '../find-all.ts';

/** A number of a text: what it can mean, and the stems of the words beside it. */
export type Figure = {
  readonly at: number;
  readonly end: number;
  readonly shown: string;
  /** `1.234` can be 1234 and 1.234. */
  readonly values: readonly number[];
  readonly decimals: number;
  readonly stems: readonly string[];
};

const numberPattern =
  /(?<![\p{L}\d_.,:/#+-]|v\.)(?:\d{1,3}(?:[ \u00A0\u202F'’,.]\d{3})+(?:[.,]\d{1,6})?|\d{1,12}(?:[.,]\d{1,9})?)(?![\d_]|[.,:/-]\d|\p{L}{1,6}\d)/gu;

/** What a number can mean. */
export function valuesOf(shown: string): readonly number[] {
  const digits = shown.replaceAll(/[ \u00A0\u202F'’]/g, '');
  const values = new Set<number>();
  const last = Math.max(digits.lastIndexOf('.'), digits.lastIndexOf(','));
  if (last >= 0) values.add(Number(`${digits.slice(0, last).replaceAll(/[.,]/g, '')}.${digits.slice(last + 1)}`));
  if (last < 0 || (/^\d{1,3}(?:[.,]\d{3})+$/.test(digits) && new Set(digits.match(/[.,]/g)).size === 1))
    values.add(Number(digits.replaceAll(/[.,]/g, '')));
  return [...values].filter(Number.isFinite);
}

const stopWords = new Set(
  'the a an of in on at to for from with by and or is are was were all each new more than that this it its as de la le les el los las des du un une una y et und der die das den ein eine mit von im in es ist son est sont sind out total right away about around line lines'.split(
    ' ',
  ),
);

/** The start of a word by which its forms are compared. */
export function stemOf(word: string): string {
  const plain = word.toLowerCase().normalize('NFD').replaceAll(/\p{M}/gu, '');
  return plain.length > 5 ? plain.slice(0, 5) : plain.replace(/(?:e?s)$/, '');
}

const stemsIn = (text: string): readonly string[] =>
  (text.match(/\p{L}{2,}/gu) ?? []).filter((word) => !stopWords.has(word.toLowerCase())).map(stemOf);

const preposition =
  /(?<![\p{L}])(?:in|with|on|for|after|at|by|within|across|over|mit|auf|nach|bei|dans|avec|sur|pour|après|en|con|para|por|tras)\s+(?:the |all |den |les |las |los )?$/iu;

const labelStem = (label: string): readonly string[] =>
  label === '' || stopWords.has(label.toLowerCase()) ? [] : [stemOf(label)];

/** The places of the numbers of a text. */
export const findNumbers = (text: string, max: number): readonly Pick<Figure, 'at' | 'end' | 'shown'>[] =>
  findAll(numberPattern, text)
    .slice(0, max)
    .map(({ index, 0: shown }) => ({ at: index, end: index + shown.length, shown }));

/** Reads the figures of a text with up to `reach` words behind them and the label before them. */
export function readNumbers(text: string, reach: number, max: number, isStatement = false): readonly Figure[] {
  const found: Figure[] = [];
  for (const match of findAll(numberPattern, text)) {
    if (found.length >= max) break;
    const [shown] = match;
    const end = match.index + shown.length;
    const after = /^[^\n,;.:()|\d[\]]{0,60}/.exec(text.slice(end))?.[0] ?? '';
    const words = after.trim().split(/\s+/, reach).join(' ');
    const before =
      /(\p{L}[\p{L}\d-]*)["'*]{0,2}(?:\s*[:=|(]\s*|\s+(?:of|is|was|es|ist|est|von|de|à|=)\s+|[ \t]{1,20})$/u.exec(
        text.slice(Math.max(0, match.index - 60), match.index),
      )?.[1] ?? '';
    const lead = /[^\n,;.:()|\d[\]]{0,25}$/.exec(text.slice(Math.max(0, match.index - 25), match.index))?.[0] ?? '';
    const behind = stemsIn(words);
    found.push({
      at: match.index,
      end,
      shown,
      values: valuesOf(shown),
      decimals: /[.,](\d{1,9})$/.exec(shown)?.[1]?.length ?? 0,
      stems: [...behind, ...(isStatement && !preposition.test(lead) ? stemsIn(lead) : []), ...labelStem(before)],
    });
  }
  return found;
}
