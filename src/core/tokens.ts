// How many tokens something is likely to be, where no provider has counted them.
import { textLength } from './lazy-text.ts';
import type { FilePart, Message, MessagePart } from './message.ts';

/** Tokens of a text: four characters each. */
export const estimateTokens = (text: string): number => Math.ceil(text.length / 4);

/** Tokens of a text that need not be read for it. */
export const estimateTextTokens = (holder: { readonly text: string }): number => Math.ceil(textLength(holder) / 4);

/** Everything in a message that a model reads as words, as one text. */
export const modelText = (message: Message): string => message.parts.map(partModelText).join('');

function partModelText(part: MessagePart): string {
  if (part.type === 'tool-call') return part.tool + JSON.stringify(part.input);
  if (part.type === 'file') return isTextFile(part) ? part.data : '';
  return part.text;
}

const isTextFile = (part: FilePart): boolean => part.mediaType.startsWith('text/');

/** A picture costs about this much whatever its bytes; of other files nobody knows before the model has read them. */
const tokensPerFile = 1500;

/** Tokens of these parts. */
export function partTokens(parts: readonly MessagePart[]): number {
  let tokens = 0;
  for (const part of parts) {
    if (part.type === 'tool-result') tokens += estimateTextTokens(part) + partTokens(part.files ?? []);
    else tokens += part.type === 'file' && !isTextFile(part) ? tokensPerFile : estimateTokens(partModelText(part));
  }
  return tokens;
}

/** Tokens of these messages. */
export const messageTokens = (messages: readonly Message[]): number =>
  messages.reduce((sum, message) => sum + partTokens(message.parts), 0);
