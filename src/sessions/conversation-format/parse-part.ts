// Parses one part of an edited message from its heading and text.
import { isJson, type Json, type Message, type MessagePart } from '../../core/index.ts';
import type { ConversationBlock, ConversationMistake } from './blocks.ts';
import { describeFilePart } from './format-conversation.ts';

/** Parses the part in a block; returns the part or an error. `before` holds the files that can be referenced. */
export function parsePart(block: ConversationBlock, before: readonly Message[]): MessagePart | ConversationMistake {
  const [kind = '', ...words] = block.heading;
  switch (kind) {
    case 'text':
    case 'reasoning': {
      if (!isFlags(words, ['json'])) return mistakeAt(block, `"%% ${kind}" takes no further words.`);
      const text = parseTextBody(block, words.includes('json'));
      return typeof text === 'string' ? { type: kind, text } : text;
    }
    case 'result':
      return parseResultPart(block, words, before);
    case 'call':
      return parseCallPart(block, words);
    case 'file':
      return parseFilePart(block, words, before);
    default:
      return mistakeAt(
        block,
        `"%% ${kind}" begins no kind of part: text, reasoning, call, result or file do. Put a backslash before it if it belongs to the text.`,
      );
  }
}

/** Parses raw call arguments that were not JSON, which have their own heading after the call. */
export function parseInvalidInput(block: ConversationBlock): string | ConversationMistake {
  return parseTextBody(block, block.heading.includes('json'));
}

const mistakeAt = ({ line }: ConversationBlock, message: string): ConversationMistake => ({ line, message });

const isFlags = (words: readonly string[], flags: readonly string[]): boolean =>
  words.every((word, i) => flags.includes(word) && words.indexOf(word) === i);

function parseResultPart(
  block: ConversationBlock,
  [id, tool, ...flags]: readonly string[],
  before: readonly Message[],
): MessagePart | ConversationMistake {
  if (id === undefined || tool === undefined || !isFlags(flags, ['failed', 'json']))
    return mistakeAt(block, 'A result is headed "%% result <call id> <tool>", and "failed" after them if it failed.');
  const text = parseTextBody(block, flags.includes('json'));
  if (typeof text !== 'string') return text;
  // Images and the mark of a result are not editable and stay with it.
  const original = before.flatMap(({ parts }) => parts).find((part) => part.type === 'tool-result' && part.id === id);
  const { nonce, spotlight, files } = original?.type === 'tool-result' ? original : {};
  return {
    type: 'tool-result',
    id,
    tool,
    text,
    failed: flags.includes('failed'),
    ...(nonce === undefined ? {} : { nonce }),
    ...(spotlight === undefined ? {} : { spotlight }),
    ...(files ? { files } : {}),
  };
}

function parseCallPart(
  block: ConversationBlock,
  [id, tool, ...extraWords]: readonly string[],
): MessagePart | ConversationMistake {
  if (id === undefined || tool === undefined || extraWords.length)
    return mistakeAt(block, 'A call is headed "%% call <call id> <tool>".');
  const input = parseJsonBody(block);
  return 'line' in input ? input : { type: 'tool-call', id, tool, input: input.value };
}

function parseFilePart(
  block: ConversationBlock,
  [reference, ...description]: readonly string[],
  before: readonly Message[],
): MessagePart | ConversationMistake {
  const [message, part] = (reference ?? '').split('.').map(Number);
  const file = before[(message ?? 0) - 1]?.parts[(part ?? 0) - 1];
  if (file?.type !== 'file') return mistakeAt(block, `There is no file ${reference ?? ''} in the conversation.`);
  if (description.join('\n') !== describeFilePart(file).join('\n') || block.body.some((line) => line.trim() !== ''))
    return mistakeAt(block, 'A file cannot be changed here: leave its line as it was, move it, or remove it.');
  const { meta: _, ...withoutMeta } = file;
  return withoutMeta;
}

function parseTextBody(block: ConversationBlock, json: boolean): string | ConversationMistake {
  if (!json) return block.body.join('\n');
  const parsed = parseJsonBody(block);
  if ('line' in parsed) return parsed;
  return typeof parsed.value === 'string'
    ? parsed.value
    : mistakeAt(block, 'A heading that ends in "json" is followed by one JSON string.');
}

function parseJsonBody(block: ConversationBlock): { readonly value: Json } | ConversationMistake {
  try {
    const value: unknown = JSON.parse(block.body.join('\n'));
    return isJson(value) ? { value } : mistakeAt(block, 'The JSON below this is nested too deep.');
  } catch (error) {
    const reason = (error as Error).message.replace(/, (?:\.\.\.)?"[^]*|(?: in JSON)? at position[^]*/, '');
    return { line: block.line + findBrokenLine(block.body), message: `This is not JSON: ${reason}.` };
  }
}

/** Returns the line, counted from 1, at which JSON becomes invalid; the last line if it is only incomplete. */
function findBrokenLine(lines: readonly string[]): number {
  let [low, high] = [1, Math.max(1, lines.findLastIndex((line) => line.trim() !== '') + 1)];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (isJsonPrefix(`${lines.slice(0, middle).join('\n')}\n`)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The JSON parser reports the position only for incomplete input. */
function isJsonPrefix(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    const { message } = error as Error;
    return message.startsWith('Unexpected end') || message.includes(`at position ${text.length} `);
  }
}
