// How many tokens something is likely to be, where no provider has counted them.
import type { Message } from './message.ts';

/** Tokens of a text: four characters each. */
export const estimate = (text: string): number => Math.ceil(text.length / 4);

/** Everything in a message that a model reads, as one text. */
export const wordsIn = (message: Message): string =>
  message.parts
    .map((part) =>
      part.type === 'tool-call' ? part.tool + JSON.stringify(part.input) : part.type === 'file' ? part.data : part.text,
    )
    .join('');
