// What the checks of all dialects have in common: the error they throw, and the plainest demands.
import { FairleadError, isObject } from '../../core/index.ts';

/** An object of a request, as it came. */
export type RequestObject = { readonly [key: string]: unknown };

/** Throws, saying where the request is wrong and how. */
export function failValidation(where: string, what: string): never {
  throw new FairleadError('testing/illegal-request', `${where} ${what}`, {
    blame: 'harness',
    hint: 'The real service would refuse this request. Look at how the conversation was turned into it.',
  });
}

/** Demands an object. */
export function assertObject(value: unknown, where: string): RequestObject {
  return isObject(value) ? value : failValidation(where, `is ${describeType(value)} and must be an object.`);
}

/** Demands a list. */
export function assertArray(value: unknown, where: string): readonly unknown[] {
  return Array.isArray(value) ? value : failValidation(where, `is ${describeType(value)} and must be a list.`);
}

/** Demands a list with something in it. */
export function assertNonEmptyArray(value: unknown, where: string): readonly unknown[] {
  const items = assertArray(value, where);
  return items.length ? items : failValidation(where, 'is an empty list.');
}

/** Demands a text with something in it. */
export function assertNonEmptyString(value: unknown, where: string): string {
  if (typeof value !== 'string') return failValidation(where, `is ${describeType(value)} and must be a text.`);
  return value === '' ? failValidation(where, 'is an empty text.') : value;
}

/** Demands one of these words. */
export function assertOneOf(value: unknown, allowed: readonly string[], where: string): string {
  return typeof value === 'string' && allowed.includes(value)
    ? value
    : failValidation(where, `is ${formatValue(value)} and must be one of ${allowed.join(', ')}.`);
}

/** Demands a number between two others, where there is one at all. */
export function assertInRange(value: unknown, least: number, most: number, where: string): void {
  if (value === undefined || value === null) return;
  if (typeof value !== 'number' || value < least || value > most)
    failValidation(where, `is ${formatValue(value)} and must be a number from ${least} to ${most}.`);
}

/** Demands a name that a tool may have in this dialect. */
export function assertToolName(value: unknown, pattern: RegExp, where: string): string {
  const name = assertNonEmptyString(value, where);
  return pattern.test(name)
    ? name
    : failValidation(where, `is ${formatValue(name)}, which is no legal name for a tool.`);
}

/** Demands that nothing comes twice, and keeps what it saw. */
export function assertUnique(seen: Set<string>, value: string, where: string): string {
  if (seen.has(value)) return failValidation(where, `is ${formatValue(value)}, which is there already.`);
  seen.add(value);
  return value;
}

/** Demands a schema of an object, as every dialect wants it for the arguments of a tool. */
export function assertObjectSchema(value: unknown, where: string): RequestObject {
  const schema = assertObject(value, where);
  return String(schema['type']).toLowerCase() === 'object'
    ? schema
    : failValidation(`${where}.type`, `is ${formatValue(schema['type'])} and must be "object".`);
}

/** A value in the words of a message. */
export const formatValue = (value: unknown): string => (value === undefined ? 'missing' : JSON.stringify(value));

const describeType = (value: unknown): string =>
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
