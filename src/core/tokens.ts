// Estimates token counts when no provider has counted them.
import { textLength } from './lazy-text.ts';
import type { FilePart, Message, MessagePart } from './message.ts';

/** Estimates the tokens of a text: four characters per token. */
export const estimateTokens = (text: string): number => Math.ceil(text.length / 4);

/** Estimates the tokens of a lazily decoded text without decoding it. */
export const estimateTextTokens = (holder: { readonly text: string }): number => Math.ceil(textLength(holder) / 4);

/** Returns all text of a message that the model reads. */
export const modelText = (message: Message): string => message.parts.map(partModelText).join('');

function partModelText(part: MessagePart): string {
  if (part.type === 'tool-call') return part.tool + JSON.stringify(part.input);
  if (part.type === 'file') return isTextFile(part) ? part.data : '';
  return part.text;
}

const isTextFile = (part: FilePart): boolean => part.mediaType.startsWith('text/');

/** Estimated tokens of an image, independent of its size; other files cannot be estimated. */
const tokensPerFile = 1500;

/** Estimates the tokens of message parts. */
export function partTokens(parts: readonly MessagePart[]): number {
  let tokens = 0;
  for (const part of parts) {
    if (part.type === 'tool-result') tokens += estimateTextTokens(part) + partTokens(part.files ?? []);
    else tokens += part.type === 'file' && !isTextFile(part) ? tokensPerFile : estimateTokens(partModelText(part));
  }
  return tokens;
}

/** Estimates the tokens of messages. */
export const messageTokens = (messages: readonly Message[]): number =>
  messages.reduce((sum, message) => sum + partTokens(message.parts), 0);
