// Warns about deceptive text in a tool call: base64 that a command decodes, and homoglyphs. The approval question shows the warnings.
import { isObject, escapeInvisible, latinShapes, type ToolCall } from '../core/index.ts';

/** Returns warnings about a call, one line each; an empty list if there are none. */
export const deceptiveTextWarnings = (call: Pick<ToolCall, 'input'>): readonly string[] => [
  ...decodedTextWarnings(call),
  ...homoglyphWarnings(call),
];

const decoderPattern = /base64\s+(-d|-D|--decode)|openssl\s+(enc|base64)|xxd\s+-\w*r/;

/** Decodes base64 arguments of a command that decodes them, so that the user can read them. */
function decodedTextWarnings({ input }: Pick<ToolCall, 'input'>): readonly string[] {
  const { command } = isObject(input) ? input : {};
  if (typeof command !== 'string' || !decoderPattern.test(command)) return [];
  // A short word without padding is usually plain text.
  const words = command.match(/[A-Za-z0-9+/]{8,}={0,2}|[A-Za-z0-9+/]{2,}={1,2}/g) ?? [];
  return words.flatMap((word) => {
    const isHex = /^([0-9a-f]{2})+$/i.test(word) && command.includes('xxd');
    const text = Buffer.from(word, isHex ? 'hex' : 'base64').toString('utf8');
    return /^[\t\n\x20-\x7e]+$/.test(text) ? [`decoded: ${escapeInvisible(text)}`] : [];
  });
}

/** Alphabets with letters that look like Latin ones. */
const lookAlikeScripts = ['Cyrillic', 'Greek', 'Armenian', 'Cherokee', 'Coptic', 'Lisu', 'Deseret', 'Osage'];
const lookAlikeLetter = new RegExp(`[${lookAlikeScripts.map((name) => `\\p{Script=${name}}`).join('')}]`, 'gu');
/** Finds words with letters that look like Latin ones: mixed with Latin letters, made of such letters only, or full-width, mathematical and similar forms. */
function homoglyphWarnings({ input }: Pick<ToolCall, 'input'>): readonly string[] {
  // Names are short. The content of a file may use any alphabet.
  const texts = Object.values(isObject(input) ? input : {}).filter(
    (each) => typeof each === 'string' && each.length < 2000,
  );
  const words = texts.join(' ').match(/[\p{L}\p{N}_@/.-]+/gu) ?? [];
  const isText = words.some((word) => (word.match(lookAlikeLetter) ?? []).some((letter) => !latinShapes.has(letter)));
  return [...new Set(words)]
    .flatMap((word) => {
      const letters = findLookAlikes(word, isText);
      return letters.length > 0 ? [{ word, letters }] : [];
    })
    .slice(0, 5)
    .map(({ word, letters }) => {
      const codes = [...new Set(letters)].map(
        (letter) => `U+${letter.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`,
      );
      return `homoglyphs (letters that look like others): ${word} (${codes.slice(0, 8).join(', ')})`;
    });
}

/** Returns the letters of a word that look like Latin ones. In a text of another alphabet, only words that mix alphabets count. */
function findLookAlikes(word: string, isText: boolean): readonly string[] {
  const foreign = word.match(lookAlikeLetter) ?? [];
  const compatibility = Array.from(word).filter(
    (letter) => letter > '\u007f' && /^[\w.@/-]+$/.test(letter.normalize('NFKC')),
  );
  const isMixed = foreign.length > 0 && /\p{Script=Latin}/u.test(word);
  const isImitation = !isText && foreign.length > 1 && foreign.every((letter) => latinShapes.has(letter));
  return [...(isMixed || isImitation ? foreign : []), ...compatibility];
}
