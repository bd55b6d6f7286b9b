// Escapes control, bidirectional and invisible characters, so that a text cannot hide anything from the reader.

/** Scripts whose spelling needs the joiners U+200C and U+200D. */
const joiningScripts =
  '\\p{M}\\p{Script=Arabic}\\p{Script=Syriac}\\p{Script=Mongolian}\\p{Script=Devanagari}\\p{Script=Bengali}\\p{Script=Gurmukhi}\\p{Script=Gujarati}\\p{Script=Oriya}\\p{Script=Tamil}\\p{Script=Telugu}\\p{Script=Kannada}\\p{Script=Malayalam}\\p{Script=Sinhala}\\p{Script=Khmer}\\p{Script=Myanmar}';

/** Kept as they are: the joiners of those scripts, and emoji sequences. */
const keptPattern = [
  `(?<=[${joiningScripts}])[\\u200c\\u200d](?=[${joiningScripts}])`,
  '(?<=[\\p{Extended_Pictographic}\\p{Emoji_Modifier}]\\ufe0f?)\\u200d(?=\\p{Extended_Pictographic})',
  '(?<=[\\p{Extended_Pictographic}#*0-9])\\ufe0f(?!\\ufe0f)',
].join('|');

/** Escaped: control and format characters (direction, zero width, tags), line and paragraph separators, lone surrogates, variation selectors and fillers. */
const invisiblePattern =
  '(?![\\t\\n])\\p{Cc}|\\p{Cf}|\\p{Cs}|\\p{Zl}|\\p{Zp}|[\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u2800\\u3164\\uffa0\\ufe00-\\ufe0f\\u{e0100}-\\u{e01ef}]|\\p{Noncharacter_Code_Point}';

/** Compiled on first use: it takes longer than most of the startup. */
let invisibleCharacters: RegExp | undefined;

/** Fast path: text without any such character. */
const plainText = /^[\t\n\x20-\x7e]*$/;

/** Escapes invisible characters: ESC as ␛, a direction override as <U+202E>. Line breaks and tabs stay. */
export function escapeInvisible(text: string): string {
  if (plainText.test(text)) return text;
  invisibleCharacters ??= new RegExp(`(${keptPattern}|\\r(?=\\n))|${invisiblePattern}`, 'gu');
  return text.replaceAll(invisibleCharacters, (letter, keep: string | undefined) => {
    if (keep === '\r') return '';
    return keep ?? escapedCharacter(letter);
  });
}

/** Escapes invisible characters, line breaks and tabs. */
export const escapeInvisibleLine = (text: string): string =>
  escapeInvisible(text.replaceAll('\r\n', '␍\n')).replaceAll('\n', '␊').replaceAll('\t', '␉');

function escapedCharacter(letter: string): string {
  const code = letter.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? '␡' : `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
}
