// Splits an answer into the statements that can name an object of the log: sentences, items of lists and rows of tables, with the heading above them.
import type { TextSpan } from '../types.ts';
import { unmark, type ClaimText, type Sentence } from './claim-text.ts';
import { findAll } from './find-all.ts';

/** A statement: its text with placeholders, the text in lower case, its code, and what it stands under. */
export type Statement = TextSpan & {
  readonly text: string;
  readonly lower: string;
  readonly code: readonly Code[];
  /** The signs before its first word on its line, such as a check mark. */
  readonly lead: string;
  /** Whether it begins a paragraph, an item of a list or a row. */
  readonly isFirst: boolean;
  /** Whether it is an item of a list or a row of a table. */
  readonly isItem: boolean;
  /** The heading, the label or the header of the table above it, in lower case. */
  readonly heading: string;
  readonly isRow: boolean;
};

/** Code in backticks: its place in the statement, and its text. */
export type Code = { readonly at: number; readonly end: number; readonly text: string };

/** The first five letters of words of outcomes and operations in several languages. */
const starts = new Set(
  (
    'pass passe passi green clean succe compl finis fine happy works build compi throu ok okay erfol besta beste fehle feher grün saube durch réuss succè vert propr corre éxito exito pasa pasan pasar super verde ' +
    'error warni probl issue failu fail findi vulne viola warnu befun erreu avert échec fallo aviso insta deplo bench profi kubec rollo rolle appli teste getes tag branc rama étiqu etiqu versi again ausge déplo despl ' +
    'runni ready healt up branche branch creat lancé ejecu installi com sem senza'
  )
    .split(' ')
    .map((word) => word.slice(0, 5)),
);

/** Words that can stand behind an outcome that is a predicate: in `passed a clock` it is none. */
const followers = new Set(
  'and but in on with without after again now successfully both the it them to for und et y sin sans ohne correctamente terminó finished completed is was are were'.split(
    ' ',
  ),
);

/** What a character is: 1 a letter, 2 a digit or code, 0 another sign. */
const kinds = new Uint8Array(0x10000);
kinds.fill(1, 65, 91).fill(1, 97, 123).fill(1, 0xc0, 0x250).fill(2, 48, 58);
kinds[0xe000] = 2;

/** A number for the first five letters of a word; letters of both cases count as the same. */
const addLetter = (hash: number, code: number): number => (Math.imul(hash, 31) + (code | 32)) | 0;
const startHashes = new Set(
  [...starts].map((word) => word.split('').reduce((hash, letter) => addLetter(hash, letter.charCodeAt(0)), 7)),
);

/** The last bits of these numbers: most words are left out without a search in the set. */
const startBits = new Uint8Array(0x2000);
for (const hash of startHashes) startBits[hash & 0x1fff] = 1;

/** Whether a text has code, a digit, or a word of an outcome that can be a predicate. */
function isInteresting({ source, offset, text: { length } }: Sentence): boolean {
  const to = offset + length;
  for (let i = offset; i < to; i++) {
    let kind = kinds[source.charCodeAt(i)];
    if (kind === 2) return true;
    if (kind !== 1) continue;
    const last = i + 5;
    let hash = 7;
    for (; i < to; i++) {
      const code = source.charCodeAt(i);
      kind = kinds[code];
      if (kind !== 1) break;
      if (i < last) hash = addLetter(hash, code);
    }
    if (startBits[hash & 0x1fff] === 1 && startHashes.has(hash) && isPredicate(source, i, to)) return true;
    if (kind === 2 && i < to) return true;
  }
  return source[to - 1] === ':';
}

/** Whether the word that ends at a place can be a predicate by what follows it. */
function isPredicate(source: string, at: number, to: number): boolean {
  if (at >= to || source[at] !== ' ') return true;
  let end = at + 1;
  while (end < to && kinds[source.charCodeAt(end)] === 1) end++;
  return end === at + 1 || followers.has(source.slice(at + 1, end).toLowerCase());
}

const maxStatements = 400;
const maxRowChars = 400;

/** Splits an answer; statements without an object are left out, but count as headings. */
export function splitStatements({ answer, sentences }: ClaimText): readonly Statement[] {
  const found: Statement[] = [];
  let heading = '';
  for (const sentence of sentences) {
    if (found.length >= maxStatements) break;
    const { start, end, text, isFirst } = sentence;
    const line = isFirst ? answer.slice(answer.lastIndexOf('\n', start - 1) + 1, start) : '';
    const isItem = isFirst && /^\s*(?:[-*+•–]|\d{1,3}[.)]|[✅✓✔☑])/u.test(line);
    if (!isItem && isFirst) heading = '';
    if (isInteresting(sentence) || (line !== '' && /[✅✓✔☑]/u.test(line)))
      if (!/\?["”)\s]*$/.test(text))
        found.push({
          start,
          end,
          text,
          lower: withoutPurpose(text.toLowerCase()),
          code: text.includes('\uE000') ? readCode(answer, start, text) : [],
          lead: isFirst ? line.trim() : '',
          isFirst,
          isItem,
          isRow: false,
          heading: isItem ? heading : '',
        });
    const trimmed = text.trim();
    if (!isItem && (trimmed.endsWith(':') || /^\s*(?:#{1,6}\s|\*\*)/.test(line)) && trimmed.length < 160)
      heading = trimmed.toLowerCase();
  }
  return answer.includes('|') ? [...found, ...readRows(answer)] : found;
}

/** A text without what its statement is good for at its end: `so you can import it`. */
const withoutPurpose = (text: string): string => {
  const at = text.search(/,?\s+(?:so (?:that )?(?:you|it|we|the|this|they)|damit (?:du|sie)|pour que vous|para que)\b/);
  return at < 20 ? text : text.slice(0, at).padEnd(text.length);
};

const readCode = (answer: string, start: number, text: string): readonly Code[] =>
  findAll(/\uE000+/g, text).map(({ index, 0: mark }) => ({
    at: index,
    end: index + mark.length,
    text: unmark(answer.slice(start + index, start + index + mark.length)),
  }));

/** The rows of tables, with the header as heading. */
function readRows(answer: string): readonly Statement[] {
  const rows: Statement[] = [];
  let header: string | undefined;
  let isBody = false;
  let isFenced = false;
  let at = 0;
  for (const line of answer.split('\n')) {
    const start = at;
    at += line.length + 1;
    if (/^\s{0,12}(?:```|~~~)/.test(line)) isFenced = !isFenced;
    if (isFenced || !/^\s{0,3}\|/.test(line) || line.length > maxRowChars) {
      header = undefined;
      isBody = false;
    } else if (header === undefined) header = line.toLowerCase();
    else if (/^[\s|:-]+$/.test(line)) isBody = true;
    else if (isBody && rows.length < maxStatements) {
      const text = line.replaceAll(/`[^`]{1,300}`/g, (code) => '\uE000'.repeat(code.length));
      rows.push({
        start,
        end: start + line.length,
        text,
        lower: text.toLowerCase(),
        code: text.includes('\uE000') ? readCode(answer, start, text) : [],
        lead: '',
        isFirst: true,
        isItem: true,
        isRow: true,
        heading: header,
      });
    }
  }
  return rows;
}
