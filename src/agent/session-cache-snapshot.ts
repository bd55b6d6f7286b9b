// Snapshots of cached values: the type, the size and the first items, bounded in size and copied.
import { types } from 'node:util';
import { toJson, type Json, type JsonObject } from '../core/index.ts';
import { typedArrayName } from './session-cache-codec.ts';

/** A snapshot of a value. Samples have the first items, truncated with a mark. */
export type Snapshot = SnapshotShape & { readonly semantics?: Json };

/** The shape of a value, by its type. */
export type SnapshotShape =
  | {
      readonly type: 'table';
      readonly shape: readonly [rows: number, columns: number];
      readonly columns: readonly string[];
      readonly sample: readonly Json[];
    }
  | {
      readonly type: 'array';
      readonly shape: readonly [length: number];
      readonly dtype: string;
      readonly sample: readonly Json[];
    }
  | { readonly type: 'list'; readonly length: number; readonly sample: readonly Json[] }
  | {
      readonly type: 'object';
      readonly totalKeys: number;
      readonly sampleKeys: readonly string[];
      readonly sample: JsonObject;
    }
  | { readonly type: 'text'; readonly length: number; readonly sample: string }
  | { readonly type: 'scalar'; readonly value: Json };

const maxTextChars = 200;
const maxKeys = 50;
const maxSnapshotDepth = 4;
const maxTotalChars = 4000;

/** The snapshot of a value now, with samples of this many items. */
export function createSnapshot(value: unknown, size: number): SnapshotShape {
  try {
    return buildSnapshot(value, size);
  } catch (error) {
    return { type: 'scalar', value: unreadableText(error) };
  }
}

function buildSnapshot(value: unknown, size: number): SnapshotShape {
  const shorten = createShortener(size);
  const content = unwrapContainer(value);
  if (typeof content === 'string') return { type: 'text', length: content.length, sample: truncateText(content) };
  if (typeof content !== 'object' || content === null) return { type: 'scalar', value: shorten(content) };
  const dtype = typedArrayName(content);
  if (dtype) {
    const array = content as Uint8Array;
    return {
      type: 'array',
      shape: [array.length],
      dtype: dtypeOf(dtype),
      sample: Array.from(array.subarray(0, size), shorten),
    };
  }
  if (Array.isArray(content)) {
    const columns = tableColumns(content);
    const sample = content.slice(0, size).map((each) => shorten(each));
    return columns
      ? {
          type: 'table',
          shape: [content.length, columns.length],
          columns: columns.slice(0, maxKeys).map(truncateText),
          sample,
        }
      : { type: 'list', length: content.length, sample };
  }
  const keys = Object.keys(content);
  const sampleKeys = keys.slice(0, size).map(truncateText);
  const sample = keys
    .slice(0, size)
    .map((key) => [truncateText(key), shorten((content as Record<string, unknown>)[key])] as const);
  return { type: 'object', totalKeys: keys.length, sampleKeys, sample: Object.fromEntries(sample) };
}

/** The columns of a table, which is a list of plain objects with the same keys; undefined for any other list. */
export function tableColumns(list: readonly unknown[]): readonly string[] | undefined {
  const [first] = list;
  if (!isPlainObject(first)) return undefined;
  const columns = Object.keys(first);
  const same = (row: unknown): boolean =>
    isPlainObject(row) && Object.keys(row).length === columns.length && columns.every((key) => Object.hasOwn(row, key));
  return columns.length > 0 && list.every(same) ? columns : undefined;
}

/** Whether a value is an object literal, not an instance of a class. */
export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  const kind: unknown = Object.getPrototypeOf(value);
  return kind === Object.prototype || kind === null;
}

/** The content of a container: a map as an object, a set as a list, a buffer as its bytes, and a value with `toJSON` as its JSON. */
export function unwrapContainer(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || typedArrayName(value)) return value;
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, each]) => [String(key), each] as const));
  if (value instanceof Set) return [...value];
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  if (types.isAnyArrayBuffer(value)) return new Uint8Array(value);
  if (types.isNativeError(value)) return toJson(value);
  return typeof (value as { toJSON?: unknown }).toJSON === 'function' ? toJson(value) : value;
}

/** A function that truncates long texts, lists, objects and deep nesting. The sum of all that it returns is bounded. */
export function createShortener(items: number): (value: unknown) => Json {
  let remainingChars = maxTotalChars;
  const spend = <T extends Json>(value: T): T | '…' => {
    if (remainingChars <= 0) return '…';
    remainingChars -= typeof value === 'string' ? value.length : 8;
    return value;
  };
  const visit = (value: unknown, depth: number): Json => {
    const content = unwrapContainer(value);
    if (typeof content === 'string') return spend(truncateText(content));
    if (typeof content !== 'object' || content === null) return spend(truncateJson(toJson(content)));
    const dtype = typedArrayName(content);
    if (dtype) return spend(`[${dtypeOf(dtype)} array of ${(content as Uint8Array).length}]`);
    const keys = Array.isArray(content) ? undefined : Object.keys(content);
    const size = Array.isArray(content) ? content.length : (keys?.length ?? 0);
    if (depth === 0 || remainingChars <= 0) return spend(keys ? `[object of ${size} keys]` : `[list of ${size}]`);
    const max = keys ? maxKeys : items;
    const rest = size > max ? `… ${size - max} more` : undefined;
    if (Array.isArray(content))
      return [...content.slice(0, max).map((each) => visit(each, depth - 1)), ...(rest ? [rest] : [])];
    const fields = (keys ?? [])
      .slice(0, max)
      .map((key) => [spend(truncateText(key)), visit((content as Record<string, unknown>)[key], depth - 1)] as const);
    return Object.fromEntries([...fields, ...(rest ? [['…', rest] as const] : [])]);
  };
  return (value) => {
    try {
      return visit(value, maxSnapshotDepth);
    } catch (error) {
      return unreadableText(error);
    }
  };
}

/** Some providers refuse half a surrogate pair. */
const truncateText = (text: string): string =>
  text.length > maxTextChars ? `${text.slice(0, maxTextChars).toWellFormed()}… (${text.length} characters)` : text;
const unreadableText = (error: unknown): string => truncateText(`[unreadable: ${String(error)}]`);
const truncateJson = (value: Json): Json => (typeof value === 'string' ? truncateText(value) : value);
const dtypeOf = (name: string): string => (name === 'Buffer' ? 'uint8' : name.replace('Array', '').toLowerCase());
