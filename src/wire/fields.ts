// Reads fields of JSON written by other programs: a value of another type counts as absent.
import { isObject, type Json, type JsonObject, type Message, type MessagePart } from '../core/index.ts';

/** An object of a request or response body; its fields are not validated. */
export type WireObject = { readonly [key: string]: unknown };

/** Returns the value if it is a number. */
export const numberOrUndefined = (value: unknown): number | undefined =>
  typeof value === 'number' ? value : undefined;

/** Returns the value if it is a string. */
export const stringOrUndefined = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;

/** Returns the value if it is a string, else an empty string. */
export const asString = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Returns the value if it is an object, else an empty object. */
export function asObject(value: Json | undefined): JsonObject;
export function asObject(value: unknown): WireObject;
export function asObject(value: unknown): WireObject {
  return isObject(value) ? value : {};
}

/** Returns the value if it is an array, else an empty array. */
export const asJsonArray = (value: Json | undefined): readonly Json[] =>
  Array.isArray(value) ? (value as readonly Json[]) : [];

/** Returns the objects of an array; empty if the value is not an array. */
export function asObjectArray(value: Json | undefined): readonly JsonObject[];
export function asObjectArray(value: unknown): readonly WireObject[];
export function asObjectArray(value: unknown): readonly WireObject[] {
  return Array.isArray(value) ? (value as readonly unknown[]).filter((each): each is WireObject => isObject(each)) : [];
}

/** Returns `{ [name]: value }` if the value is a number, else an empty object. */
export const numberField = <K extends string>(name: K, value: unknown): { readonly [key in K]?: number } =>
  typeof value === 'number' ? ({ [name]: value } as { readonly [key in K]?: number }) : {};

/** Parses JSON; undefined if the text is not JSON. */
export function tryParseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** Parses the arguments of a tool call; `invalid` holds the text if it is not JSON. */
export function parseCallArguments(raw: string): { readonly input: Json; readonly invalid?: string } {
  if (raw.trim() === '') return { input: {} };
  const input = tryParseJson(raw);
  return input === undefined ? { input: {}, invalid: raw } : { input };
}

/** Keeps content that Fairlead does not interpret (images, audio, provider items) as a file part. */
export const toOpaquePart = (value: Json): MessagePart => ({
  type: 'file',
  mediaType: 'application/octet-stream',
  data: JSON.stringify(value),
});

/** A message of a kind that is not known: the model may read what is in it, so that it is kept as a result of no call. */
export const toUnknownMessage = (value: Json): Message => ({
  role: 'tool',
  parts: [{ type: 'tool-result', id: '', tool: '', text: JSON.stringify(value), failed: false }],
});
