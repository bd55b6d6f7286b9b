// Splits a text into the chunks of a stream, never inside a character.

const longTextChars = 4000;
const longTextPieceChars = 1000;

/** Returns the chunks of a text: the given ones, a number of about equal length, or one per word (per thousand characters for a long text). */
export function splitText(text: string, how?: number | readonly string[]): readonly string[] {
  if (text === '') return [];
  if (typeof how === 'object') return how;
  if (how !== undefined) return splitBySize(text, Math.ceil(text.length / Math.max(1, how)));
  return text.length > longTextChars
    ? splitBySize(text, longTextPieceChars)
    : (text.match(/\s*\S+\s*$|\s*\S+|\s+/g) ?? [text]);
}

/** Splits the text of a call's arguments. */
export const splitToolArguments = (raw: string): readonly string[] =>
  raw === '' ? [''] : splitBySize(raw, Math.max(8, Math.ceil(raw.length / 16)));

function splitBySize(text: string, size: number): readonly string[] {
  const found: string[] = [];
  for (let at = 0; at < text.length;) {
    let end = Math.min(text.length, at + size);
    const code = text.charCodeAt(end - 1);
    if (code >= 0xd800 && code < 0xdc00 && end < text.length) end++;
    found.push(text.slice(at, end));
    at = end;
  }
  return found;
}
