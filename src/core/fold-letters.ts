// Folds characters to the Latin letters that they look like, so that a word is found whatever alphabet it is written in.

/** Letters of other alphabets and digits, by the Latin letter that they look like. */
const lookAlikes: Readonly<Record<string, string>> = {
  d: 'ԁᴅɗđ',
  e: 'еєεᴇҽ3ɛ',
  i: 'іιıɪ1ӏ',
  m: 'мᴍϻ',
  n: 'пոɴηռ',
  o: 'оοօᴏ0о',
  r: 'гʀɾᴦ',
  s: 'ѕꜱ5ʂ',
  t: 'тτᴛ7',
  u: 'υսᴜц',
  x: 'хχ',
  y: 'уүʏγ',
};

const folded = new Map<string, string>(
  Object.entries(lookAlikes).flatMap(([letter, others]) => Array.from(others, (other) => [other, letter] as const)),
);

/** The folded letter of each ASCII character; empty for other characters. */
const asciiLetters: readonly string[] = Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCodePoint(code).toLowerCase();
  return /[a-z]/.test(character) ? character : (folded.get(character) ?? '');
});

const maxCachedCharacters = 10_000;

/** Returns the Latin letter that the character at a position looks like, in lower case; empty for marks, separators and the second half of a pair. Another letter is returned as it is. */
export function foldLetter(text: string, at: number): string {
  const code = text.charCodeAt(at);
  if (code < 128) return asciiLetters[code] ?? '';
  if (code >= 0xdc00 && code <= 0xdfff) return '';
  const character = String.fromCodePoint(text.codePointAt(at) ?? 0);
  const known = folded.get(character);
  if (known !== undefined) return known;
  const letter = foldCharacter(character);
  if (folded.size < maxCachedCharacters) folded.set(character, letter);
  return letter;
}

function foldCharacter(character: string): string {
  const plain = character
    .normalize('NFKD')
    .replaceAll(/[^\p{L}\p{N}]/gu, '')
    .toLowerCase();
  const first = String.fromCodePoint(plain.codePointAt(0) ?? 0);
  return plain === '' ? '' : (folded.get(first) ?? first);
}
