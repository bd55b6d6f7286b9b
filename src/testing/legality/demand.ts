// What the checks of all dialects have in common: the error they throw, and the plainest demands.
import { FairleadError, isObject } from '../../core/index.ts';

/** An object of a request, as it came. */
export type Row = { readonly [key: string]: unknown };

/** Throws, saying where the request is wrong and how. */
export function illegal(where: string, what: string): never {
  throw new FairleadError('testing/illegal-request', `${where} ${what}`, {
    blame: 'harness',
    hint: 'The real service would refuse this request. Look at how the conversation was turned into it.',
  });
}

/** Demands an object. */
export function object(value: unknown, where: string): Row {
  return isObject(value) ? value : illegal(where, `is ${kind(value)} and must be an object.`);
}

/** Demands a list. */
export function array(value: unknown, where: string): readonly unknown[] {
  return Array.isArray(value) ? value : illegal(where, `is ${kind(value)} and must be a list.`);
}

/** Demands a list with something in it. */
export function filled(value: unknown, where: string): readonly unknown[] {
  const items = array(value, where);
  return items.length ? items : illegal(where, 'is an empty list.');
}

/** Demands a text with something in it. */
export function words(value: unknown, where: string): string {
  if (typeof value !== 'string') return illegal(where, `is ${kind(value)} and must be a text.`);
  return value === '' ? illegal(where, 'is an empty text.') : value;
}

/** Demands one of these words. */
export function oneOf(value: unknown, allowed: readonly string[], where: string): string {
  return typeof value === 'string' && allowed.includes(value)
    ? value
    : illegal(where, `is ${show(value)} and must be one of ${allowed.join(', ')}.`);
}

/** Demands a number between two others, where there is one at all. */
export function within(value: unknown, least: number, most: number, where: string): void {
  if (value === undefined || value === null) return;
  if (typeof value !== 'number' || value < least || value > most)
    illegal(where, `is ${show(value)} and must be a number from ${least} to ${most}.`);
}

/** Demands a name that a tool may have in this dialect. */
export function toolName(value: unknown, pattern: RegExp, where: string): string {
  const name = words(value, where);
  return pattern.test(name) ? name : illegal(where, `is ${show(name)}, which is no legal name for a tool.`);
}

/** Demands that nothing comes twice, and keeps what it saw. */
export function once(seen: Set<string>, value: string, where: string): string {
  if (seen.has(value)) return illegal(where, `is ${show(value)}, which is there already.`);
  seen.add(value);
  return value;
}

/** Demands a schema of an object, as every dialect wants it for the arguments of a tool. */
export function argumentSchema(value: unknown, where: string): Row {
  const schema = object(value, where);
  return String(schema['type']).toLowerCase() === 'object'
    ? schema
    : illegal(`${where}.type`, `is ${show(schema['type'])} and must be "object".`);
}

/** A value in the words of a message. */
export const show = (value: unknown): string => (value === undefined ? 'missing' : JSON.stringify(value));

const kind = (value: unknown): string =>
  value === undefined
    ? 'missing'
    : value === null
      ? 'null'
      : Array.isArray(value)
        ? 'a list'
        : typeof value === 'string'
          ? 'a text'
          : typeof value === 'object'
            ? 'an object'
            : `a ${typeof value}`;
