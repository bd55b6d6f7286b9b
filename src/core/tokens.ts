// How many tokens something is likely to be, where no provider has counted them.
import { textLength } from './kept-text.ts';
import type { FilePart, Message, Part } from './message.ts';

/** Tokens of a text: four characters each. */
export const estimate = (text: string): number => Math.ceil(text.length / 4);

/** Tokens of a text that need not be read for it. */
export const estimateOf = (holder: { readonly text: string }): number => Math.ceil(textLength(holder) / 4);

/** Everything in a message that a model reads as words, as one text. */
export const wordsIn = (message: Message): string => message.parts.map(wordsOfPart).join('');

function wordsOfPart(part: Part): string {
  if (part.type === 'tool-call') return part.tool + JSON.stringify(part.input);
  if (part.type === 'file') return isText(part) ? part.data : '';
  return part.text;
}

const isText = (part: FilePart): boolean => part.mediaType.startsWith('text/');

/** A picture costs about this much whatever its bytes; of other files nobody knows before the model has read them. */
const tokensOfFile = 1500;

/** Tokens of these parts. */
export function tokensIn(parts: readonly Part[]): number {
  let tokens = 0;
  for (const part of parts) {
    if (part.type === 'tool-result') tokens += estimateOf(part) + tokensIn(part.files ?? []);
    else tokens += part.type === 'file' && !isText(part) ? tokensOfFile : estimate(wordsOfPart(part));
  }
  return tokens;
}

/** Tokens of these messages. */
export const tokensOf = (messages: readonly Message[]): number =>
  messages.reduce((sum, message) => sum + tokensIn(message.parts), 0);
