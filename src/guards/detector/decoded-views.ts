// Decodes hidden text for the injection detector: base64, hexadecimal, percent encoding, spaced letters, digits as letters, and rot13. Each pattern takes linear time.

const minEncodedChars = 12;
const minPercentCodes = 5;
const minSpacedLetters = 6;
const minDigitWords = 4;
const minRotatedWords = 3;

/** Encodings that change the whole text are looked for in parts of this length: their signs are close together, and a long text always has some. */
const partChars = 10_000;
const partStride = 9000;

/** Returns the texts that a text encodes, as far as there are signs of an encoding. */
export function decodeViews(text: string): readonly string[] {
  const views = [...decodeRuns(text, base64Runs, decodeBase64), ...decodeRuns(text, hexRuns, decodeHex)];
  for (let at = 0; at === 0 || at + partChars - partStride < text.length; at += partStride)
    views.push(...decodePart(text.slice(at, at + partChars)));
  return views;
}

function decodePart(part: string): readonly string[] {
  const views: string[] = [];
  if (countMatches(part, percentCodes, minPercentCodes) >= minPercentCodes)
    views.push(part.replaceAll(percentCodes, (code) => String.fromCodePoint(Number.parseInt(code.slice(1), 16))));
  if (spacedLetters.test(part)) views.push(joinSpacedLetters(part));
  const lower = part.toLowerCase();
  if (hasDigitWords(lower)) views.push(lower.replaceAll(/[013457@$]/g, (sign) => digitLetters[sign] ?? sign));
  if (countMatches(lower, rotatedWords, minRotatedWords) >= minRotatedWords) views.push(rotateLetters(part));
  return views;
}

const base64Runs = /[A-Za-z0-9+/]{24,}/g;
const hexRuns = /[0-9a-fA-F]{32,}/g;
const percentCodes = /%[0-9a-fA-F]{2}/g;
/** Words of rot13 that stand for frequent English words. */
const rotatedWords = /\b(?:gur|naq|lbh|lbhe|guvf|cyrnfr|nyy|vafgehpgvbaf|bs|gb|sbe|jvgu)\b/g;
const spacedLetters = new RegExp(`(?:\\b[A-Za-z] ){${minSpacedLetters - 1}}[A-Za-z]\\b`);
/** Digits and signs that stand for letters. */
const digitLetters: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '@': 'a',
  $: 's',
};

/** Counts matches, up to a number that is enough. */
function countMatches(text: string, pattern: RegExp, enough: number): number {
  let count = 0;
  for (const _ of text.matchAll(pattern)) if (++count >= enough) break;
  return count;
}

const decodeRuns = (text: string, runs: RegExp, decode: (run: string) => string): readonly string[] =>
  (text.match(runs) ?? []).map(decode).filter(isReadable);

/** A last group of one character encodes nothing. */
const decodeBase64 = (run: string): string =>
  Buffer.from(run.length % 4 === 1 ? run.slice(0, -1) : run, 'base64').toString('latin1');

const decodeHex = (run: string): string => Buffer.from(run, 'hex').toString('latin1');

/** Whether a decoded text is mostly printable and has a space. */
function isReadable(text: string): boolean {
  if (text.length < minEncodedChars || !text.includes(' ')) return false;
  let printable = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if ((code >= 32 && code < 127) || code === 10) printable += 1;
  }
  return printable >= 0.9 * text.length;
}

/** Joins letters with one space between them; more spaces separate words. */
const joinSpacedLetters = (text: string): string =>
  text.replaceAll(/ {2,}/g, '\n').replaceAll(/(?:\b[A-Za-z] )+[A-Za-z]\b/g, (letters) => letters.replaceAll(' ', ''));

const letterKind = 1;
const signKind = 2;
/** The kind of each character: a letter, a digit or sign that stands for one, or neither. */
const kinds = new Uint8Array(128);
kinds.fill(letterKind, 0x61, 0x7b);
for (const sign of Object.keys(digitLetters)) kinds[sign.charCodeAt(0)] = signKind;

/** Whether enough words have digits or signs between letters, or before two letters. Each character is read at most three times. */
function hasDigitWords(lower: string): boolean {
  let count = 0;
  for (let at = 0; at < lower.length && count < minDigitWords;) {
    const kind = kindAt(lower, at);
    if (kind === 0) {
      at += 1;
      continue;
    }
    const end = endOfRun(lower, at, kind);
    if (kind === letterKind) {
      const afterSigns = endOfRun(lower, end, signKind);
      const isFound = afterSigns > end && kindAt(lower, afterSigns) === letterKind;
      if (isFound) count += 1;
      at = isFound ? endOfRun(lower, afterSigns, letterKind) : end;
    } else {
      const afterLetters = endOfRun(lower, end, letterKind);
      const isFound = afterLetters - end >= 2 && hasWordBoundary(lower, at, end);
      if (isFound) count += 1;
      at = isFound ? afterLetters : end;
    }
  }
  return count >= minDigitWords;
}

const kindAt = (text: string, at: number): number => kinds[text.charCodeAt(at)] ?? 0;

function endOfRun(text: string, from: number, kind: number): number {
  let at = from;
  while (kindAt(text, at) === kind) at += 1;
  return at;
}

/** Whether a word begins or ends at a character of a part of the text. */
function hasWordBoundary(text: string, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (isWordCharacter(text, at - 1) !== isWordCharacter(text, at)) return true;
  return false;
}

const isWordCharacter = (text: string, at: number): boolean => /\w/.test(text.charAt(at));

const rotateLetters = (text: string): string =>
  text.replaceAll(/[a-zA-Z]/g, (letter) => {
    const code = letter.charCodeAt(0);
    const first = code < 97 ? 65 : 97;
    return String.fromCodePoint(((code - first + 13) % 26) + first);
  });
