// Finds the words of scripts that do not put spaces between them (Chinese, Japanese, Thai, Lao, Khmer, Burmese) with the dictionaries of the runtime.

/** Thai, Lao, Burmese, Khmer, kana and Han characters. */
const unspaced =
  /[\u0E00-\u0EFF\u1000-\u109F\u1780-\u17FF\u3005-\u3007\u3040-\u30FF\u3400-\u9FFF\uF900-\uFAFF\uD840-\uD888]/;

/** Max characters of a text whose words are found. */
const maxChars = 100_000;

let segmenter: Intl.Segmenter | undefined;

/** Whether a text has characters of a script without spaces. */
export const isUnspaced = (text: string): boolean => unspaced.test(text);

/** Returns the words of the parts between spaces that have characters of such a script, in order; empty for most texts. */
export function findUnspacedWords(text: string): readonly string[] {
  if (!isUnspaced(text)) return [];
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'word' });
  const words: string[] = [];
  let chars = 0;
  for (const [run] of text.matchAll(/[\p{L}\p{N}\p{M}]+/gu)) {
    if (!isUnspaced(run)) continue;
    chars += run.length;
    if (chars > maxChars) break;
    for (const { segment, isWordLike } of segmenter.segment(run)) if (isWordLike) words.push(segment);
  }
  return words;
}
