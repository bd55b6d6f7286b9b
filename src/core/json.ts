// Plain JSON: the only kind of value a fact may hold, and the few things done with it.
import { errorMessage } from './errors.ts';

/** Any value that survives a round trip through JSON. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

/** A JSON object. */
export type JsonObject = { readonly [key: string]: Json };

/** Tells a JSON object from the other kinds of value. */
export const isObject = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const maxDepth = 200;

/** Whether a value is plain JSON that every reader can take: no strangers, no cycles, nested no deeper than 200. */
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

/** The one text of a value whatever the order of its keys, so that equal calls look equal; below 200 levels all look the same. */
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

/** Any value as legal JSON: cycles, big integers, functions and other strangers become text, never an exception; what is too deep or too much is left out and says so. */
export function toJson(value: unknown): Json {
  const open = new Set<object>();
  let room = maxItems;

  function visit(item: unknown, depth: number): Json | undefined {
    if (item === null || typeof item === 'string' || typeof item === 'boolean') return item;
    if (typeof item === 'number') return Number.isFinite(item) ? item || 0 : String(item);
    if (typeof item === 'bigint' || typeof item === 'symbol') return item.toString();
    if (typeof item === 'function') return '[function]';
    if (typeof item !== 'object') return undefined;
    if (open.has(item)) return '[cycle]';
    if (depth >= maxDepth) return '[nested too deep, left out]';
    open.add(item);
    try {
      return visitObject(item, depth + 1);
    } catch (error) {
      return `[unreadable: ${errorMessage(error)}]`;
    } finally {
      open.delete(item);
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
      if (room-- > 0) list.push(visit(each, depth) ?? null);
      else return [...list, '[more, left out]'];
    }
    return list;
  }

  function visitEntries(entries: Iterable<readonly [unknown, unknown]>, depth: number): Json {
    const kept: [string, Json][] = [];
    for (const [key, each] of entries) {
      const json = room-- > 0 ? visit(each, depth) : '[more, left out]';
      if (json !== undefined) kept.push([errorMessage(key), json]);
      if (room < 0) break;
    }
    return Object.fromEntries(kept);
  }

  return visit(value, 0) ?? null;
}
