// JSON types, and conversion of arbitrary values to bounded JSON. Facts hold only JSON.
import { errorMessage } from './errors.ts';

/** Any value that survives a round trip through JSON. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

/** A JSON object. */
export type JsonObject = { readonly [key: string]: Json };

/** Returns true if a value is an object and not an array or null. */
export const isObject = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const maxDepth = 200;

/** Returns true if a value is plain JSON: no other types, no cycles, at most 200 levels deep. */
export function isJson(value: unknown, depth = 0): value is Json {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || depth >= maxDepth) return false;
  if (Array.isArray(value)) return value.every((each) => isJson(each, depth + 1));
  const proto: unknown = Object.getPrototypeOf(value);
  return (
    (proto === Object.prototype || proto === null) && Object.values(value).every((each) => isJson(each, depth + 1))
  );
}

/** Returns canonical JSON text with sorted keys, so that equal values give equal text. Levels deeper than 200 are ignored. */
export function canonicalJson(value: Json, depth = 0): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (depth >= maxDepth) return '"…"';
  if (Array.isArray(value)) return `[${value.map((each: Json) => canonicalJson(each, depth + 1)).join(',')}]`;
  const entries = value as JsonObject;
  const keys = Object.keys(entries);
  if (keys.length > 1) keys.sort();
  let text = '';
  for (const key of keys)
    text += `${text ? ',' : ''}${JSON.stringify(key)}:${canonicalJson(entries[key] as Json, depth + 1)}`;
  return `{${text}}`;
}

const maxItems = 1_000_000;

/** Converts any value to JSON. Never throws: cycles, big integers and functions become text; what is too deep or too large is replaced by a note. */
export function toJson(value: unknown): Json {
  const ancestors = new Set<object>();
  let remainingItems = maxItems;

  function visit(item: unknown, depth: number): Json | undefined {
    if (item === null || typeof item === 'string' || typeof item === 'boolean') return item;
    if (typeof item === 'number') return Number.isFinite(item) ? item || 0 : String(item);
    if (typeof item === 'bigint' || typeof item === 'symbol') return item.toString();
    if (typeof item === 'function') return '[function]';
    if (typeof item !== 'object') return undefined;
    if (ancestors.has(item)) return '[cycle]';
    if (depth >= maxDepth) return '[nested too deep, left out]';
    ancestors.add(item);
    try {
      return visitObject(item, depth + 1);
    } catch (error) {
      return `[unreadable: ${errorMessage(error)}]`;
    } finally {
      ancestors.delete(item);
    }
  }

  function visitObject(item: object, depth: number): Json | undefined {
    if (item instanceof Error) return `${item.name}: ${item.message}`;
    const own = (item as { readonly toJSON?: unknown }).toJSON;
    if (ArrayBuffer.isView(item)) return `[${item.byteLength} bytes]`;
    if (typeof own === 'function') return visit(own.call(item), depth);
    if (Array.isArray(item) || item instanceof Set) return visitList(item, depth);
    return visitEntries(item instanceof Map ? item : Object.entries(item), depth);
  }

  function visitList(items: Iterable<unknown>, depth: number): Json {
    const list: Json[] = [];
    for (const each of items) {
      if (remainingItems-- > 0) list.push(visit(each, depth) ?? null);
      else return [...list, '[more, left out]'];
    }
    return list;
  }

  function visitEntries(entries: Iterable<readonly [unknown, unknown]>, depth: number): Json {
    const kept: [string, Json][] = [];
    for (const [key, each] of entries) {
      const json = remainingItems-- > 0 ? visit(each, depth) : '[more, left out]';
      if (json !== undefined) kept.push([errorMessage(key), json]);
      if (remainingItems < 0) break;
    }
    return Object.fromEntries(kept);
  }

  return visit(value, 0) ?? null;
}
