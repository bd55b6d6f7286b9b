// Finds the place of a text that differs from a wanted text in few words.
import type { TextSpan } from '../types.ts';
import type { NormalText } from './source-text.ts';

type Word = { readonly text: string; readonly start: number; readonly end: number };

const maxWords = 60;
const maxChecks = 2000;

const splitWords = (text: string): readonly Word[] =>
  Array.from(text.matchAll(/[\p{L}\p{N}]+(?:[.,'’-][\p{L}\p{N}]+)*/gu), (match) => ({
    text: match[0].toLowerCase(),
    start: match.index,
    end: match.index + match[0].length,
  }));

type IndexedWords = { readonly words: readonly Word[]; readonly places: ReadonlyMap<string, readonly number[]> };

const knownWords = new WeakMap<NormalText, IndexedWords>();

function indexWords(source: NormalText): IndexedWords {
  const known = knownWords.get(source);
  if (known) return known;
  const words = splitWords(source.text);
  const places = new Map<string, number[]>();
  for (const [index, { text: word }] of words.entries()) {
    const list = places.get(word);
    if (list) list.push(index);
    else places.set(word, [index]);
  }
  const indexed = { words, places };
  knownWords.set(source, indexed);
  return indexed;
}

/** Returns a function that finds the place of a normal text whose words are those of the wanted text but for at most one in five; undefined if there is none. */
export function createNearSearch(wanted: string): (source: NormalText) => TextSpan | undefined {
  const words = splitWords(wanted).slice(0, maxWords);
  return words.length < 3 ? () => undefined : (source) => findNearMatch(source, words);
}

function findNearMatch(source: NormalText, words: readonly Word[]): TextSpan | undefined {
  const { words: sourceWords, places } = indexWords(source);
  const maxDifferences = Math.max(1, Math.floor(words.length / 5));
  let checks = 0;
  // Of the first words, one more than may differ, at least one is at its place: each gives candidates.
  for (let offset = 0; offset <= maxDifferences && offset < words.length; offset++)
    for (const at of places.get(words[offset]?.text ?? '') ?? []) {
      if (++checks > maxChecks) return undefined;
      const start = at - offset;
      if (start < 0 || start + words.length > sourceWords.length) continue;
      let differences = 0;
      for (let index = 0; index < words.length && differences <= maxDifferences; index++)
        if (sourceWords[start + index]?.text !== words[index]?.text) differences += 1;
      if (differences <= maxDifferences)
        return { start: sourceWords[start]?.start ?? 0, end: sourceWords[start + words.length - 1]?.end ?? 0 };
    }
  return undefined;
}
