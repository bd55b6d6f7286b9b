// Selects the passages of evidence that a claim may be decided by: parts of bounded size, ranked by shared words.
import type { Claim, Evidence } from '../types.ts';
import { contentWords } from '../words.ts';
import { findNumbers } from './quotation.ts';

/** A part of the text of a piece of evidence. */
export type Passage = {
  readonly evidence: Evidence;
  /** Where the part begins in the text of the evidence. */
  readonly start: number;
  readonly text: string;
};

const maxPassageLength = 1200;
/** Evidence beyond this number of characters is not read. */
const maxEvidenceLength = 8_000_000;

/** Returns a function that selects the best passages for a claim, best first. A passage that shares no word with the claim is not selected. */
export function createPassageSelector(
  evidence: readonly Evidence[],
): (claim: Pick<Claim, 'text'>, limit: number) => readonly Passage[] {
  const passages: Passage[] = [];
  const byTerm = new Map<string, number[]>();
  let length = 0;
  for (const each of evidence) {
    length += each.text.length;
    if (length > maxEvidenceLength) break;
    for (const passage of splitPassages(each)) {
      for (const term of findTerms(passage.text)) {
        const list = byTerm.get(term);
        if (list) list.push(passages.length);
        else byTerm.set(term, [passages.length]);
      }
      passages.push(passage);
    }
  }
  return (claim, limit) => {
    const scores = new Map<number, number>();
    for (const term of findTerms(claim.text)) {
      const found = byTerm.get(term) ?? [];
      const weight = Math.log(1 + passages.length / (found.length + 0.5));
      for (const index of found) scores.set(index, (scores.get(index) ?? 0) + weight);
    }
    return [...scores]
      .toSorted(([a, x], [b, y]) => y - x || a - b)
      .slice(0, limit)
      .flatMap(([index]) => passages[index] ?? []);
  };
}

/** Splits the text of evidence into passages at the ends of lines, or of sentences in long lines. */
export function splitPassages(evidence: Evidence): readonly Passage[] {
  const { text } = evidence;
  if (text.length <= maxPassageLength) return text.trim() === '' ? [] : [{ evidence, start: 0, text }];
  const passages: Passage[] = [];
  let start = 0;
  while (start < text.length) {
    const end = findCut(text, start);
    const part = text.slice(start, end);
    if (part.trim() !== '') passages.push({ evidence, start, text: part });
    if (end >= text.length) break;
    // Passages overlap by their last lines, so that a statement at a cut is complete in one of them.
    start = Math.max(start + 1, findOverlap(text, start, end));
  }
  return passages;
}

function findCut(text: string, start: number): number {
  const max = start + maxPassageLength;
  if (max >= text.length) return text.length;
  for (const mark of ['\n', '. ', '。', ' ']) {
    const at = text.lastIndexOf(mark, max - mark.length);
    if (at > start + maxPassageLength / 2) return at + mark.length;
  }
  return max;
}

const maxOverlap = 300;

function findOverlap(text: string, start: number, end: number): number {
  const from = Math.max(start, end - maxOverlap);
  for (const mark of ['\n', '. ', '。', ' ']) {
    const at = text.indexOf(mark, from);
    if (at >= 0 && at + mark.length < end) return at + mark.length;
  }
  return end;
}

/** The words by which a text is found: content words, numbers, words of other scripts, and pairs of characters of scripts without spaces. */
export function findTerms(text: string): ReadonlySet<string> {
  const terms = new Set([...contentWords(text), ...findNumbers(text)]);
  if (/^\p{ASCII}*$/u.test(text)) return terms;
  for (const [word] of text.toLowerCase().matchAll(/[\p{L}\p{M}]{2,40}/gu)) {
    if (/^[a-z]+$/.test(word)) continue;
    if (/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u.test(word))
      for (let at = 0; at + 1 < word.length; at++) terms.add(word.slice(at, at + 2));
    else terms.add(word);
  }
  return terms;
}
