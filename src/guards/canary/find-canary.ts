// Finds the marker of a system prompt in the arguments of a call: as it stands, spaced, reversed, or encoded.
import { Buffer } from 'node:buffer';

/** How the marker was written. */
export type CanaryForm = 'plain' | 'reversed' | 'rot13' | 'hexadecimal' | 'base64';

const reverse = (text: string): string => Array.from(text).toReversed().join('');
const rot13 = (text: string): string =>
  text.replaceAll(/[a-z]/g, (letter) => String.fromCharCode(((letter.charCodeAt(0) - 97 + 13) % 26) + 97));
const toHex = (text: string): string => Buffer.from(text).toString('hex');

/** The characters of base64 that encode nothing but this text, for each of its three positions. */
const base64Forms = (text: string): readonly string[] =>
  [0, 1, 2].map((before) => {
    const encoded = Buffer.from(`${'x'.repeat(before)}${text}`)
      .toString('base64')
      .replaceAll('=', '');
    // The first and the last characters depend on what stands beside the text.
    return encoded.slice(before === 0 ? 0 : before + 1, (before + text.length) % 3 === 0 ? undefined : -1);
  });

/** Creates a search for a marker of lower-case letters. It is linear in the length of the text. */
export function createCanarySearch(canary: string): (text: string) => CanaryForm | undefined {
  const letters: readonly (readonly [CanaryForm, string])[] = [
    ['plain', canary],
    ['reversed', reverse(canary)],
    ['rot13', rot13(canary)],
    ['hexadecimal', toHex(canary)],
    ['hexadecimal', toHex(reverse(canary))],
  ];
  const encoded = [canary, reverse(canary), canary.toUpperCase()].flatMap(base64Forms);
  return (text) => {
    // Spaces, separators and percent signs between letters count as nothing.
    const plain = text
      .normalize('NFKC')
      .toLowerCase()
      .replaceAll(/[^a-z\d]/g, '');
    const found = letters.find(([, form]) => plain.includes(form))?.[0];
    if (found) return found;
    const packed = text.replaceAll(/[^\w+/]|\\[nrt]/g, '');
    return encoded.some((form) => packed.includes(form)) ? 'base64' : undefined;
  };
}
