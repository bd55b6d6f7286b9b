// Text with white space and typographic quotation marks normalised, and the way back to the places in the original.
import type { Evidence, TextSpan } from '../types.ts';
import { collectHashes, hasOnlyHashes } from '../word-hash.ts';

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

/** One object for equal texts, with what was computed from the text. */
type TextFacts = { readonly text: string; readonly values: unknown[] };

const factsOfEvidence = new WeakMap<Evidence, TextFacts>();
/** The last texts, so that the next verification of a session reads only new results. */
const lastFacts = new Map<string, TextFacts>();
const maxLastChars = 1_000_000;
let lastChars = 0;

/** Returns what is known of the text of evidence. The whole text, also outside the span: what stands around a sentence says whether it is asserted. */
function factsOf(evidence: Evidence): TextFacts {
  const known = factsOfEvidence.get(evidence);
  if (known) return known;
  const { text } = evidence;
  let facts = lastFacts.get(text);
  if (!facts) {
    facts = { text, values: [] };
    if (text.length <= maxLastChars) keepFacts(facts);
  }
  factsOfEvidence.set(evidence, facts);
  return facts;
}

function keepFacts(facts: TextFacts): void {
  lastChars += facts.text.length;
  lastFacts.set(facts.text, facts);
  if (lastChars <= maxLastChars) return;
  for (const oldest of lastFacts.keys()) {
    lastFacts.delete(oldest);
    lastChars -= oldest.length;
    if (lastChars <= maxLastChars / 2) return;
  }
}

let slots = 0;

/** Returns a function that computes something of the text of evidence once, also for other evidence with an equal text. */
export function oncePerText<T>(compute: (text: string) => T): (evidence: Evidence) => T {
  const slot = slots++;
  return (evidence) => {
    const { text, values } = factsOf(evidence);
    const known = values[slot] as { readonly value: T } | undefined;
    if (known) return known.value;
    const value = compute(text);
    values[slot] = { value };
    return value;
  };
}

/** Returns a function that computes something of a list of evidence once. */
export function oncePerList<T>(compute: (evidence: readonly Evidence[]) => T): (evidence: readonly Evidence[]) => T {
  const known = new WeakMap<readonly Evidence[], { readonly value: T }>();
  return (evidence) => {
    let found = known.get(evidence);
    if (!found) known.set(evidence, (found = { value: compute(evidence) }));
    return found.value;
  };
}

/** The normal text of evidence; computed once. */
export const normalEvidence: (evidence: Evidence) => NormalText = oncePerText(normalizeText);

const hashesOf = oncePerText(collectHashes);

/** The words of a list, from its second use on: a list of search results is used once. */
const wordsOfList = oncePerList((evidence) => {
  let questions = 0;
  let words: Set<number> | undefined;
  return (): ReadonlySet<number> | undefined => {
    questions += 1;
    if (questions < 2 || words) return words;
    words = new Set();
    for (const each of evidence) for (const hash of hashesOf(each)) words.add(hash);
    return words;
  };
});

/** Whether a normal text is in the normal text of some evidence. Most statements have a word that is in none. */
export function isInEvidence(evidence: readonly Evidence[], wanted: string): boolean {
  const words = wordsOfList(evidence)();
  if (words && !hasOnlyHashes(wanted, words)) return false;
  return evidence.some((each) => hasOnlyHashes(wanted, hashesOf(each)) && normalEvidence(each).text.includes(wanted));
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

const lowerText = oncePerText((text) => text.toLowerCase());

/** Whether the path or the text of evidence has a word, which is in lower case. */
export const hasLowerWord = (evidence: Evidence, word: string): boolean =>
  lowerText(evidence).includes(word) ||
  (evidence.source.type === 'document' && evidence.source.path.toLowerCase().includes(word));

const joinLower = oncePerList((evidence) =>
  evidence
    .map((each) => `${each.source.type === 'document' ? each.source.path.toLowerCase() : ''}\n${lowerText(each)}`)
    .join('\n'),
);

/** Whether the path or the text of some evidence has a word, which is in lower case. */
export const isLowerWordInEvidence = (evidence: readonly Evidence[], word: string): boolean =>
  joinLower(evidence).includes(word);
