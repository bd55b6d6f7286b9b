// Finds rivals of a statement: other sentences of the evidence on the same subject that may exclude it, by another number, a negation, or another complement.
import type { Evidence } from '../types.ts';
import { oncePerText } from './source-text.ts';
import { encodeAscii, opposites, readAsciiStatement, readStatement, type Statement } from './statement-words.ts';

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

/** The full stop of a title before a name. */
const titleStop = /(?<=\b(?:Dr|Mr|Mrs|Ms|Prof|St))\.(?=\s)/g;

/** Joins the lines of a paragraph; every character keeps its place. */
const joinLines = (text: string): string =>
  text
    .replaceAll(titleStop, ' ')
    .replaceAll(/([^\n])\n(?![ \t]*(?:\n|[-*+•#>|]|\d{1,3}[.)]\s))/g, (_, last: string) =>
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
  claim.subject.length > claim.subjectNumbers.length &&
  other.subjectNumbers.length > 0 &&
  !claim.subjectNumbers.some((number) => other.subject.includes(number));

/** Whether a statement has a word that excludes a word of the claim, which it does not have itself. */
const hasOpposite = (claim: Statement, other: Statement): boolean =>
  claim.words.some((word) => {
    const excluded = opposites.get(word);
    return excluded !== undefined && !other.words.includes(word) && other.words.some((each) => excluded.has(each));
  });

/** Whether two statements have their common words in the same order: "Ada pays Ben" is not "Ben pays Ada". */
function hasSameOrder(claim: Statement, words: ReadonlySet<number>, other: Statement): boolean {
  const common = other.words.filter((word) => words.has(word));
  const own = claim.words.filter((word) => common.includes(word));
  return own.every((word, index) => word === common[index]);
}

const count = (list: readonly number[], words: ReadonlySet<number>): number => {
  let found = 0;
  for (const word of list) if (words.has(word)) found += 1;
  return found;
};

/** A longer statement may name a word of the claim before it. */
const maxAdded = 2;
/** A remark on a subject, such as "Bridge closed", has at most so many words. */
const maxRemark = 4;
const maxRow = 4;

const maxShort = 6;

/** Whether a statement may be the row of a table, such as "tank: 450 l". */
const isRow = ({ words, hasAuxiliary }: Statement): boolean => !hasAuxiliary && words.length <= maxRow;

/** Whether both state numbers, and none in common. */
const hasOtherNumbers = (claim: Statement, other: Statement): boolean =>
  claim.numbers.length > claim.subjectNumbers.length &&
  other.numbers.length > 0 &&
  !other.numbers.some((number) => claim.numbers.includes(number));

/** Whether the subject of a claim is a part of the subject of a statement. */
const hasSubject = (claim: Statement, other: Statement): boolean =>
  claim.subject.every((word) => other.subject.includes(word));

/** Whether a statement that has the subject of a claim could exclude it. */
function isRival(claim: Statement, words: ReadonlySet<number>, other: Statement): boolean {
  if (isOtherItem(claim, other)) return false;
  const shared = count(other.words, words);
  if (describesOtherwise(claim, other, shared)) return true;
  const size = claim.words.length;
  // A statement on the subject alone is often on another property of it.
  const isClose =
    other.words.length <= maxRemark ||
    (hasSubject(claim, other) && shared > count(other.words, new Set(claim.subject)));
  if (isClose && ((other.isContrary && !claim.isContrary) || hasOpposite(claim, other))) return true;
  if (isRow(other) && hasOtherNumbers(claim, other) && hasSubject(claim, other)) return true;
  // Two characters of a script without spaces are one word here, so fewer of them are equal.
  const needed = claim.isIdeographic ? Math.min(size, other.words.length) / 3 : size / 2;
  if (shared < Math.min(2, size) || shared < needed) return false;
  if (claim.isDenied !== other.isDenied) return true;
  if (shared !== size && shared !== other.words.length) return true;
  return !claim.isIdeographic && other.words.length - size <= maxAdded && !hasSameOrder(claim, words, other);
}

/** Returns the statements that have two thirds of some words. They are in one of the shortest lists, of which there are one more than words may miss. */
function* findStatementsWith(words: readonly number[], { statements, byWord }: StatementIndex): Generator<Statement> {
  const wanted = new Set(words);
  const lists = words.map((word) => byWord.get(word) ?? []).toSorted((a, b) => a.length - b.length);
  const needed = words.length - Math.ceil((words.length * 2) / 3) + 1;
  for (const list of lists.slice(0, needed))
    for (const at of list) {
      const other = statements[at] as Statement;
      if (count(other.words, wanted) * 3 >= words.length * 2) yield other;
    }
}

/** Whether a statement on the same has another number: it has the words of the claim, but not its numbers. */
function hasOtherNumber(claim: Statement, index: StatementIndex): boolean {
  if (claim.numbers.length === 0) return false;
  const words = claim.words.filter((word) => !claim.numbers.includes(word));
  const [first] = words;
  if (first === undefined || words.length < 2) return false;
  for (const other of findStatementsWith(words, index))
    if (other.words.includes(first) && hasOtherNumbers(claim, other) && !isOtherItem(claim, other)) return true;
  return false;
}

/** Whether a statement has another name for what a claim says of a name: "Ben is the mayor" beside "Ada is the mayor", in any words. */
function hasOtherName(claim: Statement, words: ReadonlySet<number>, index: StatementIndex): boolean {
  const { subject, names } = claim;
  if (!claim.isDescription || (names.length === 0 && !claim.startsPlainly)) return false;
  const rest = claim.words.filter((word) => !subject.includes(word));
  const isNamed = claim.startsPlainly || subject.some((word) => names.includes(word));
  const parts = [...(isNamed ? [rest] : []), ...(rest.some((word) => names.includes(word)) ? [subject] : [])];
  return parts.some((part) => {
    for (const other of findStatementsWith(part, index))
      if (
        other.names.some((name) => !words.has(name)) &&
        (count(other.words, words) < claim.words.length || !hasSameOrder(claim, words, other))
      )
        return true;
    return false;
  });
}

/** Whether a statement says of what a claim ascribes to its subject that it ended, is missing or is not so. */
function hasContrary(claim: Statement, index: StatementIndex): boolean {
  const rest = claim.words.filter((word) => !claim.subject.includes(word));
  if (rest.length < 2) return false;
  for (const other of findStatementsWith(rest, index))
    if ((other.isContrary && !claim.isContrary) || other.isDenied !== claim.isDenied) return true;
  return false;
}

/** Whether a short statement on the subject of a claim has another name than the one name of the claim: "Quill wrote the novel" beside "The novel was written by Orr". */
function hasOtherNameInRole(claim: Statement, words: ReadonlySet<number>, index: StatementIndex): boolean {
  const [name] = claim.names;
  if (name === undefined || claim.names.length > 1 || claim.startsPlainly || claim.subject.includes(name)) return false;
  for (const other of findStatementsWith(claim.subject, index)) {
    const [first = 0] = other.words;
    const isOther = other.names.some((each) => !words.has(each)) || (other.startsPlainly && !words.has(first));
    if (isOther && other.words.length <= maxShort && !other.words.includes(name)) return true;
  }
  return false;
}

/** Whether a short statement says of a part of the subject that it is something else: "The door is green" beside "The colour of the door is red". */
function describesPart(claim: Statement, words: ReadonlySet<number>, { statements, byWord }: StatementIndex): boolean {
  if (!claim.isDescription || claim.subject.length < 2) return false;
  return claim.subject.some((word) =>
    byWord.get(word)?.some((at) => {
      const other = statements[at] as Statement;
      return (
        other.isDescription &&
        other.subject.every((each) => claim.subject.includes(each)) &&
        other.words.length - other.subject.length === 1 &&
        count(other.words, words) < other.words.length
      );
    }),
  );
}

function hasRivalIn(claim: Statement, words: ReadonlySet<number>, index: StatementIndex): boolean {
  for (const other of findStatementsWith(claim.subject, index)) if (isRival(claim, words, other)) return true;
  return (
    hasContrary(claim, index) ||
    describesPart(claim, words, index) ||
    hasOtherNameInRole(claim, words, index) ||
    hasOtherNumber(claim, index) ||
    hasOtherName(claim, words, index)
  );
}

/** The maximum size of evidence that is compared; a larger one may hold a rival. */
const maxEvidenceChars = 3_000_000;

/** The beginning of a statement on all things of a kind. */
const universal = /^\W*(?:all|every|each|any|everyone|everybody|everything|always|never|only|no|none|both|neither)\b/i;

/** Whether another statement has a word of a statement on all things of a kind: it may be an exception. */
function hasException(claim: Statement, words: ReadonlySet<number>, { statements, byWord }: StatementIndex): boolean {
  return claim.words.some((word) =>
    byWord.get(word)?.some((at) => {
      const other = statements[at] as Statement;
      return count(other.words, words) < Math.min(claim.words.length, other.words.length);
    }),
  );
}

/** Where a sentence of a statement ends and another one starts. */
const sentenceEnd = /(?<=[.!?]["')\]]{0,2})\s+(?=\p{Lu})|(?<=[。！？])(?=.)/u;

/** Whether the evidence has another sentence on the subject of one of the sentences of a statement that may exclude it. */
export const hasRivalStatement = (statement: string, evidence: readonly Evidence[]): boolean =>
  statement
    .replaceAll(titleStop, ' ')
    .split(sentenceEnd)
    .some((sentence) => hasRivalSentence(sentence, evidence));

function hasRivalSentence(statement: string, evidence: readonly Evidence[]): boolean {
  const claim = readStatement(statement);
  if (claim.subject.length === 0) return true;
  const words = new Set(claim.words);
  const isUniversal = universal.test(statement);
  return evidence.some(
    (each) =>
      each.text.length > maxEvidenceChars ||
      hasRivalIn(claim, words, indexOf(each)) ||
      (isUniversal && hasException(claim, words, indexOf(each))),
  );
}
