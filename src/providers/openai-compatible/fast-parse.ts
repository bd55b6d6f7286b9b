// Fast path for streamed chat chunks: a chunk that differs from the last one only in its content string is not parsed again.
import { isObject } from '../../core/index.ts';

/** The text around the content of the last plain chunk. */
export interface ContentFastPath {
  /** Returns the content if nothing else differs from the last plain chunk; undefined if the chunk must be parsed. */
  extractContent(data: string): string | undefined;
  /** Remembers a parsed chunk for the next ones. */
  learn(data: string, value: { readonly [key: string]: unknown }): void;
}

const contentKey = '"content":"';
/** After this many chunks in a row without a match the server changes other fields in every chunk, and learning stops. */
const maxMisses = 16;

/**
 * Creates the fast path. Two chunks with the same text before and after one string literal are the same document except for
 * that string, so the result is exact; a literal with a quote or an escape is parsed in full.
 */
export function createContentFastPath(): ContentFastPath {
  let before: string | undefined;
  let after = '';
  let misses = 0;
  return {
    extractContent(data) {
      if (before === undefined) return undefined;
      const end = data.length - after.length;
      if (end < before.length || data.slice(0, before.length) !== before || data.slice(end) !== after) return undefined;
      const content = data.slice(before.length, end);
      if (content.includes('"') || content.includes('\\')) return undefined;
      misses = 0;
      return content;
    },
    learn(data, value) {
      before = undefined;
      if (misses++ > maxMisses || !isContentOnly(value)) return;
      const at = data.indexOf(contentKey);
      if (at < 0 || data.includes(contentKey, at + contentKey.length)) return;
      const start = at + contentKey.length;
      const end = data.indexOf('"', start);
      if (end < 0 || data.slice(start, end).includes('\\')) return;
      before = copyString(data.slice(0, start));
      after = copyString(data.slice(end));
    },
  };
}

/** Copies the string: a slice would keep the complete chunk in memory and compares slower. */
const copyString = (text: string): string => Buffer.from(text).toString('utf8');

/** Whether a chunk adds content and nothing else. */
function isContentOnly(value: { readonly [key: string]: unknown }): boolean {
  const { choices, usage, x_groq: groq, error } = value;
  if (isNonEmpty(usage) || isNonEmpty(groq) || isNonEmpty(error) || !Array.isArray(choices) || choices.length !== 1)
    return false;
  const choice: unknown = choices[0];
  if (!isObject(choice) || isNonEmpty(choice['finish_reason']) || isNonEmpty(choice['usage'])) return false;
  const { delta } = choice;
  if (!isObject(delta) || typeof delta['content'] !== 'string') return false;
  return Object.keys(delta).every((name) => name === 'content' || name === 'role' || !isNonEmpty(delta[name]));
}

const isNonEmpty = (value: unknown): boolean => value !== null && value !== undefined && value !== '';
