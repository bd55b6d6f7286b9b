// Encodes cached values to bytes and decodes them. A value is encoded only if decoding gives an equal value.
import { types } from 'node:util';
import { FairleadError } from '../core/index.ts';

/** The form of a stored value: JSON text, the bytes of a typed array, or V8 serialization. */
export type StorageType = 'json' | 'binary' | 'v8';

/** A value as bytes. */
export type EncodedValue = { readonly type: StorageType; readonly bytes: Uint8Array };

/** The bytes of a value; undefined if decoding could not give an equal value (functions, class instances, promises). */
export function encodeValue(value: unknown): EncodedValue | undefined {
  try {
    const array = typedArrayName(value);
    if (array) return { type: 'binary', bytes: encodeArray(value as NodeJS.TypedArray, array) };
    const type = storageFormOf(value);
    if (type === 'json') return { type, bytes: Buffer.from(JSON.stringify(value)) };
    return type && { type, bytes: process.getBuiltinModule('node:v8').serialize(value) };
  } catch {
    return undefined;
  }
}

/** The value of these bytes. */
export function decodeValue({ type, bytes }: EncodedValue): unknown {
  if (type === 'json') return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString());
  return type === 'v8' ? (process.getBuiltinModule('node:v8').deserialize(bytes) as unknown) : decodeArray(bytes);
}

const arrayMagic = 'FLARRAY';
/** The header has the index of a name: append only. */
const arrayTypeNames = (
  'Buffer Int8Array Uint8Array Uint8ClampedArray Int16Array Uint16Array Int32Array Uint32Array Float32Array Float64Array ' +
  'BigInt64Array BigUint64Array Float16Array'
).split(' ');

type ArrayConstructorLike = { readonly prototype: object; new (buffer: ArrayBuffer): unknown };

const arrayConstructor = (name: string): ArrayConstructorLike | undefined =>
  (globalThis as unknown as Record<string, ArrayConstructorLike | undefined>)[name];

/** The class name of a typed array; undefined for other values and for derived classes. */
export const typedArrayName = (value: unknown): string | undefined =>
  types.isTypedArray(value)
    ? arrayTypeNames.find((name) => arrayConstructor(name)?.prototype === Object.getPrototypeOf(value))
    : undefined;

function encodeArray(array: NodeJS.TypedArray, name: string): Uint8Array {
  const bytes = Buffer.alloc(8 + array.byteLength);
  bytes.write(arrayMagic, 'latin1');
  bytes[7] = arrayTypeNames.indexOf(name);
  bytes.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength), 8);
  return bytes;
}

function decodeArray(bytes: Uint8Array): unknown {
  const name = arrayTypeNames[bytes[7] ?? -1] ?? '';
  const make = arrayConstructor(name);
  if (!make || Buffer.from(bytes.subarray(0, 7)).toString('latin1') !== arrayMagic)
    throw new FairleadError('cache/damaged', 'This is not a stored array.', { blame: 'store' });
  const copy = new Uint8Array(bytes.subarray(8)).buffer;
  return name === 'Buffer' ? Buffer.from(copy) : new make(copy);
}

const structuredPrototypes = new Set<object>([Map.prototype, Set.prototype, Date.prototype, ArrayBuffer.prototype]);

/** Whether JSON or V8 serialization preserves a value; undefined if neither does. Visits every nested value without recursion. */
function storageFormOf(value: unknown): 'json' | 'v8' | undefined {
  let form: 'json' | 'v8' = 'json';
  const seen = new Set<object>();
  const todo: unknown[] = [value];
  while (todo.length) {
    const item = todo.pop();
    if (item === null || typeof item === 'string' || typeof item === 'boolean') continue;
    if (typeof item === 'function' || typeof item === 'symbol') return undefined;
    if (typeof item === 'number' && Number.isFinite(item) && !Object.is(item, -0)) continue;
    if (typeof item !== 'object') form = 'v8';
    else if (seen.has(item)) form = 'v8';
    else {
      seen.add(item);
      const found = inspectItem(item, todo);
      if (!found) return undefined;
      if (found === 'v8') form = 'v8';
    }
  }
  return form;
}

function inspectItem(item: object, todo: unknown[]): 'json' | 'v8' | undefined {
  if (types.isProxy(item)) return undefined;
  const kind: unknown = Object.getPrototypeOf(item);
  const keys = Object.keys(item);
  const hidden = Reflect.ownKeys(item).length - keys.length;
  if (Array.isArray(item)) {
    for (const each of item) todo.push(each);
    if (kind !== Array.prototype || hidden !== 1) return undefined;
    // Index keys come first and in order, so the last key shows whether all of them exist.
    return keys.length === item.length && (keys.at(-1) ?? '-1') === String(item.length - 1) ? 'json' : 'v8';
  }
  if (kind === Object.prototype || kind === null) {
    const fields = item as Record<string, unknown>;
    for (const key of keys) todo.push(fields[key]);
    return hidden ? undefined : 'json';
  }
  if (typedArrayName(item)) return 'v8';
  if (!structuredPrototypes.has(kind as object) || keys.length || hidden) return undefined;
  if (item instanceof Map) for (const [key, each] of item) todo.push(key, each);
  else if (item instanceof Set) for (const each of item) todo.push(each);
  return 'v8';
}
