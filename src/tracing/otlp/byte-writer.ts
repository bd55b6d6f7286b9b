// Writes the numbers and texts of protobuf into one growing buffer.

/** A buffer that grows. */
export class ByteWriter {
  #buffer = Buffer.allocUnsafe(65_536);
  #at = 0;

  /** The bytes written so far. */
  finish(): Buffer {
    return this.#buffer.subarray(0, this.#at);
  }

  /** Writes a number of at most 31 bits with seven bits in each byte. */
  writeSize(value: number): void {
    this.#reserve(5);
    let rest = value;
    for (; rest > 127; rest >>>= 7) this.#buffer[this.#at++] = (rest & 127) | 128;
    this.#buffer[this.#at++] = rest;
  }

  /** Writes a number of at most 64 bits with seven bits in each byte. */
  writeVarint(value: bigint): void {
    if (value < 0x8000_0000n) return this.writeSize(Number(value));
    this.#reserve(10);
    let rest = value;
    for (; rest > 127n; rest >>= 7n) this.#buffer[this.#at++] = Number(rest & 127n) | 128;
    this.#buffer[this.#at++] = Number(rest);
    return undefined;
  }

  /** Writes eight bytes of a whole number. */
  writeFixed64(value: string): void {
    this.#reserve(8);
    this.#at = this.#buffer.writeBigUInt64LE(BigInt(value), this.#at);
  }

  /** Writes eight bytes of a number with a fraction. */
  writeDouble(value: number): void {
    this.#reserve(8);
    this.#at = this.#buffer.writeDoubleLE(value, this.#at);
  }

  /** Writes four bytes of a whole number. */
  writeFixed32(value: number): void {
    this.#reserve(4);
    this.#at = this.#buffer.writeUInt32LE(value, this.#at);
  }

  /** Writes the bytes of a text. */
  writeText(text: string, encoding: 'utf8' | 'hex'): void {
    this.#reserve(text.length * 3);
    this.#at += this.#buffer.write(text, this.#at, encoding);
  }

  /** Writes the length of what follows, and then that. */
  writeWithLength(write: () => void): void {
    this.#reserve(1);
    const start = ++this.#at;
    write();
    const length = this.#at - start;
    // One byte is enough for most; the content moves if the length needs more.
    const extra =
      (length > 127 ? 1 : 0) +
      (length > 16_383 ? 1 : 0) +
      (length > 2_097_151 ? 1 : 0) +
      (length > 268_435_455 ? 1 : 0);
    this.#reserve(extra);
    if (extra > 0) this.#buffer.copyWithin(start + extra, start, this.#at);
    this.#at = start - 1;
    this.writeSize(length);
    this.#at += length;
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#buffer.length) return;
    const grown = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#at + bytes));
    this.#buffer.copy(grown, 0, 0, this.#at);
    this.#buffer = grown;
  }
}
