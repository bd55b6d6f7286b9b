// Snapshots: what a value is, how large, and its first few items; small whatever the value, and never part of it.
import { types } from 'node:util';
import { toJson, type Json, type JsonObject } from '../core/index.ts';
import { typedArrayName } from './session-cache-codec.ts';

/** A look at a value. Samples hold the first items; what is long in them is cut and says so. */
export type Snapshot = SnapshotShape & { readonly semantics?: Json };

/** What a value is, by its kind. */
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

/** The snapshot of a value as it is now, with samples of this many items. */
export function createSnapshot(value: unknown, size: number): SnapshotShape {
  try {
    return buildSnapshot(value, size);
  } catch (error) {
    return { type: 'scalar', value: unreadableText(error) };
  }
}

function buildSnapshot(value: unknown, size: number): SnapshotShape {
  const short = createShortener(size);
  const given = unwrapContainer(value);
  if (typeof given === 'string') return { type: 'text', length: given.length, sample: truncateText(given) };
  if (typeof given !== 'object' || given === null) return { type: 'scalar', value: short(given) };
  const dtype = typedArrayName(given);
  if (dtype) {
    const array = given as Uint8Array;
    return {
      type: 'array',
      shape: [array.length],
      dtype: dtypeOf(dtype),
      sample: Array.from(array.subarray(0, size), short),
    };
  }
  if (Array.isArray(given)) {
    const columns = tableColumns(given);
    const sample = given.slice(0, size).map((each) => short(each));
    return columns
      ? {
          type: 'table',
          shape: [given.length, columns.length],
          columns: columns.slice(0, maxKeys).map(truncateText),
          sample,
        }
      : { type: 'list', length: given.length, sample };
  }
  const keys = Object.keys(given);
  const sampleKeys = keys.slice(0, size).map(truncateText);
  const sample = keys
    .slice(0, size)
    .map((key) => [truncateText(key), short((given as Record<string, unknown>)[key])] as const);
  return { type: 'object', totalKeys: keys.length, sampleKeys, sample: Object.fromEntries(sample) };
}

/** The columns of a table: a list of plain objects that all have the same keys. Nothing for any other list. */
export function tableColumns(list: readonly unknown[]): readonly string[] | undefined {
  const [first] = list;
  if (!isPlainObject(first)) return undefined;
  const columns = Object.keys(first);
  const same = (row: unknown): boolean =>
    isPlainObject(row) && Object.keys(row).length === columns.length && columns.every((key) => Object.hasOwn(row, key));
  return columns.length > 0 && list.every(same) ? columns : undefined;
}

/** Whether a value is an object literal and not an instance of something. */
export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  const kind: unknown = Object.getPrototypeOf(value);
  return kind === Object.prototype || kind === null;
}

/** A value behind its container: a map as an object, a set as a list, a buffer as its bytes, and what can say itself as JSON as that. */
export function unwrapContainer(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || typedArrayName(value)) return value;
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, each]) => [String(key), each] as const));
  if (value instanceof Set) return [...value];
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  if (types.isAnyArrayBuffer(value)) return new Uint8Array(value);
  if (types.isNativeError(value)) return toJson(value);
  return typeof (value as { toJSON?: unknown }).toJSON === 'function' ? toJson(value) : value;
}

/** A function that makes values small: long texts, lists, objects and deep nesting are cut, and all it ever returns together is bounded. */
export function createShortener(items: number): (value: unknown) => Json {
  let left = maxTotalChars;
  const spend = <T extends Json>(value: T): T | '…' => {
    if (left <= 0) return '…';
    left -= typeof value === 'string' ? value.length : 8;
    return value;
  };
  const visit = (value: unknown, depth: number): Json => {
    const given = unwrapContainer(value);
    if (typeof given === 'string') return spend(truncateText(given));
    if (typeof given !== 'object' || given === null) return spend(truncateJson(toJson(given)));
    const dtype = typedArrayName(given);
    if (dtype) return spend(`[${dtypeOf(dtype)} array of ${(given as Uint8Array).length}]`);
    const keys = Array.isArray(given) ? undefined : Object.keys(given);
    const size = Array.isArray(given) ? given.length : (keys?.length ?? 0);
    if (depth === 0 || left <= 0) return spend(keys ? `[object of ${size} keys]` : `[list of ${size}]`);
    const most = keys ? maxKeys : items;
    const rest = size > most ? `… ${size - most} more` : undefined;
    if (Array.isArray(given))
      return [...given.slice(0, most).map((each) => visit(each, depth - 1)), ...(rest ? [rest] : [])];
    const fields = (keys ?? [])
      .slice(0, most)
      .map((key) => [spend(truncateText(key)), visit((given as Record<string, unknown>)[key], depth - 1)] as const);
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

/** A cut through the middle of a character would leave a half that some providers refuse. */
const truncateText = (text: string): string =>
  text.length > maxTextChars ? `${text.slice(0, maxTextChars).toWellFormed()}… (${text.length} characters)` : text;
const unreadableText = (error: unknown): string => truncateText(`[unreadable: ${String(error)}]`);
const truncateJson = (value: Json): Json => (typeof value === 'string' ? truncateText(value) : value);
const dtypeOf = (name: string): string => (name === 'Buffer' ? 'uint8' : name.replace('Array', '').toLowerCase());
