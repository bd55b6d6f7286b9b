// Spotlighting: marks each word of a text from outside, or encodes the text, so that a model does not take it for words of the user.

/** How text from outside is marked besides its tags: not at all, with a mark between its words, or encoded. */
export type Spotlight = 'delimiters' | 'datamarks' | 'base64';

/** Stands in place of each space. It is removed from the text, so that only spaces of the text become marks. */
const dataMark = '\u02c6';

/** The attributes of the opening tag, which say how the text is marked. */
export const spotlightAttributes: Readonly<Record<Spotlight, string>> = {
  delimiters: '',
  datamarks: ` spaces="${dataMark}"`,
  base64: ' encoding="base64"',
};

/** The sentence of a system prompt that says how to read the text. */
export const spotlightSentences: Readonly<Record<Spotlight, string>> = {
  delimiters: '',
  datamarks: ` In it, ${dataMark} stands for a space.`,
  base64: ' It is encoded in base64: decode it to read it.',
};

/** Marks or encodes a text. */
export function spotlightText(text: string, spotlight: Spotlight): string {
  if (spotlight === 'base64') return encodeBase64(text);
  if (spotlight === 'datamarks') return text.replaceAll(dataMark, '').replaceAll(' ', dataMark);
  return text;
}

function encodeBase64(text: string): string {
  let binary = '';
  for (const byte of new TextEncoder().encode(text)) binary += String.fromCharCode(byte);
  return btoa(binary);
}
