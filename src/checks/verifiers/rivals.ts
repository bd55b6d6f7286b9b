// Finds rivals of a statement: other sentences of the evidence on the same subject that may exclude it, by another number, a negation, or another complement.
import type { Evidence } from '../types.ts';
import { oncePerText } from './source-text.ts';
import { encodeAscii, readAsciiStatement, readStatement, type Statement } from './statement-words.ts';

type StatementIndex = {
  readonly statements: readonly Statement[];
  /** The statements in which a word is. */
  readonly byWord: ReadonlyMap<number, readonly number[]>;
};

const sentencePattern = /[^.!?。！？\n]+(?:[.!?](?!\s|$)[^.!?。！？\n]*)*/g;
const clauseEnd = /;\s|:\s|,\s(?=(?:and|but|while|whereas|yet)\s)|\s[–—]\s|，/g;

/** Calls back for the sentences of a text and their clauses; the lines of a paragraph belong together, headings and list items are apart. */
function findStatements(text: string, onStatement: (start: number, end: number) => void): void {
  for (const { 0: sentence, index } of text.matchAll(sentencePattern)) {
    onStatement(index, index + sentence.length);
    let start = 0;
    for (const { 0: mark, index: at } of sentence.matchAll(clauseEnd)) {
      onStatement(index + start, index + at);
      start = at + mark.length;
    }
    if (start > 0) onStatement(index + start, index + sentence.length);
  }
}

/** Joins the lines of a paragraph. */
const joinLines = (text: string): string =>
  text.replaceAll(/([^\n])\n(?![ \t]*(?:\n|[-*+•#>|]|\d{1,3}[.)]\s))/g, (_, last: string) =>
    /[.!?。！？]/.test(last) ? `${last}\n` : `${last} `,
  );

const indexOf = oncePerText((text): StatementIndex => {
  const joined = joinLines(text);
  const bytes = encodeAscii(joined);
  const statements: Statement[] = [];
  const byWord = new Map<number, number[]>();
  findStatements(joined, (start, end) => {
    const statement = bytes ? readAsciiStatement(bytes, start, end) : readStatement(joined.slice(start, end));
    const { words } = statement;
    if (words.length < 2) return;
    for (const word of words) {
      const list = byWord.get(word);
      if (list) list.push(statements.length);
      else byWord.set(word, [statements.length]);
    }
    statements.push(statement);
  });
  return { statements, byWord };
});

const maxComplement = 3;

/** Whether a short statement says of the same subject that it is something else. */
function describesOtherwise(claim: Statement, other: Statement, shared: number): boolean {
  if (!claim.isDescription || !other.isDescription || claim.subject.length !== other.subject.length) return false;
  if (claim.subject.some((word) => !other.subject.includes(word))) return false;
  return other.words.length - other.subject.length <= maxComplement && shared < other.words.length;
}

/** Whether both subjects have numbers, and none in common: item 3 is another item than item 4. */
const isOtherItem = (claim: Statement, other: Statement): boolean =>
  claim.subjectNumbers.length > 0 &&
  other.subjectNumbers.length > 0 &&
  !claim.subjectNumbers.some((number) => other.subject.includes(number));

/** Whether a statement that has the subject of a claim, and shares so many words with it, could exclude it. */
function isRival(claim: Statement, other: Statement, shared: number): boolean {
  if (isOtherItem(claim, other)) return false;
  if (describesOtherwise(claim, other, shared)) return true;
  const size = claim.words.length;
  const smaller = Math.min(size, other.words.length);
  // Two characters of a script without spaces are one word here, so fewer of them are equal.
  const needed = claim.isIdeographic ? smaller / 3 : size / 2;
  if (shared < Math.min(2, size) || shared < needed) return false;
  if (claim.isDenied !== other.isDenied) return true;
  return shared !== size && shared !== other.words.length;
}

const count = (list: readonly number[], words: ReadonlySet<number>): number => {
  let found = 0;
  for (const word of list) if (words.has(word)) found += 1;
  return found;
};

function hasRivalIn(claim: Statement, words: ReadonlySet<number>, { statements, byWord }: StatementIndex): boolean {
  const { subject } = claim;
  const subjectWords = new Set(subject);
  // A rival has two thirds of the subject: it is in one of the shortest lists, of which there are one more than words may miss.
  const lists = subject.map((word) => byWord.get(word) ?? []).toSorted((a, b) => a.length - b.length);
  const needed = subject.length - Math.ceil((subject.length * 2) / 3) + 1;
  for (const list of lists.slice(0, needed))
    for (const at of list) {
      const other = statements[at] as Statement;
      const known = count(other.words, subjectWords);
      if (known * 3 >= subject.length * 2 && isRival(claim, other, count(other.words, words))) return true;
    }
  return false;
}

/** The maximum size of evidence that is compared; a larger one may hold a rival. */
const maxEvidenceChars = 3_000_000;

/** Whether the evidence has another sentence on the subject of a statement that may exclude it. */
export function hasRivalStatement(statement: string, evidence: readonly Evidence[]): boolean {
  const claim = readStatement(statement);
  if (claim.subject.length === 0) return true;
  const words = new Set(claim.words);
  return evidence.some((each) => each.text.length > maxEvidenceChars || hasRivalIn(claim, words, indexOf(each)));
}
