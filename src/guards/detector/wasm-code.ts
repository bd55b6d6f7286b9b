// Builds the bytes of a small WebAssembly module from instructions that are lists of bytes. Only what the injection detector needs.

/** Instructions as bytes. */
export type Code = readonly number[];

/** A function of a module. Its locals are numbered in the order parameters, `ints`, `vectors`. */
export type WasmFunction = {
  readonly name: string;
  readonly parameters: readonly ValueType[];
  readonly ints: number;
  readonly vectors: number;
  readonly body: Code;
};

/** The types of parameters. */
export type ValueType = 'i32' | 'f32';

const typeCodes: Readonly<Record<ValueType | 'v128', number>> = { i32: 0x7f, f32: 0x7d, v128: 0x7b };

/** A whole number as LEB128; `isSigned` as a constant needs it. */
function encodeNumber(value: number, isSigned = false): Code {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>= 7) {
    const isLast = rest >> (isSigned ? 6 : 7) === 0;
    bytes.push((rest & 0x7f) | (isLast ? 0 : 0x80));
    if (isLast) return bytes;
  }
}

/** The value of a local. */
export const get = (local: number): Code => [0x20, ...encodeNumber(local)];
/** Sets a local. */
export const set = (local: number, value: Code): Code => [...value, 0x21, ...encodeNumber(local)];
/** A whole number that is not negative. */
export const int = (value: number): Code => [0x41, ...encodeNumber(value, true)];
/** The sum of whole numbers. */
export const addInt = (a: Code, b: Code): Code => [...a, ...b, 0x6a];
/** Runs a body at least once, and again while a local is below a number. */
export const repeatWhileBelow = (local: number, end: number, body: Code): Code => [
  0x03,
  0x40,
  ...body,
  ...get(local),
  ...int(end),
  0x49,
  0x0d,
  0x00,
  0x0b,
];
/** The whole number at an address. */
export const loadInt = (address: Code, offset: number): Code => [...address, 0x28, 2, ...encodeNumber(offset)];

const vector = (instruction: number): Code => [0xfd, ...encodeNumber(instruction)];
/** Four floats at an address. */
export const load = (address: Code, offset: number): Code => [...address, ...vector(0), 4, ...encodeNumber(offset)];
/** One float at an address, four times. */
export const loadSplat = (address: Code, offset: number): Code => [
  ...address,
  ...vector(9),
  2,
  ...encodeNumber(offset),
];
/** Writes four floats. */
export const store = (address: Code, offset: number, value: Code): Code => [
  ...address,
  ...value,
  ...vector(11),
  4,
  ...encodeNumber(offset),
];
/** A float, four times. */
export const splat = (value: Code): Code => [...value, ...vector(19)];
/** The float 0, four times. */
export const zeros: Code = splat([0x43, 0, 0, 0, 0]);
/** The sums of four floats each. */
export const add = (a: Code, b: Code): Code => [...a, ...b, ...vector(0xe4)];
/** The products of four floats each. */
export const multiply = (a: Code, b: Code): Code => [...a, ...b, ...vector(0xe6)];
/** The maxima of four floats each. */
export const max = (a: Code, b: Code): Code => [...a, ...b, ...vector(0xe9)];

const sized = (content: Code): Code => [...encodeNumber(content.length), ...content];
const list = (items: readonly Code[]): Code => [...encodeNumber(items.length), ...items.flat()];
const text = (name: string): Code => sized([...Buffer.from(name)]);
const section = (id: number, content: Code): Code => [id, ...sized(content)];

/** The magic number and version 1. */
const moduleHeader: Code = [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0];

/** The bytes of a module that imports its memory as `env.memory` and exports functions without results. */
export function buildModule(functions: readonly WasmFunction[]): Uint8Array<ArrayBuffer> {
  const types = functions.map(({ parameters }) => [0x60, ...list(parameters.map((type) => [typeCodes[type]])), 0]);
  const bodies = functions.map(({ ints, vectors, body }) =>
    sized([
      ...list([
        [...encodeNumber(ints), typeCodes.i32],
        [...encodeNumber(vectors), typeCodes.v128],
      ]),
      ...body,
      0x0b,
    ]),
  );
  return new Uint8Array([
    ...moduleHeader,
    ...section(1, list(types)),
    ...section(2, list([[...text('env'), ...text('memory'), 2, 0, 1]])),
    ...section(3, list(functions.map((_, i) => encodeNumber(i)))),
    ...section(7, list(functions.map(({ name }, i) => [...text(name), 0, ...encodeNumber(i)]))),
    ...section(10, list(bodies)),
  ]);
}
