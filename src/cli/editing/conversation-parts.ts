// One part of an edited message, read from its heading and the lines below it.
import { isJson, type Json, type Message, type Part } from '../../core/index.ts';
import type { Block, Mistake } from './conversation-blocks.ts';
import { fileWords } from './conversation-text.ts';

/** The part that a block tells of, or what is wrong with it. `before` holds the files that may be referred to. */
export function partOf(block: Block, before: readonly Message[], tidy: boolean): Part | Mistake {
  const [kind = '', ...words] = block.words;
  switch (kind) {
    case 'text':
    case 'reasoning': {
      if (!isFlags(words, ['json'])) return wrong(block, `"%% ${kind}" takes no further words.`);
      const text = textIn(block, words.includes('json'), tidy);
      return typeof text === 'string' ? { type: kind, text } : text;
    }
    case 'result':
      return resultOf(block, words, tidy);
    case 'call':
      return callOf(block, words);
    case 'file':
      return fileOf(block, words, before);
    default:
      return wrong(
        block,
        `"%% ${kind}" begins no kind of part: text, reasoning, call, result or file do. Put a backslash before it if it belongs to the text.`,
      );
  }
}

/** The raw arguments of a call that were not JSON: they stand under their own heading, after the call. */
export function invalidOf(block: Block): string | Mistake {
  return textIn(block, block.words.includes('json'), false);
}

const wrong = ({ line }: Block, what: string): Mistake => ({ line, what });

const isFlags = (words: readonly string[], flags: readonly string[]): boolean =>
  words.every((word, i) => flags.includes(word) && words.indexOf(word) === i);

function resultOf(block: Block, [id, tool, ...flags]: readonly string[], tidy: boolean): Part | Mistake {
  if (id === undefined || tool === undefined || !isFlags(flags, ['failed', 'json']))
    return wrong(block, 'A result is headed "%% result <call id> <tool>", and "failed" after them if it failed.');
  const text = textIn(block, flags.includes('json'), tidy);
  return typeof text === 'string' ? { type: 'tool-result', id, tool, text, failed: flags.includes('failed') } : text;
}

function callOf(block: Block, [id, tool, ...more]: readonly string[]): Part | Mistake {
  if (id === undefined || tool === undefined || more.length)
    return wrong(block, 'A call is headed "%% call <call id> <tool>".');
  const input = jsonIn(block);
  return 'line' in input ? input : { type: 'tool-call', id, tool, input: input.value };
}

function fileOf(block: Block, [reference, ...said]: readonly string[], before: readonly Message[]): Part | Mistake {
  const [message, part] = (reference ?? '').split('.').map(Number);
  const file = before[(message ?? 0) - 1]?.parts[(part ?? 0) - 1];
  if (file?.type !== 'file') return wrong(block, `There is no file ${reference ?? ''} in the conversation.`);
  if (said.join('\n') !== fileWords(file).join('\n') || block.body.some((line) => line.trim() !== ''))
    return wrong(block, 'A file cannot be changed here: leave its line as it was, move it, or remove it.');
  const { meta: _, ...rest } = file;
  return rest;
}

function textIn(block: Block, json: boolean, tidy: boolean): string | Mistake {
  if (!json) return (tidy ? trimmed(block.body) : block.body).join('\n');
  const read = jsonIn(block);
  if ('line' in read) return read;
  return typeof read.value === 'string'
    ? read.value
    : wrong(block, 'Under a heading that ends in "json" stands one JSON string.');
}

/** Without the empty lines that people leave around what they write. */
export function trimmed(lines: readonly string[]): readonly string[] {
  const first = lines.findIndex((line) => line.trim() !== '');
  const last = lines.findLastIndex((line) => line.trim() !== '');
  return first < 0 ? [] : lines.slice(first, last + 1);
}

function jsonIn(block: Block): { readonly value: Json } | Mistake {
  const text = block.body.join('\n');
  try {
    const value: unknown = JSON.parse(text);
    return isJson(value) ? { value } : wrong(block, 'The JSON below this is nested too deep.');
  } catch (error) {
    const { message } = error as Error;
    const at = Number(/position (\d+)/.exec(message)?.[1] ?? text.trimEnd().length);
    const line = block.line + text.slice(0, at).split('\n').length;
    return { line, what: `This is not JSON: ${message.replace(/ \(line.*| in JSON at position.*/, '')}.` };
  }
}
