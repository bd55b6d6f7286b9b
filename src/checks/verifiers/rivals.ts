// Finds rivals of a statement: other sentences of the evidence on the same subject that may exclude it, by another number, a negation, or another complement.
import type { Evidence } from '../types.ts';

/** The words of a sentence or clause. */
type Statement = {
  /** The content words, in the order of their first use. */
  readonly words: ReadonlySet<string>;
  readonly numbers: ReadonlySet<string>;
  readonly isDenied: boolean;
  /** The words before the first auxiliary, or the first word. */
  readonly subject: readonly string[];
  /** Whether the auxiliary says what the subject is. */
  readonly isDescription: boolean;
};

type StatementIndex = {
  readonly statements: readonly Statement[];
  /** The statements in which a word is. */
  readonly byWord: ReadonlyMap<string, readonly number[]>;
};

const smallWords = new Set(
  (
    'a an the of in on at to for from by with within into onto upon via per than then also and or but as that this these those it its they them their he she his her we our you your there here ' +
    'is are was were be been being has have had do does did will would shall should can could may might must ' +
    'der die das ein eine einer eines den dem des und oder ist sind war waren im am zu von mit le la les un une du de et ou est sont el los las y o es son en'
  ).split(' '),
);
/** Words after which the subject of a sentence is complete. */
const verbs = new Set(
  'is are was were has have had do does did will would shall should can could may might must ist sind war waren hat haben est sont es son'.split(
    ' ',
  ),
);
const denyingWords = new Set(
  'not no never none neither nor cannot without nothing nobody nowhere nicht kein keine keinen nie niemals pas jamais aucun nunca ningún sin'.split(
    ' ',
  ),
);

const wordPattern =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]+|\d+(?:[.,:]\d+)*|[\p{L}\p{M}]+(?:['’]\p{L}+)?/gu;
const ideograph = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;

/** The word without its usual endings. */
const stem = (word: string): string => {
  const cut = word.replace(/['’]s$/, '').replace(/(?:ings?|ed|es|s)$/, '');
  return cut.length >= 3 ? cut : word;
};

const descriptionVerbs = new Set('is are was were ist sind war waren est sont es son'.split(' '));

function readStatement(text: string): Statement {
  const words = new Set<string>();
  const numbers = new Set<string>();
  let subject: readonly string[] | undefined;
  let isDenied = false;
  let isDescription = false;
  // Without an auxiliary: the first word, and what follows it after "of".
  let head = 1;
  let isAfterOf = false;
  for (const [found] of text.toLowerCase().matchAll(wordPattern)) {
    if (ideograph.test(found)) {
      isDenied ||= /[不没未无非]/u.test(found);
      if (found.length === 1) words.add(found);
      for (let at = 0; at + 1 < found.length; at++) words.add(found.slice(at, at + 2));
    } else if (/^\d/.test(found)) {
      numbers.add(found);
      words.add(found);
    } else if (denyingWords.has(found) || /n['’]t$/.test(found)) isDenied = true;
    else if (smallWords.has(found)) {
      if (verbs.has(found) && words.size > 0 && subject === undefined) {
        subject = [...words];
        isDescription = descriptionVerbs.has(found);
      }
      if (found === 'of' && words.size === head) isAfterOf = true;
    } else {
      words.add(stem(found));
      if (isAfterOf) head = words.size;
      isAfterOf = false;
    }
  }
  return { words, numbers, isDenied, subject: subject ?? [...words].slice(0, head), isDescription };
}

const sentencePattern = /[^.!?。！？\n]+(?:[.!?](?!\s|$)[^.!?。！？\n]*)*/g;
const clauseEnd = /;\s|:\s|,\s(?=(?:and|but|while|whereas|yet)\s)|\s[–—]\s|，/;

/** The sentences of a text and their clauses; the lines of a paragraph belong together, headings and list items are apart. */
function* findStatements(text: string): Generator<string> {
  const joined = text.replaceAll(/([^\n])\n(?![ \t]*(?:\n|[-*+•#>|]|\d{1,3}[.)]\s))/g, (_, last: string) =>
    /[.!?。！？]/.test(last) ? `${last}\n` : `${last} `,
  );
  for (const [sentence] of joined.matchAll(sentencePattern)) {
    yield sentence;
    const clauses = sentence.split(clauseEnd);
    if (clauses.length > 1) yield* clauses;
  }
}

const indexes = new WeakMap<Evidence, StatementIndex>();

function getIndex(evidence: Evidence): StatementIndex {
  const known = indexes.get(evidence);
  if (known) return known;
  const statements: Statement[] = [];
  const byWord = new Map<string, number[]>();
  for (const text of findStatements(evidence.text)) {
    const statement = readStatement(text);
    const { words } = statement;
    if (words.size < 2) continue;
    for (const word of words) {
      const list = byWord.get(word);
      if (list) list.push(statements.length);
      else byWord.set(word, [statements.length]);
    }
    statements.push(statement);
  }
  const index = { statements, byWord };
  indexes.set(evidence, index);
  return index;
}

const countShared = (a: ReadonlySet<string>, b: ReadonlySet<string>): number => {
  let shared = 0;
  for (const word of a) if (b.has(word)) shared += 1;
  return shared;
};

const maxComplement = 3;

/** Whether a short statement says of the same subject that it is something else. */
function describesOtherwise(claim: Statement, other: Statement): boolean {
  if (!claim.isDescription || !other.isDescription || claim.subject.length !== other.subject.length) return false;
  if (
    !claim.subject.every((word) => other.words.has(word)) ||
    claim.subject.some((word) => !other.subject.includes(word))
  )
    return false;
  const complement = other.words.size - other.subject.length;
  return complement <= maxComplement && countShared(claim.words, other.words) < other.words.size;
}

/** Whether both subjects have numbers, and none in common: item 3 is another item than item 4. */
function isOtherItem(claim: Statement, other: Statement): boolean {
  const numbers = claim.subject.filter((word) => claim.numbers.has(word));
  return (
    numbers.length > 0 &&
    other.subject.some((word) => other.numbers.has(word)) &&
    !numbers.some((word) => other.subject.includes(word))
  );
}

/** Whether a statement speaks of the same as another and could exclude it. */
function isRival(claim: Statement, other: Statement): boolean {
  if (isOtherItem(claim, other)) return false;
  const shared = countShared(claim.words, other.words);
  const smaller = Math.min(claim.words.size, other.words.size);
  const [first = ''] = claim.words;
  // Two characters of a script without spaces are one word here, so fewer of them are equal.
  const needed = ideograph.test(first) ? smaller / 3 : Math.max(smaller, claim.words.size) / 2;
  if (describesOtherwise(claim, other)) return true;
  if (shared < Math.min(2, claim.words.size) || shared < needed) return false;
  const known = claim.subject.filter((word) => other.words.has(word)).length;
  if (known * 3 < claim.subject.length * 2) return false;
  if (claim.isDenied !== other.isDenied) return true;
  const isMore = shared === claim.words.size;
  const isLess = shared === other.words.size;
  return !isMore && !isLess;
}

/** The maximum size of evidence that is compared; a larger one may hold a rival. */
const maxEvidenceChars = 3_000_000;

/** Whether the evidence has another sentence on the subject of a statement that may exclude it. */
export function hasRivalStatement(statement: string, evidence: readonly Evidence[]): boolean {
  const claim = readStatement(statement);
  const [first] = claim.subject;
  if (first === undefined) return true;
  return evidence.some((each) => {
    if (each.text.length > maxEvidenceChars) return true;
    const { statements, byWord } = getIndex(each);
    const candidates = new Set(claim.subject.flatMap((word) => byWord.get(word) ?? []));
    for (const at of candidates) {
      const other = statements[at];
      if (other && isRival(claim, other)) return true;
    }
    return false;
  });
}
