// Says whether a source asserts the sentence at a place: as a whole sentence of its own, and not denied, supposed, quoted or reported by what stands around it.
import type { TextSpan } from '../types.ts';
import { hasDenial, isIndirect } from './assertion.ts';
import {
  collectingWords,
  contraryStart,
  deniesItself,
  isForeignDenial,
  limitingWords,
  reversal,
  strongDenial,
  taskStart,
  waitingWords,
} from './framing-words.ts';
import { isInQuotedPart } from './quoted-parts.ts';
import { findTitles } from './source-marks.ts';
import type { NormalText } from './source-text.ts';

/** Max characters before and after a sentence that are read for its context. */
const contextChars = 400;

const sentenceEnd = /[.!?。！？]["'”’)\]*_`]*$/;
const abbreviation =
  /(?:^|[^\p{L}])(?:e\.g|i\.e|vs|cf|dr|mr|mrs|ms|no|st|prof|approx|etc|al|fig|ca|sec|art|\p{L})\.$/iu;
const listMark = /^[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+$/;
const nextBlock = /^[ \t]*(?:\r?\n[ \t]*(?:\r?\n|[-*+•#]|\d{1,3}[.)]\s|$)|$)/;

/** Whether a sentence can start at a position of a text. */
export function isSentenceStart(text: string, start: number): boolean {
  const before = text.slice(Math.max(0, start - contextChars), start);
  const lineStart = before.lastIndexOf('\n') + 1;
  const line = before.slice(lineStart);
  const hasWholeLine = lineStart > 0 || before.length === start;
  if (hasWholeLine && listMark.test(line)) return true;
  const trimmed = before.trimEnd();
  if (trimmed === '') return before.length === start;
  if (lineStart > 0 && /^[ \t]*$/.test(line) && /\n[ \t]*\r?\n[ \t]*$/.test(before)) return true;
  if (trimmed.length === before.length || /["'”’]/.test(trimmed.at(-1) ?? '')) return false;
  return sentenceEnd.test(trimmed) && !abbreviation.test(trimmed.slice(-maxAbbreviationChars));
}

/** More characters than an abbreviation, its full stop and the character before it have. */
const maxAbbreviationChars = 12;

/** Whether the sentence that ends at a position, without its full stop, ends there in the text. */
export function isSentenceEnd(text: string, end: number): boolean {
  const after = text.slice(end, end + contextChars);
  // A block that starts with a small letter continues the sentence.
  if (nextBlock.test(after)) return !/^\s*\p{Ll}/u.test(after);
  return /^[.!。！](?:\s|$)/.test(after) || /^[。！]/.test(after);
}

const forwardWords = /\b(?:following|below|next|these|this|here|such|as follows)\b|[:：]\s*$/i;
const backwardStart =
  /^\W*(?:this|that|these|those|it|which|such|both|neither|none|not|no|nope|false|wrong|actually|in fact|in reality|however|but|except|unless|or|at least|so|the (?:above|claim|statement|former|previous|preceding|sentence))\b/i;
const pointsBack = /^\W*(?:this|that|these|those|such|or so|at least|so)\b/i;
const attribution = /^[.!。！]?\s*(?:(?:[—–]|--)\s*\p{L}|\/s\b|\(|\[(?!\^?\d))/u;
const steeringWords =
  /\b(?:mark|label|rate|judge|treat|consider|accept|report|classify|return|output|answer|verdict)\b/i;
const steeringTargets = /\b(?:claims?|statements?|answers?|sentences?|instructions?)\b/i;
const steeringAims = /\b(?:supported|verified|true|correct|valid|ignore|disregard)\b/i;

/** Whether a sentence tells a reader of the source how to judge statements. */
export const isSteering = (sentence: string): boolean =>
  steeringWords.test(sentence) && steeringTargets.test(sentence) && steeringAims.test(sentence);

function lastSentence(text: string): string {
  const trimmed = text.trimEnd();
  const ends = /[.!?。！？]["'”’)\]]*(?=\s)/g;
  let start = 0;
  while (ends.test(trimmed)) start = ends.lastIndex;
  return trimmed.slice(start);
}

const firstSentence = (text: string): string => {
  const rest = text.replace(/^[.!。！\s"'”’)\]*_`]+/, '');
  const end = /[.!?。！？](?:\s|$)|\n\s*\n/.exec(rest);
  return end ? rest.slice(0, end.index + 1) : rest;
};

type Heading = { readonly at: number; readonly level: number; readonly isDenying: boolean };

/** What a source says about its sentences; computed once. */
type SourceFacts = {
  readonly headings: readonly Heading[];
  /** Where lines end. */
  readonly lineEnds: readonly number[];
  /** Whether the source calls itself untrue. */
  readonly deniesItself: boolean;
};

const knownFacts = new WeakMap<NormalText, SourceFacts>();

function getFacts(source: NormalText): SourceFacts {
  const known = knownFacts.get(source);
  if (known) return known;
  const text = source.original;
  const facts = {
    headings: findHeadings(text).filter(({ at }) => !isInQuotedPart(source, at + 1)),
    lineEnds: Array.from(text.matchAll(/\n/g), ({ index }) => index),
    deniesItself: deniesItself(text),
  };
  knownFacts.set(source, facts);
  return facts;
}

const isDenying = (line: string): boolean => strongDenial.test(line) || hasDenial(line) || collectingWords.test(line);

function findHeadings(text: string): readonly Heading[] {
  const headings: Heading[] = [];
  for (const match of text.matchAll(/^[ \t]{0,3}(#{1,6})[ \t](.*)$/gm))
    headings.push({ at: match.index, level: match[1]?.length ?? 1, isDenying: isDenying(match[2] ?? '') });
  for (const match of text.matchAll(/\n[ \t]{0,3}(=+|-{2,})[ \t]*(?=\n|$)/g)) {
    const at = text.lastIndexOf('\n', match.index - 1) + 1;
    const title = text.slice(at, match.index);
    const level = match[1]?.startsWith('=') ? 1 : 2;
    if (title.trim() !== '') headings.push({ at, level, isDenying: isDenying(title) });
  }
  for (const { at, level, text: title } of findTitles(text))
    if (level === 7) headings.push({ at, level, isDenying: isDenying(title) });
  return headings.toSorted((a, b) => a.at - b.at);
}

/** Whether the sentence or title before a place denies, supposes, reports, asks for or only introduces what follows. */
function isFramedBy(previous: string): boolean {
  if (strongDenial.test(previous) || isForeignDenial(previous) || isCollecting(previous)) return true;
  if (forwardWords.test(previous) && (isIndirect(previous) || waitingWords.test(previous))) return true;
  const line = previous.trim();
  if (taskStart.test(line) || /[:：]$/.test(line)) return true;
  // A text without a full stop that is no heading may continue with the statement.
  return !sentenceEnd.test(line) && !/(?:^|\n)[ \t]{0,3}#{1,6}[ \t][^\n]*$/.test(line) && fourWords.test(line);
}

/** A title has at most three words. */
const fourWords = /^\s*(?:\S+\s+){3}\S/;

/** Whether a line without a full stop introduces statements that the source only collects. A question for the right one does so too. */
function isCollecting(line: string): boolean {
  if (/[?？]\s*$/.test(line)) return /\b(?:which|true|correct|right|choose|select)\b/i.test(line);
  return (!fourWords.test(line) || !sentenceEnd.test(line)) && collectingWords.test(line);
}

/** Why the sentences beside a place do not let it stand; undefined if they do. */
function findContextProblem(text: string, start: number, after: string): string | undefined {
  const previous = lastSentence(withoutMark(text.slice(Math.max(0, start - contextChars), start)));
  if (isFramedBy(previous)) return 'the sentence before it denies, supposes or reports it';
  const next = firstSentence(after);
  if (strongDenial.test(next) || isForeignDenial(next) || reversal.test(next) || contraryStart.test(next))
    return 'the sentence after it denies or limits it';
  if (backwardStart.test(next) && hasDenial(next)) return 'the sentence after it denies or limits it';
  if (pointsBack.test(next) && (limitingWords.test(next) || isIndirect(next))) return 'the sentence after it limits it';
  if (isSteering(previous) || isSteering(next)) return 'the text around it tells a reader how to judge';
  return undefined;
}

/** Why a source does not assert what stands at a place; undefined if it does. The span is that of the sentence without its full stop. */
export function findAssertionProblem(source: NormalText, { start, end }: TextSpan): string | undefined {
  const text = source.original;
  if (!isSentenceStart(text, start) || !isSentenceEnd(text, end)) return 'it is only a part of a sentence';
  const facts = getFacts(source);
  if (facts.deniesItself) return 'the source calls what it contains untrue';
  if (isInQuotedPart(source, start)) return 'it is code, quoted, hidden or struck out in the source';
  const after = text.slice(end, end + contextChars);
  if (attribution.test(after)) return 'the source attributes it';
  const problem = findContextProblem(text, start, after);
  if (problem !== undefined) return problem;
  if (hasDenyingHeading(facts.headings, start) || hasDenyingIntroduction(text, start, facts))
    return 'its section is about what is not so';
  return undefined;
}

/** The text before a sentence without the mark of its list item. */
function withoutMark(before: string): string {
  const lineStart = before.lastIndexOf('\n') + 1;
  return listMark.test(before.slice(lineStart)) ? before.slice(0, lineStart) : before;
}

/** Where the line of a place starts. */
const findLineStart = ({ lineEnds }: SourceFacts, at: number): number =>
  (lineEnds[countBefore(lineEnds, at) - 1] ?? -1) + 1;

function countBefore(positions: readonly number[], end: number): number {
  let [low, high] = [0, positions.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((positions[middle] ?? 0) < end) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Whether a heading above a place denies or supposes what its section says. */
function hasDenyingHeading(headings: readonly Heading[], start: number): boolean {
  let level = 8;
  for (let index = headings.length - 1; index >= 0; index--) {
    const heading = headings[index];
    if (!heading || heading.at >= start || heading.level >= level) continue;
    if (heading.isDenying) return true;
    level = heading.level;
  }
  return false;
}

const maxListLines = 200;

/** Whether the line that introduces the list of a place denies or supposes what the list says. */
function hasDenyingIntroduction(text: string, start: number, facts: SourceFacts): boolean {
  let lineStart = findLineStart(facts, start);
  if (!/^[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]|^[ \t]{2,}/.test(text.slice(lineStart, start))) return false;
  for (let lines = 0; lines < maxListLines && lineStart > 0; lines++) {
    const lineEnd = lineStart - 1;
    lineStart = lineEnd === 0 ? 0 : text.lastIndexOf('\n', lineEnd - 1) + 1;
    const line = text.slice(lineStart, lineEnd);
    if (line.trim() !== '' && !/^[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]|^[ \t]{2,}/.test(line))
      return isDenying(line) || isIndirect(line);
  }
  return false;
}
