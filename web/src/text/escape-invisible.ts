// Escapes and marks characters that are invisible or change the text direction.

/** A piece of text, or one escaped invisible character with its name. */
export type EscapedPiece = { readonly text: string; readonly name?: string };

/** Scripts that use zero-width joiners in ordinary spelling. */
const joinerScripts =
  '\\p{M}\\p{Script=Arabic}\\p{Script=Syriac}\\p{Script=Mongolian}\\p{Script=Devanagari}\\p{Script=Bengali}\\p{Script=Gurmukhi}\\p{Script=Gujarati}\\p{Script=Oriya}\\p{Script=Tamil}\\p{Script=Telugu}\\p{Script=Kannada}\\p{Script=Malayalam}\\p{Script=Sinhala}\\p{Script=Khmer}\\p{Script=Myanmar}';

/** Joiners between letters of these scripts and in emoji sequences are part of the text. */
const visibleJoinerPattern = [
  `(?<=[${joinerScripts}])[\\u200c\\u200d](?=[${joinerScripts}])`,
  '(?<=[\\p{Extended_Pictographic}\\p{Emoji_Modifier}]\\ufe0f?)\\u200d(?=\\p{Extended_Pictographic})',
  '(?<=[\\p{Extended_Pictographic}#*0-9])\\ufe0f(?!\\ufe0f)',
].join('|');

/** Controls, formats (direction, zero width, tags), separators, lone surrogates, selectors, fillers and noncharacters. Must match what escapeInvisible of the core escapes; a test compares them. */
const invisiblePattern = new RegExp(
  [
    `(${visibleJoinerPattern})`,
    '(?![\\t\\n])\\p{Cc}|\\p{Cf}|\\p{Cs}|\\p{Zl}|\\p{Zp}|\\p{Noncharacter_Code_Point}',
    '[\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u2800\\u3164\\uffa0\\ufe00-\\ufe0f\\u{e0100}-\\u{e01ef}]',
  ].join('|'),
  'gu',
);

const characterNames: Readonly<Record<number, string>> = {
  0x00: 'null',
  0x07: 'bell',
  0x08: 'backspace',
  0x0d: 'carriage return',
  0x1b: 'escape',
  0x7f: 'delete',
  0xad: 'soft hyphen',
  0x200b: 'zero width space',
  0x200c: 'zero width non-joiner',
  0x200d: 'zero width joiner',
  0x200e: 'left-to-right mark',
  0x200f: 'right-to-left mark',
  0x202a: 'left-to-right embedding',
  0x202b: 'right-to-left embedding',
  0x202c: 'end of a direction',
  0x202d: 'left-to-right override',
  0x202e: 'right-to-left override',
  0x2066: 'left-to-right isolate',
  0x2067: 'right-to-left isolate',
  0x2068: 'isolate',
  0x2069: 'end of an isolate',
  0xfeff: 'zero width no-break space',
};

/** Common names of characters. */
const characterAbbreviations: Readonly<Record<number, string>> = {
  0x00: 'NUL',
  0x07: 'BEL',
  0x08: 'BS',
  0x0d: 'CR',
  0x1b: 'ESC',
  0x7f: 'DEL',
};

/** Splits a text into pieces, in order and without loss. */
export function splitInvisible(text: string): readonly EscapedPiece[] {
  const pieces: EscapedPiece[] = [];
  let at = 0;
  for (const found of text.matchAll(invisiblePattern)) {
    if (found[1] !== undefined) continue;
    if (found.index > at) pieces.push({ text: text.slice(at, found.index) });
    pieces.push(escapeCharacter(found[0]));
    at = found.index + found[0].length;
  }
  if (at < text.length) pieces.push({ text: text.slice(at) });
  return pieces;
}

function escapeCharacter(letter: string): EscapedPiece {
  const code = letter.codePointAt(0) ?? 0;
  const place = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
  const name = characterNames[code] ?? 'invisible character';
  return { text: characterAbbreviations[code] ?? `<${place}>`, name: `${name} (${place})` };
}
