// Writes the numbers and texts of protobuf into one growing buffer.

const two32 = 4_294_967_296;

/** The value of a hex digit by its code. Without a condition: the digits of an id are random, so that a processor cannot predict it. */
const toValue = (code: number): number => (code & 15) + (code >> 6) * 9;

/** The bytes of a length below 2^35. */
const countSizeBytes = (length: number): number =>
  length < 128 ? 1 : length < 16_384 ? 2 : length < 2_097_152 ? 3 : length < 268_435_456 ? 4 : 5;

/** A buffer that grows. */
export class ByteWriter {
  #buffer: Buffer;
  #at = 0;

  /** Starts with a buffer of so many bytes. */
  constructor(bytes = 65_536) {
    this.#buffer = Buffer.allocUnsafe(bytes);
  }

  /** The bytes written so far. */
  finish(): Buffer {
    return this.#buffer.subarray(0, this.#at);
  }

  /** Writes a whole number below 2^53 with seven bits in each byte. */
  writeSize(value: number): void {
    this.#reserve(8);
    let rest = value;
    for (; rest > 0x7fff_ffff; rest = Math.floor(rest / 128)) this.#buffer[this.#at++] = (rest % 128) | 128;
    for (; rest > 127; rest >>>= 7) this.#buffer[this.#at++] = (rest & 127) | 128;
    this.#buffer[this.#at++] = rest;
  }

  /** Writes a safe whole number of 64 bits with seven bits in each byte; a negative one takes ten bytes. */
  writeInteger(value: number): void {
    if (value >= 0) return this.writeSize(value);
    this.#reserve(10);
    let rest = BigInt.asUintN(64, BigInt(value));
    for (; rest > 127n; rest >>= 7n) this.#buffer[this.#at++] = Number(rest & 127n) | 128;
    this.#buffer[this.#at++] = Number(rest);
    return undefined;
  }

  /** Writes eight bytes of a whole number. */
  writeFixed64(value: string): void {
    this.#reserve(8);
    this.#at = this.#buffer.writeBigUInt64LE(BigInt(value), this.#at);
  }

  /** Writes milliseconds since 1970 as eight bytes of nanoseconds. The product has more bits than a number: it is computed in two parts. */
  writeNanos(ms: number): void {
    const whole = Math.floor(ms);
    const [high, low] = [Math.floor(whole / two32), whole >>> 0];
    const nanos = low * 1e6 + Math.round((ms - whole) * 1e6);
    this.writeFixed32(nanos >>> 0);
    this.writeFixed32((high * 1e6 + Math.floor(nanos / two32)) >>> 0);
  }

  /** Writes eight bytes of a number with a fraction. */
  writeDouble(value: number): void {
    this.#reserve(8);
    this.#at = this.#buffer.writeDoubleLE(value, this.#at);
  }

  /** Writes four bytes of a whole number. */
  writeFixed32(value: number): void {
    this.#reserve(4);
    for (let shift = 0; shift < 32; shift += 8) this.#buffer[this.#at++] = (value >>> shift) & 255;
  }

  /** Writes bytes as they are. */
  writeBytes(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#buffer.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  /** Writes the length of a text and its bytes. */
  writeText(text: string): void {
    this.#reserve(text.length * 3 + 5);
    const start = this.begin();
    this.#at += this.#buffer.write(text, start);
    this.end(start);
  }

  /** Writes the number of bytes that lower-case hex digits stand for, and those bytes. */
  writeHex(digits: string): void {
    const length = digits.length >> 1;
    this.writeSize(length);
    this.#reserve(length);
    for (let i = 0; i < length; i++)
      this.#buffer[this.#at++] = (toValue(digits.charCodeAt(2 * i)) << 4) | toValue(digits.charCodeAt(2 * i + 1));
  }

  /** Leaves space for the length of what follows: one byte, or two if at least 128 bytes are expected. Returns where it starts. */
  begin(space: 1 | 2 = 1): number {
    this.#reserve(space);
    this.#at += space;
    return this.#at;
  }

  /** Writes the length of what was written since `begin`, which left that space. */
  end(start: number, space: 1 | 2 = 1): void {
    const length = this.#at - start;
    if (space === 1 && length < 128) {
      this.#buffer[start - 1] = length;
      return;
    }
    // The content moves if the length needs another space.
    const needed = countSizeBytes(length);
    this.#reserve(needed);
    if (needed !== space) this.#buffer.copyWithin(start - space + needed, start, this.#at);
    this.#at = start - space;
    this.writeSize(length);
    this.#at += length;
  }

  /** Writes the length of what follows, and then that. */
  writeWithLength(write: () => void): void {
    const start = this.begin();
    write();
    this.end(start);
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#buffer.length) return;
    const grown = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#at + bytes));
    this.#buffer.copy(grown, 0, 0, this.#at);
    this.#buffer = grown;
  }
}
