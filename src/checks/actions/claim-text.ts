// Splits an answer into the sentences that can make a claim: code blocks and quotations are left out, code and quoted words become placeholders of the same length.
import type { TextSpan } from '../types.ts';
import { findAll } from '../find-all.ts';

/** Max characters of an answer that are read. */
export const maxAnswerChars = 200_000;
/** Longer sentences are lists or data, not statements. */
const maxSentenceChars = 600;

/** Stands for each character of code in backticks. */
export const codeMark = '\uE000';
/** Stands for each character of a quotation. */
export const quoteMark = '\uE001';

/** A sentence of an answer: its place, and its text with placeholders, as long as the place. */
export type Sentence = TextSpan & {
  readonly text: string;
  /** Whether it begins a paragraph or an item of a list. */
  readonly isFirst: boolean;
};

/** An answer with placeholders, and its sentences. */
export type ClaimText = {
  readonly answer: string;
  /** The characters of the answer with placeholders; they are read faster than those of a string. */
  readonly codes: Uint16Array;
  readonly sentences: readonly Sentence[];
  /** Whether the answer shows a block of code. */
  readonly hasCodeBlock: boolean;
};

/** Splits an answer. */
export function splitClaimText(given: string): ClaimText {
  const answer = given.slice(0, maxAnswerChars);
  const codes = new Uint16Array(answer.length);
  const bytes = Buffer.from(codes.buffer);
  bytes.write(answer, 'utf16le');
  const sentences: Sentence[] = [];
  let hasCodeBlock = false;
  let fence: string | undefined;
  let block: { start: number; end: number } | undefined;
  const close = (): void => {
    if (block) addSentences(answer, bytes, block, sentences);
    block = undefined;
  };
  for (let at = 0; at < answer.length;) {
    const newline = answer.indexOf('\n', at);
    const end = newline < 0 ? answer.length : newline;
    const line = answer.slice(at, Math.min(end, at + 200));
    const mark = /^\s{0,12}(```|~~~)/.exec(line)?.[1];
    if (fence !== undefined) {
      if (mark === fence) fence = undefined;
    } else if (mark !== undefined) {
      hasCodeBlock = true;
      fence = mark;
      close();
    } else if (/^\s{0,12}[>|]|^\s*$|^\s{0,3}[-=_*]{3,}\s*$/.test(line) && (line.length < 200 || /^\s*[>|]/.test(line)))
      close();
    else {
      const head = /^\s*(?:(?:[-*+•–]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?|#{1,6}\s+)?/.exec(line)?.[0].length ?? 0;
      const isItem = /\S/.test(line.slice(0, head)) || /^\s*[✅✓✔☑❌✗✘]/u.test(line);
      if (isItem) close();
      if (block && end - block.start < 20_000) block.end = end;
      else {
        close();
        block = { start: at + head, end };
      }
      if (line.trimStart().startsWith('#')) close();
    }
    at = end + 1;
  }
  close();
  return { answer, codes, sentences, hasCodeBlock };
}

const sentenceEnd = /[.!?]+[)\]]*(?=\s+(?:[^a-z]|[\w/-]{1,100}\.\w{1,8}\s)|$)|;\s|\s[–—]\s/g;

function addSentences(answer: string, bytes: Buffer, { start, end }: TextSpan, sentences: Sentence[]): void {
  const plain = answer.slice(start, end);
  const masked = maskText(plain);
  if (masked !== plain) bytes.write(masked, start * 2, 'utf16le');
  let from = 0;
  let isFirst = true;
  const add = (to: number): void => {
    const lead = findStart(masked, from, to) - from;
    const text = masked.slice(from + lead, to);
    if (text.length > 2 && text.length <= maxSentenceChars)
      sentences.push({
        start: start + from + lead,
        end: start + to,
        text,
        isFirst,
      });
    isFirst = false;
  };
  for (const { index, 0: mark } of findAll(sentenceEnd, masked)) {
    const sign = mark.charCodeAt(0);
    const isDash = !endSigns.has(sign);
    if (
      abbreviationEnds.has(masked.charCodeAt(index - 1) | 32) &&
      /\b(?:e\.g|i\.e|vs|etc|approx|no)$/i.test(masked.slice(Math.max(0, index - 6), index)) &&
      index + 1 < masked.length
    )
      continue;
    // `a.ts – new file` is one statement.
    if (isDash && /^\s*\S+\s*$/.test(masked.slice(from, index))) continue;
    add(index + mark.length);
    from = index + mark.length;
    if (isDash || sign === semicolon) isFirst = true;
  }
  if (from < masked.length) add(masked.length);
}

const semicolon = 59;
/** The first signs of the ends of sentences that are no dash. */
const endSigns = new Set([46, 33, 63, semicolon]);
/** The last letters of the abbreviations that end no sentence. */
const abbreviationEnds = new Set(Array.from('gescxo', (letter) => letter.charCodeAt(0)));

/** Where the first word or placeholder of a part begins; the end of the part if it has none. */
function findStart(text: string, from: number, to: number): number {
  for (let at = from; at < to; at++) {
    const code = text.charCodeAt(at);
    if (code > 127) return at + (/^[^\p{L}\p{N}\uE000\uE001.~/@]*/u.exec(text.slice(at, to))?.[0].length ?? 0);
    if (startSigns[code] === 1) return at;
  }
  return to;
}

const startSigns = new Uint8Array(128).fill(1, 48, 58).fill(1, 64, 91).fill(1, 97, 123);
for (const code of [46, 47, 126]) startSigns[code] = 1;

/** Replaces code, quotations and links by placeholders of the same length; emphasis becomes white space. */
function maskText(text: string): string {
  let masked = text;
  for (const [signs, pattern, mark] of masks)
    if (signs.some((sign) => masked.includes(sign)))
      masked = masked.replaceAll(pattern, (found) => mark.repeat(found.length));
  return masked.replaceAll(/[*\n\t[]/g, ' ');
}

/** What is replaced, in this order: a text without one of the signs is not searched. */
const masks: readonly (readonly [signs: readonly string[], pattern: RegExp, mark: string])[] = [
  [['`'], /`{1,3}[^`\n]{1,300}`{1,3}/g, codeMark],
  [[']('], /\]\([^()\s]{1,300}\)/g, ' '],
  [['://'], /https?:\/\/[^\s)]{1,300}/g, quoteMark],
  [['"', '“', '«'], /"[^"\n]{1,300}"|“[^”\n]{1,300}”|«[^»\n]{1,300}»/g, quoteMark],
  [["'", '‘'], /(?<![\w’'])['‘][^'‘’\n]{1,200}['’](?!\w)/g, quoteMark],
];

/** Whether a sentence ends with a question mark. */
export const isQuestion = (text: string): boolean => text.includes('?') && /\?["”)\s]*$/.test(text);

/** The text between the marks of a placeholder: code without backticks, a quotation without quotes. */
export function unmark(text: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && openingMarks.includes(text[from] ?? '')) from++;
  while (to > from && closingMarks.includes(text[to - 1] ?? '')) to--;
  return text.slice(from, to).trim();
}

const openingMarks = '`"“«\'‘';
const closingMarks = '`"”»\'’';
