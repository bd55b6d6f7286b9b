// Data that says what it is and what it contains, so that any renderer can write it down: a context of files of functions.
import { isObject, type Json, type JsonObject } from '../../core/index.ts';

/** Something to be written down: a kind, attributes, and what it contains, in order. Plain JSON, so that the log keeps it. */
export type Renderable = {
  readonly kind: string;
  readonly attributes: JsonObject;
  readonly children: readonly (Renderable | string)[];
};

/** A thing with its attributes and what it contains. */
export const renderable = (
  kind: string,
  attributes: JsonObject = {},
  ...children: readonly (Renderable | string)[]
): Renderable => ({ kind, attributes, children });

/** Tells a renderable from other data. */
export const isRenderable = (value: unknown): value is Renderable =>
  isObject(value) &&
  typeof value['kind'] === 'string' &&
  isObject(value['attributes']) &&
  Array.isArray(value['children']) &&
  value['children'].every((child) => typeof child === 'string' || isRenderable(child));

const maxDepth = 100;

/** Any data as a renderable: objects by their keys, lists by their items. */
export function asRenderable(value: Json, kind = 'data', depth = 0): Renderable {
  if (isRenderable(value)) return value;
  if (depth >= maxDepth) return renderable(kind, {}, '…');
  if (Array.isArray(value))
    return renderable(kind, {}, ...value.map((each: Json) => asRenderable(each, 'item', depth + 1)));
  if (isObject(value))
    return renderable(kind, {}, ...Object.entries(value).map(([key, each]) => asRenderable(each, key, depth + 1)));
  return renderable(kind, {}, plainText(value));
}

/** A plain value as words. */
export const plainText = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value));
