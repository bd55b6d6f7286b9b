// Splits an answer into the statements that can name an object of the log: sentences, items of lists and rows of tables, with the heading above them.
import type { TextSpan } from '../types.ts';
import { isQuestion, unmark, type ClaimText } from './claim-text.ts';
import { findAll } from '../find-all.ts';
import type { SplitSentence } from './sentence-words.ts';
import { mayHave, readWordGroups } from './word-groups.ts';

/** A statement: its text with placeholders, the text in lower case, its code, and what it stands under. */
export type Statement = TextSpan & {
  readonly text: string;
  readonly lower: string;
  /** The groups of words that the text may have. */
  readonly groups: number;
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

const maxStatements = 400;
const maxRowChars = 400;

/** Splits an answer; statements without an object are left out, but count as headings. */
export function splitStatements(
  { answer, sentences }: ClaimText,
  split: readonly SplitSentence[],
): readonly Statement[] {
  const found: Statement[] = [];
  let heading = '';
  for (const [i, { start, end, text, isFirst }] of sentences.entries()) {
    if (found.length >= maxStatements) break;
    const line = isFirst ? answer.slice(answer.lastIndexOf('\n', start - 1) + 1, start) : '';
    const isItem = isFirst && /^\s*(?:[-*+•–]|\d{1,3}[.)]|[✅✓✔☑])/u.test(line);
    if (!isItem && isFirst) heading = '';
    if (split[i]?.mayNameObject || (line !== '' && /[✅✓✔☑]/u.test(line)))
      if (!isQuestion(text)) {
        const groups = readWordGroups(text);
        const lower = text.toLowerCase();
        found.push({
          start,
          end,
          text,
          lower: mayHave(groups, 'purpose') ? withoutPurpose(lower) : lower,
          groups,
          code: text.includes('\uE000') ? readCode(answer, start, text) : [],
          lead: isFirst ? line.trim() : '',
          isFirst,
          isItem,
          isRow: false,
          heading: isItem ? heading : '',
        });
      }
    if (isItem || (line === '' && !text.includes(':'))) continue;
    const trimmed = text.trim();
    if ((trimmed.endsWith(':') || /^\s*(?:#{1,6}\s|\*\*)/.test(line)) && trimmed.length < 160)
      heading = trimmed.toLowerCase();
  }
  return answer.includes('|') ? [...found, ...readRows(answer)] : found;
}

/** What begins a purpose: `so you can import it`. */
export const purpose: RegExp =
  /,?\s+(?:so (?:that )?(?:you|it|we|the|this|they)|damit (?:du|sie)|pour que vous|para que)\b/;

/** A text without what its statement is good for at its end. */
const withoutPurpose = (text: string): string => {
  const at = text.search(purpose);
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
        groups: readWordGroups(text),
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
