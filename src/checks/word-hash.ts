// Hashes of words (FNV-1a), computed from the characters of a text without copies of its words.

/** The hash of no characters. */
export const hashStart = -2_128_831_035;

/** The hash of characters with one more. */
export const hashCode = (hash: number, code: number): number => Math.imul(hash ^ code, 16_777_619);

/** Returns the hash of a word. */
export function hashWord(word: string): number {
  let hash = hashStart;
  for (let at = 0; at < word.length; at++) hash = hashCode(hash, word.charCodeAt(at));
  return hash;
}

/** Whether a character is a letter or digit of ASCII; 1 if so. */
const isWordChar = new Uint8Array(128);
for (const char of 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789') isWordChar[char.charCodeAt(0)] = 1;

/** Calls back for the hash of each word of a text, in its case, until the callback returns false: a word is a run of letters and digits. Returns whether it never did. */
function everyHash(text: string, test: (hash: number) => boolean): boolean {
  let hash = hashStart;
  let isInWord = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 128 && isWordChar[code] === 1) {
      hash = hashCode(hash, code);
      isInWord = true;
    } else if (isInWord) {
      if (!test(hash)) return false;
      hash = hashStart;
      isInWord = false;
    }
  }
  return !isInWord || test(hash);
}

/** Returns the hashes of the words of a text. */
export function collectHashes(text: string): Set<number> {
  const hashes = new Set<number>();
  everyHash(text, (hash) => hashes.add(hash).size > 0);
  return hashes;
}

/** Whether the hashes of all words of a text are among others. */
export const hasOnlyHashes = (text: string, known: ReadonlySet<number>): boolean =>
  everyHash(text, (hash) => known.has(hash));
