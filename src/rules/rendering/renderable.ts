// Renderable data: a kind, attributes and children, for example a context of files of functions, which any renderer can format.
import { isObject, type Json, type JsonObject } from '../../core/index.ts';

/** A node to render: a kind, attributes and ordered children. Plain JSON, so that the log can store it. */
export type Renderable = {
  readonly kind: string;
  readonly attributes: JsonObject;
  readonly children: readonly (Renderable | string)[];
};

/** Creates a node with attributes and children. */
export const renderable = (
  kind: string,
  attributes: JsonObject = {},
  ...children: readonly (Renderable | string)[]
): Renderable => ({ kind, attributes, children });

/** Returns true if a value is a renderable. */
export const isRenderable = (value: unknown): value is Renderable =>
  isObject(value) &&
  typeof value['kind'] === 'string' &&
  isObject(value['attributes']) &&
  Array.isArray(value['children']) &&
  value['children'].every((child) => typeof child === 'string' || isRenderable(child));

const maxDepth = 100;

/** Converts any data to a renderable: objects by their keys, arrays by their items. */
export function asRenderable(value: Json, kind = 'data', depth = 0): Renderable {
  if (isRenderable(value)) return value;
  if (depth >= maxDepth) return renderable(kind, {}, '…');
  if (Array.isArray(value))
    return renderable(kind, {}, ...value.map((each: Json) => asRenderable(each, 'item', depth + 1)));
  if (isObject(value))
    return renderable(kind, {}, ...Object.entries(value).map(([key, each]) => asRenderable(each, key, depth + 1)));
  return renderable(kind, {}, plainText(value));
}

/** Returns a plain value as text. */
export const plainText = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value));
