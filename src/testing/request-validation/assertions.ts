// Assertions shared by the request validators of all wire formats, and the error they throw.
import { FairleadError, isObject } from '../../core/index.ts';

/** An object of a request, not validated. */
export type RequestObject = { readonly [key: string]: unknown };

/** Throws an error with the position and the problem of the request. */
export function failValidation(where: string, what: string): never {
  throw new FairleadError('testing/illegal-request', `${where} ${what}`, {
    blame: 'harness',
    hint: 'The real service would refuse this request. Check how the conversation was converted to it.',
  });
}

/** Asserts that a value is an object. */
export function assertObject(value: unknown, where: string): RequestObject {
  return isObject(value) ? value : failValidation(where, `is ${describeType(value)} and must be an object.`);
}

/** Asserts that a value is a list. */
export function assertArray(value: unknown, where: string): readonly unknown[] {
  return Array.isArray(value) ? value : failValidation(where, `is ${describeType(value)} and must be a list.`);
}

/** Asserts that a value is a list that is not empty. */
export function assertNonEmptyArray(value: unknown, where: string): readonly unknown[] {
  const items = assertArray(value, where);
  return items.length ? items : failValidation(where, 'is an empty list.');
}

/** Asserts that a value is a string that is not empty. */
export function assertNonEmptyString(value: unknown, where: string): string {
  if (typeof value !== 'string') return failValidation(where, `is ${describeType(value)} and must be a string.`);
  return value === '' ? failValidation(where, 'is an empty string.') : value;
}

/** Asserts that a value is one of these strings. */
export function assertOneOf(value: unknown, allowed: readonly string[], where: string): string {
  return typeof value === 'string' && allowed.includes(value)
    ? value
    : failValidation(where, `is ${formatValue(value)} and must be one of ${allowed.join(', ')}.`);
}

/** Asserts that a value is absent or a number in a range. */
export function assertInRange(value: unknown, least: number, most: number, where: string): void {
  if (value === undefined || value === null) return;
  if (typeof value !== 'number' || value < least || value > most)
    failValidation(where, `is ${formatValue(value)} and must be a number from ${least} to ${most}.`);
}

/** Asserts that a tool name is valid in this wire format. */
export function assertToolName(value: unknown, pattern: RegExp, where: string): string {
  const name = assertNonEmptyString(value, where);
  return pattern.test(name) ? name : failValidation(where, `is ${formatValue(name)}, which is not a valid tool name.`);
}

/** Asserts that a value was not seen before, and remembers it. */
export function assertUnique(seen: Set<string>, value: string, where: string): string {
  if (seen.has(value)) return failValidation(where, `is ${formatValue(value)}, which is a duplicate.`);
  seen.add(value);
  return value;
}

/** Asserts that a value is an object schema, which every wire format requires for the arguments of a tool. */
export function assertObjectSchema(value: unknown, where: string): RequestObject {
  const schema = assertObject(value, where);
  return String(schema['type']).toLowerCase() === 'object'
    ? schema
    : failValidation(`${where}.type`, `is ${formatValue(schema['type'])} and must be "object".`);
}

/** Formats a value for an error message. */
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
