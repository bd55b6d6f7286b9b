// Lists of integers in typed arrays: a small array that grows, then one after the other of the same size, so that little memory is unused.

const chunkBits = 16;
const chunkSize = 1 << chunkBits;
const chunkMask = chunkSize - 1;

/** A list of pairs of 32-bit integers. The two of a pair are side by side in memory. */
export class PairList {
  readonly #chunks: Int32Array[] = [];
  #last = new Int32Array(8);
  length = 0;

  constructor() {
    this.#chunks.push(this.#last);
  }

  /** Adds a pair at the end. */
  push(first: number, second: number): void {
    const offset = (this.length++ & chunkMask) * 2;
    if (offset === this.#last.length || (offset === 0 && this.length > 1)) this.#grow(offset);
    this.#last[offset] = first;
    this.#last[offset + 1] = second;
  }

  #grow(offset: number): void {
    const larger = new Int32Array(offset === 0 ? chunkSize * 2 : offset * 2);
    if (offset > 0) {
      larger.set(this.#last);
      this.#chunks.pop();
    }
    this.#chunks.push(larger);
    this.#last = larger;
  }

  /** The first of the pair at a place; -1 if there is none. */
  first(i: number): number {
    return this.#chunks[i >> chunkBits]?.[(i & chunkMask) * 2] ?? -1;
  }

  /** The second of the pair at a place; -1 if there is none. */
  second(i: number): number {
    return this.#chunks[i >> chunkBits]?.[(i & chunkMask) * 2 + 1] ?? -1;
  }

  /** Replaces the second of the pair at a place. */
  setSecond(i: number, value: number): void {
    const chunk = this.#chunks[i >> chunkBits];
    if (chunk) chunk[(i & chunkMask) * 2 + 1] = value;
  }
}

/** A list of records of 32-bit integers in one array. */
export class RecordList {
  /** The records, one after the other; replaced when it grows. */
  values: Int32Array;
  length = 0;
  readonly #fields: number;

  constructor(fields: number) {
    this.#fields = fields;
    this.values = new Int32Array(fields * 4);
  }

  /** Adds a record of zeros, and returns where its fields start. */
  add(): number {
    const at = this.length++ * this.#fields;
    if (at + this.#fields > this.values.length) {
      const larger = new Int32Array(Math.ceil(this.values.length * 1.5) + this.#fields);
      larger.set(this.values);
      this.values = larger;
    }
    return at;
  }
}
