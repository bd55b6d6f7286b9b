// Text with white space and typographic quotation marks normalised, and the way back to the places in the original.
import type { Evidence, TextSpan } from '../types.ts';

/** A text in which a run of white space is one space and quotation marks are those of ASCII; nothing else is changed. */
export type NormalText = {
  readonly original: string;
  readonly text: string;
  /** Where characters were removed: the offset after it in `text`, and how many were removed up to there. */
  readonly removals: readonly { readonly at: number; readonly removed: number }[];
};

const otherSpace = /[^\S ]/g;
const longSpace = / {2,}/g;
const doubleQuotes = /[“”„‟«»]/g;
const singleQuotes = /[‘’‚‛]/g;

/** What is changed; most statements have nothing of it. */
const changed = /[^\S ]| \s|[“”„‟«»‘’‚‛]/;

/** Normalises white space and quotation marks. */
export function normalizeText(original: string): NormalText {
  if (!changed.test(original)) return { original, text: original, removals: [] };
  const removals: { at: number; removed: number }[] = [];
  let removed = 0;
  const spaced = original.replaceAll(otherSpace, ' ').replaceAll(longSpace, (space: string, at: number) => {
    const end = at - removed + 1;
    removed += space.length - 1;
    removals.push({ at: end, removed });
    return ' ';
  });
  return { original, text: spaced.replaceAll(doubleQuotes, '"').replaceAll(singleQuotes, "'"), removals };
}

/** Returns the offset in the original of an offset in the normal text. */
export function toOriginalOffset({ removals }: NormalText, at: number): number {
  let [low, high] = [0, removals.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((removals[middle]?.at ?? 0) <= at) low = middle + 1;
    else high = middle;
  }
  return at + (removals[low - 1]?.removed ?? 0);
}

/** Returns the span in the original of a span in the normal text. */
export const toOriginalSpan = (normal: NormalText, start: number, end: number): TextSpan => ({
  start: toOriginalOffset(normal, start),
  end: toOriginalOffset(normal, end - 1) + 1,
});

const normalTexts = new WeakMap<Evidence, NormalText>();

/** The normal text of evidence; computed once. */
export function normalEvidence(evidence: Evidence): NormalText {
  const known = normalTexts.get(evidence);
  if (known) return known;
  // The whole text, also outside the span: what stands around a sentence says whether it is asserted.
  const normal = normalizeText(evidence.text);
  normalTexts.set(evidence, normal);
  return normal;
}

const joinedTexts = new WeakMap<readonly Evidence[], string>();

/** Whether a normal text is in the normal text of some evidence. All texts are searched at once: most statements are in none. */
export function isInEvidence(evidence: readonly Evidence[], wanted: string): boolean {
  let joined = joinedTexts.get(evidence);
  if (joined === undefined) {
    // A normal text has no line end.
    joined = evidence.map((each) => normalEvidence(each).text).join('\n');
    joinedTexts.set(evidence, joined);
  }
  return joined.includes(wanted);
}

/** Max occurrences of a text that are looked at. */
const maxOccurrences = 20;

/** Finds the places of a normal text in the normal text of evidence. */
export function* findOccurrences(text: string, wanted: string): Generator<number> {
  if (wanted === '') return;
  let count = 0;
  for (let at = text.indexOf(wanted); at >= 0 && count < maxOccurrences; at = text.indexOf(wanted, at + 1), count++)
    yield at;
}

const lowerTexts = new WeakMap<Evidence, string>();

/** The path and the text of evidence in lower case; computed once. */
export function lowerEvidence(evidence: Evidence): string {
  const known = lowerTexts.get(evidence);
  if (known !== undefined) return known;
  const { source, text } = evidence;
  const lower = `${source.type === 'document' ? source.path : ''}\n${text}`.toLowerCase();
  lowerTexts.set(evidence, lower);
  return lower;
}
