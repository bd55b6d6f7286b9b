// Turns a query of a user into words. A query is data: no character of it is an operator of the search.
import { findUnspacedWords, isUnspaced } from './unspaced-words.ts';

/** Words without content; a query that has only such words is used whole. */
const stopWords: ReadonlySet<string> = new Set(
  (
    'a about after all also am an and any are as at be because been before being both but by can could did do does doing for from had has have ' +
    'having he her here hers him his how i if in into is it its itself just me more most my no nor not of off on once only or other our ours ' +
    'over own same she should so some such than that the their theirs them then there these they this those through to too under until up us ' +
    'very was we were what when where which while who whom whose why will with would you your yours'
  ).split(' '),
);

/** Max characters of a query that are read, and max words that are searched. */
export const maxQueryChars = 10_000;
const maxQueryWords = 64;
const maxWordChars = 100;

/** Returns the words to search for: letters and digits in lower case, each once, without stop words. Text in a script without spaces is split into its words. */
export function parseQueryWords(query: string): readonly string[] {
  const words = new Set<string>();
  for (const [word] of query
    .slice(0, maxQueryChars)
    .toLowerCase()
    .matchAll(/[\p{L}\p{N}\p{M}]+/gu)) {
    if (isUnspaced(word)) {
      for (const part of findUnspacedWords(word)) words.add(part);
    } else words.add(word.slice(0, maxWordChars));
    if (words.size >= maxQueryWords * 4) break;
  }
  const content = [...words].filter((word) => !stopWords.has(word));
  return (content.length > 0 ? content : [...words]).slice(0, maxQueryWords);
}
