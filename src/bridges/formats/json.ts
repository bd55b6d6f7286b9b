// Reads JSON that others wrote: what is not what it should be counts as absent.
import { isObject, type Json, type JsonObject, type MessagePart } from '../../core/index.ts';

/** Everything in a list, in its place. */
export const asJsonArray = (value: Json | undefined): readonly Json[] =>
  Array.isArray(value) ? (value as readonly Json[]) : [];

/** The objects in a list. */
export const asObjectArray = (value: Json | undefined): readonly JsonObject[] =>
  asJsonArray(value).filter((each): each is JsonObject => isObject(each));

/** A text, or an empty one. */
export const asString = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

/** An object, or an empty one. */
export const asObject = (value: Json | undefined): JsonObject => (isObject(value) ? value : {});

/** A count under a name of ours, where it is one. */
export const numberField = <K extends string>(name: K, value: Json | undefined): { readonly [key in K]?: number } =>
  typeof value === 'number' ? ({ [name]: value } as { readonly [key in K]?: number }) : {};

/** Arguments of a call as JSON, or why they are none. */
export function parseCallArguments(raw: string): { readonly input: Json; readonly invalid?: string } {
  try {
    return { input: raw.trim() === '' ? {} : (JSON.parse(raw) as Json) };
  } catch {
    return { input: {}, invalid: raw };
  }
}

/** What we know of but do not read. */
export const toOpaquePart = (value: Json): MessagePart => ({
  type: 'file',
  mediaType: 'application/octet-stream',
  data: JSON.stringify(value),
});

/** The JSON in these bytes, if it is any. */
export function parseJsonBytes(bytes: Buffer): Json | undefined {
  try {
    return JSON.parse(bytes.toString()) as Json;
  } catch {
    return undefined;
  }
}
