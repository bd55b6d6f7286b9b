// Finds the raw slices of a JSON text: the bytes of each object value and list element, without parsing and writing them again.

/** A range of bytes. */
export type ByteSlice = { readonly start: number; readonly end: number };

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;

/** Returns the values of the object that begins at `from`, by their keys, in order. Text that is not JSON is skipped. */
export function objectMembers(bytes: Uint8Array, from = 0): ReadonlyMap<string, ByteSlice> {
  const found = new Map<string, ByteSlice>();
  let at = skipSpace(bytes, from);
  if (bytes[at] !== 0x7b) return found;
  for (at = skipSpace(bytes, at + 1); bytes[at] === quote;) {
    const keyEnd = stringEnd(bytes, at);
    const key = parseKey(bytes, at, keyEnd);
    at = skipSpace(bytes, keyEnd);
    if (bytes[at] !== colon) return found;
    const start = skipSpace(bytes, at + 1);
    const end = valueEnd(bytes, start);
    found.set(key, { start, end });
    at = skipSpace(bytes, end);
    if (bytes[at] !== comma) return found;
    at = skipSpace(bytes, at + 1);
  }
  return found;
}

/** Returns the elements of the list that begins at `from`. */
export function arrayElements(bytes: Uint8Array, from = 0): readonly ByteSlice[] {
  const found: ByteSlice[] = [];
  let at = skipSpace(bytes, from);
  if (bytes[at] !== 0x5b) return found;
  at = skipSpace(bytes, at + 1);
  while (at < bytes.length && bytes[at] !== 0x5d) {
    const end = valueEnd(bytes, at);
    if (end === at) return found;
    found.push({ start: at, end });
    at = skipSpace(bytes, end);
    if (bytes[at] !== comma) return found;
    at = skipSpace(bytes, at + 1);
  }
  return found;
}

function parseKey(bytes: Uint8Array, start: number, end: number): string {
  const raw = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString();
  try {
    return String(JSON.parse(raw));
  } catch {
    return raw;
  }
}

function skipSpace(bytes: Uint8Array, from: number): number {
  let at = from;
  for (let byte = bytes[at]; byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09; byte = bytes[at]) at++;
  return at;
}

/** Returns the position after the string that begins at `from`. */
function stringEnd(bytes: Uint8Array, from: number): number {
  for (let at = from + 1; ;) {
    const end = bytes.indexOf(quote, at);
    if (end < 0) return bytes.length;
    let slashes = 0;
    while (bytes[end - 1 - slashes] === backslash) slashes++;
    if (slashes % 2 === 0) return end + 1;
    at = end + 1;
  }
}

/** Returns the position after the value that begins at `from`. */
function valueEnd(bytes: Uint8Array, from: number): number {
  const first = bytes[from];
  if (first === quote) return stringEnd(bytes, from);
  if (first !== 0x7b && first !== 0x5b) {
    let at = from;
    while (at < bytes.length && !isValueEnd(bytes[at])) at++;
    return at;
  }
  let depth = 0;
  for (let at = from; at < bytes.length;) {
    const byte = bytes[at];
    if (byte === quote) {
      at = stringEnd(bytes, at);
      continue;
    }
    at++;
    if (byte === 0x7b || byte === 0x5b) depth++;
    else if ((byte === 0x7d || byte === 0x5d) && --depth === 0) return at;
  }
  return bytes.length;
}

const isValueEnd = (byte: number | undefined): boolean =>
  byte === comma || byte === 0x5d || byte === 0x7d || byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
