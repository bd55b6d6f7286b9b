// Finds the sentences of a text, and the clauses of a sentence that state something alone, as spans of the text.
import { findAll } from '../find-all.ts';
import type { TextSpan } from '../types.ts';
import { isSpace, trimSpan } from '../words.ts';

const abbreviations: ReadonlySet<string> = new Set(
  (
    'mr mrs ms dr prof st jr sr vs etc cf ca approx no nos fig figs eq vol pp p ed eds al inc ltd co corp dept est ' +
    'gen gov sen rep col capt lt sgt rev hon mt ft e.g i.e a.m p.m u.s u.k u.n ph.d d.c jan feb mar apr jun jul aug sep sept oct nov dec ' +
    'z.b d.h u.a bzw usw nr str ggf evtl inkl exkl vgl abb bspw sog max min ' +
    'p.ex m mme mlle cf art env n.b aprox ej sra av'
  ).split(' '),
);

const maxAbbreviationLength = 6;
const space = 32;

const months =
  /^(?:jan|feb|mar|mär|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez|fév|avr|juin|juil|aoû|déc|ene|abr|ago|dic)/i;

/** Ends of sentences that need no white space after them. */
const wideEnds = new Set('。！？｡︒');
const plainEnds = new Set('.!?…؟۔।॥');
/** What may stand between the end of a sentence and the white space. */
const closers = new Set('"\'”’»)]}*_~`」』）】');

/** Returns the sentences of a text as spans without white space at their ends; together they hold every other character. */
export function findSentences(text: string): readonly TextSpan[] {
  const sentences: TextSpan[] = [];
  const codeEnds = findCodeSpans(text);
  let start = 0;
  const marks = /[`.!?…؟۔।॥。！？｡︒]/g;
  while (marks.test(text)) {
    const at = marks.lastIndex - 1;
    const char = text[at] ?? '';
    if (char === '`') {
      marks.lastIndex = codeEnds.get(at) ?? at + 1;
      continue;
    }
    const end = skipClosers(text, at + 1);
    if (wideEnds.has(char) || isSentenceEnd(text, start, at, end)) {
      addSpan(text, { start, end }, sentences);
      start = end;
    }
    marks.lastIndex = end;
  }
  addSpan(text, { start, end: text.length }, sentences);
  return sentences;
}

/** Adds a span without white space at its ends, if anything else is in it. */
function addSpan(text: string, span: TextSpan, spans: TextSpan[]): void {
  const trimmed = trimSpan(text, span);
  if (trimmed.start < trimmed.end) spans.push(trimmed);
}

/** The beginnings of inline code with their ends. */
function findCodeSpans(text: string): ReadonlyMap<number, number> {
  const ends = new Map<number, number>();
  let at = text.indexOf('`');
  while (at >= 0) {
    const close = text.indexOf('`', at + 1);
    if (close < 0) break;
    ends.set(at, close + 1);
    at = text.indexOf('`', close + 1);
  }
  return ends;
}

/** Skips further ends of a sentence, closing quotes, brackets and emphasis, and the number of a citation. */
function skipClosers(text: string, from: number): number {
  let at = from;
  for (;;) {
    // Most sentences end with one sign and a space.
    if (text.charCodeAt(at) === space) return at;
    const char = text[at] ?? '';
    if (char !== '' && (closers.has(char) || plainEnds.has(char) || wideEnds.has(char))) at += 1;
    else if (char === '[' && /^\[\^?\d{1,4}\]/.test(text.slice(at, at + 8))) at = text.indexOf(']', at) + 1;
    else return at;
  }
}

function isSentenceEnd(text: string, start: number, at: number, end: number): boolean {
  if (end >= text.length) return true;
  if (!isSpace(text, end)) return false;
  if (text[at] !== '.') return true;
  if (startsWithSmallLetter(text, end)) return false;
  const word = lastWord(text, start, at);
  if (word.length > maxAbbreviationLength) return true;
  if ((word.length < 3 && /^\p{L}$/u.test(word)) || abbreviations.has(word.toLowerCase())) return false;
  // An ordinal number before a month, as in German dates.
  return !(word.length < 3 && /^\d{1,2}$/.test(word) && months.test(readNext(text, end)));
}

/** What follows a position and white space; at most 40 characters. */
const readNext = (text: string, at: number): string => text.slice(at, at + 40).trimStart();

/** Whether a small letter follows a position and white space; one of ASCII behind a space needs no regular expression. */
function startsWithSmallLetter(text: string, at: number): boolean {
  const code = text.charCodeAt(at + 1);
  if (text.charCodeAt(at) !== space || code <= space || code > 127) return /^\p{Ll}/u.test(readNext(text, at));
  return code >= 97 && code <= 122;
}

/** The word that ends before a position, with the dots inside it; at most 20 characters. */
function lastWord(text: string, start: number, at: number): string {
  let from = at;
  while (from > start && at - from < 20 && isWordPart(text, from - 1)) from -= 1;
  return text.slice(from, at);
}

/** Whether a character is a letter, a digit or a dot; one of ASCII needs no regular expression. */
function isWordPart(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  if (code > 127) return /[\p{L}\p{N}]/u.test(text[at] ?? '');
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 46 && code <= 57 && code !== 47);
}

const finiteVerb =
  /\b(?:is|are|was|were|has|have|had|does|do|did|can|cannot|could|will|would|must|should|may|might|uses|used|contains|contained|returns|returned|supports|supported|needs|needed|became|began|won|lost|died|lives|lived|costs|wrote|made|makes|runs|ran|holds|held|lies|lay|opened|closed|rose|fell|grew)\b/i;
/** A sentence with one of these says something about the whole of its parts. */
const boundSentence =
  /\b(?:if|unless|whether|because|although|though|when|whenever|while|until|either|neither|both|between|not only|rather|than|so that|in order|provided|except|assuming|according)\b|["“”„«»()[\]`|]/i;
const joint = /[;；]\s*|,\s(?:and|but)\s(?=\p{Lu}|the\s|a\s|an\s|its\s|their\s|his\s|her\s)/gu;
/** What every joint has. */
const mayHaveJoint = /[;；]|,\s(?:and|but)\s/;
const minClauseWords = 3;

/** Returns the parts of a sentence that state something alone: coordinated clauses with their own subject and verb. A sentence whose parts depend on each other is one part. */
export function findClauses(text: string, sentence: TextSpan): readonly TextSpan[] {
  const whole = text.slice(sentence.start, sentence.end);
  if (whole.length > 2000 || !mayHaveJoint.test(whole)) return [sentence];
  const joints = findAll(joint, whole);
  if (joints.length === 0 || boundSentence.test(whole)) return [sentence];
  const clauses: TextSpan[] = [];
  let start = 0;
  for (const match of joints) {
    const next = match.index + match[0].length;
    const left = whole.slice(start, match.index);
    const right = whole.slice(next);
    if (!isClause(left) || !isClause(right)) continue;
    clauses.push({ start: sentence.start + start, end: sentence.start + match.index });
    start = next;
  }
  clauses.push({ start: sentence.start + start, end: sentence.end });
  return clauses.map((span) => trimSpan(text, span)).filter((span) => span.start < span.end);
}

const isClause = (text: string): boolean => {
  const words = text.trim().split(/\s+/);
  const verb = finiteVerb.exec(text);
  // The verb of a clause has a subject before it, and is near its beginning.
  return words.length >= minClauseWords && verb !== null && verb.index > 0 && verb.index < 80;
};
