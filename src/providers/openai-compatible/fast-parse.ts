// Events of a stream mostly differ in one string. Where everything around it is the same as before, only the string is read.
import { isObject } from '../../core/index.ts';

/** What the last plain event looked like around its content. */
export interface ContentFastPath {
  /** The content of an event that differs from the last plain one in nothing else; undefined where it must be read in full. */
  extractContent(data: string): string | undefined;
  /** Looks at an event that was read in full, for the ones to come. */
  learn(data: string, value: { readonly [key: string]: unknown }): void;
}

const contentKey = '"content":"';
/** Servers that put something new into every event are not worth looking at. */
const maxMisses = 16;

/**
 * Begins with no frame. Two events with the same text before and behind one string literal are the same document but for that
 * string, so this is reading, not guessing: a literal with a quote or an escape in it goes the long way.
 */
export function createContentFastPath(): ContentFastPath {
  let before: string | undefined;
  let behind = '';
  let misses = 0;
  return {
    extractContent(data) {
      if (before === undefined) return undefined;
      const end = data.length - behind.length;
      if (end < before.length || data.slice(0, before.length) !== before || data.slice(end) !== behind)
        return undefined;
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
      behind = copyString(data.slice(end));
    },
  };
}

/** A string of its own instead of a view into a longer one: compared much faster, and the longer one can go. */
const copyString = (text: string): string => Buffer.from(text).toString('utf8');

/** Whether an event adds words to the answer and does nothing else. */
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
