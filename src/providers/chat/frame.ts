// Events of a stream mostly differ in one string. Where everything around it is the same as before, only the string is read.
import { isObject } from '../../core/index.ts';

/** What the last plain event looked like around its content. */
export interface ContentFrame {
  /** The content of an event that differs from the last plain one in nothing else; undefined where it must be read in full. */
  contentOf(data: string): string | undefined;
  /** Looks at an event that was read in full, for the ones to come. */
  learn(data: string, value: { readonly [key: string]: unknown }): void;
}

const key = '"content":"';
/** Servers that put something new into every event are not worth looking at. */
const mostMisses = 16;

/**
 * Begins with no frame. Two events with the same text before and behind one string literal are the same document but for that
 * string, so this is reading, not guessing: a literal with a quote or an escape in it goes the long way.
 */
export function contentFrame(): ContentFrame {
  let before: string | undefined;
  let behind = '';
  let misses = 0;
  return {
    contentOf(data) {
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
      if (misses++ > mostMisses || !isPlain(value)) return;
      const at = data.indexOf(key);
      if (at < 0 || data.includes(key, at + key.length)) return;
      const start = at + key.length;
      const end = data.indexOf('"', start);
      if (end < 0 || data.slice(start, end).includes('\\')) return;
      before = copy(data.slice(0, start));
      behind = copy(data.slice(end));
    },
  };
}

/** A string of its own instead of a view into a longer one: compared much faster, and the longer one can go. */
const copy = (text: string): string => Buffer.from(text).toString('utf8');

/** Whether an event adds words to the answer and does nothing else. */
function isPlain(value: { readonly [key: string]: unknown }): boolean {
  const { choices, usage, x_groq: groq, error } = value;
  if (isFull(usage) || isFull(groq) || isFull(error) || !Array.isArray(choices) || choices.length !== 1) return false;
  const choice: unknown = choices[0];
  if (!isObject(choice) || isFull(choice['finish_reason']) || isFull(choice['usage'])) return false;
  const { delta } = choice;
  if (!isObject(delta) || typeof delta['content'] !== 'string') return false;
  return Object.keys(delta).every((name) => name === 'content' || name === 'role' || !isFull(delta[name]));
}

const isFull = (value: unknown): boolean => value !== null && value !== undefined && value !== '';
