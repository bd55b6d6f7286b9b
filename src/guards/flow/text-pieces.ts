// Cuts a long text where its parts can be normalized one by one: the normalized parts together are the normalized text.

/** How far before the end of a part a place between two words is searched. */
const maxWordChars = 1000;

/** Returns where a part of about `size` characters that begins at `from` ends. */
export function findCut(text: string, from: number, size: number): number {
  const target = from + size;
  if (target >= text.length) return text.length;
  for (let at = target; at > Math.max(from, target - maxWordChars); at--) if (isSpace(text.charCodeAt(at))) return at;
  for (let at = target; at > from; at--) if (canCut(text, at)) return at;
  for (let at = target + 1; at < text.length; at++) if (canCut(text, at)) return at;
  return text.length;
}

const isSpace = (code: number): boolean => code === 32 || (code >= 9 && code <= 13);

/** The letters `A` to `Z`, `a` to `z`, and characters by which the case of a letter before them depends on what follows. */
const isAsciiLetter = (code: number): boolean => (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
const caseIgnorable: ReadonlySet<number> = new Set(["'", '.', ':', '^', '`'].map((each) => each.charCodeAt(0)));

/** Characters without case that are never combined with the one before them: Hebrew, Arabic, Devanagari, Thai, kana, Chinese, Korean syllables, and pictures. */
const plainRanges: readonly (readonly [from: number, to: number])[] = [
  [0x05_d0, 0x05_ea],
  [0x06_21, 0x06_3a],
  [0x06_41, 0x06_4a],
  [0x09_04, 0x09_39],
  [0x0e_01, 0x0e_2e],
  [0x30_41, 0x30_96],
  [0x30_a1, 0x30_fa],
  [0x34_00, 0x4d_bf],
  [0x4e_00, 0x9f_ff],
  [0xac_00, 0xd7_a3],
  [0xd8_3d, 0xd8_3e],
];

/** Letters with case that are never combined with the one before them. The capital sigma is left out: its lower case depends on its neighbours. */
const casedRanges: readonly (readonly [from: number, to: number])[] = [
  [0x00_c0, 0x00_d6],
  [0x00_d8, 0x00_f6],
  [0x00_f8, 0x02_4f],
  [0x03_91, 0x03_a1],
  [0x03_a4, 0x03_c1],
  [0x03_c4, 0x03_ce],
  [0x04_00, 0x04_81],
  [0x04_8a, 0x05_2f],
];

const isIn = (ranges: typeof casedRanges, code: number): boolean =>
  ranges.some(([from, to]) => code >= from && code <= to);

const isCased = (code: number): boolean => (code < 128 ? isAsciiLetter(code) : isIn(casedRanges, code));

/** Whether what is before and after a place is normalized in the same way without each other. */
function canCut(text: string, at: number): boolean {
  const after = text.charCodeAt(at);
  if (after < 128 ? !isAsciiLetter(after) && !caseIgnorable.has(after) : isIn(plainRanges, after)) return true;
  const before = text.charCodeAt(at - 1);
  return isCased(after) && (isCased(before) || (caseIgnorable.has(before) && isCased(text.charCodeAt(at - 2))));
}
