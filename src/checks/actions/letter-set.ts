// The set of the class letters of a sentence, which answers faster than a search in its text of letters.

/** A set of ASCII characters: one bit for each sign, each capital letter and each small letter. */
export type LetterSet = { readonly signs: number; readonly capitals: number; readonly smalls: number };

const rows = new Int32Array(4);

/** Creates the set of the first characters of a list of codes. */
export function createLetterSet(codes: ArrayLike<number>, count: number): LetterSet {
  rows.fill(0);
  for (let i = 0; i < count; i++) {
    const code = codes[i] ?? 0;
    rows[code >> 5] = (rows[code >> 5] ?? 0) | (1 << (code & 31));
  }
  return { signs: rows[1] ?? 0, capitals: rows[2] ?? 0, smalls: rows[3] ?? 0 };
}

/** Creates the set of the characters of a text. */
export const lettersOf = (text: string): LetterSet =>
  createLetterSet(
    Array.from(text, (letter) => letter.charCodeAt(0)),
    text.length,
  );

/** Whether two sets have a letter in common. */
export const shareLetter = (a: LetterSet, b: LetterSet): boolean =>
  ((a.signs & b.signs) | (a.capitals & b.capitals) | (a.smalls & b.smalls)) !== 0;
