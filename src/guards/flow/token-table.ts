// Numbers tokens in the order in which they were added. Tokens are UTF-8 bytes in one array with a hash table: a string for each one would take several times the memory and time.
import { RecordList } from './int-list.ts';

/** Texts of third parties are hashed: without a value that they do not know, they could choose tokens with equal hashes. */
export const hashSeed: number = Math.trunc(Math.random() * 0x1_0000_0000) | 0;

/** Adds a byte to the hash of a token; the hash of no bytes is `hashSeed`. */
export const hashByte = (hash: number, byte: number): number => {
  const mixed = Math.imul(hash ^ byte, 0x5b_d1_e9_95);
  return mixed ^ (mixed >>> 15);
};

/** A token that is not in the table. */
export const noToken = -1;

const encoder = new TextEncoder();

/** Tokens and their numbers. */
export class TokenTable {
  /** The hash of a token and its number plus one; 0 is free. At most three of four places are used. */
  #slots = new Int32Array(64);
  #mask = 31;
  #bytes = new Uint8Array(256);
  /** How many bytes complete tokens take, and a token that is not complete after them. */
  #used = 0;
  #tail = 0;
  readonly #ends = new RecordList(1);

  /** How many tokens it has. */
  get size(): number {
    return this.#ends.length;
  }

  /** Returns the number of a token; `noToken` if it has none. */
  find(token: string): number {
    const bytes = encoder.encode(token);
    const slot = this.#findSlot(bytes, 0, bytes.length, hashBytes(bytes));
    return (this.#slots[slot + 1] ?? 0) - 1;
  }

  /** Returns the number of a token; adds the token if it is new. */
  add(token: string): number {
    const bytes = encoder.encode(token);
    return this.addBytes(bytes, 0, bytes.length, hashBytes(bytes));
  }

  /** Returns the number of the token in a range of bytes; adds it if it is new. */
  addBytes(bytes: Uint8Array, from: number, to: number, hash: number): number {
    const slot = this.#findSlot(bytes, from, to, hash);
    const known = this.#slots[slot + 1] ?? 0;
    if (known > 0) return known - 1;
    this.#reserve(to - from);
    // A loop is faster than a copy of a few bytes by a function.
    for (let i = from, at = this.#used; i < to; i++, at++) this.#bytes[at] = bytes[i] ?? 0;
    return this.#commit(slot, to - from, hash);
  }

  /** Adds bytes to the token that is not complete. */
  extendTail(bytes: Uint8Array, from: number, to: number): void {
    this.#reserve(this.#tail + to - from);
    this.#bytes.set(bytes.subarray(from, to), this.#used + this.#tail);
    this.#tail += to - from;
  }

  /** Returns the number of the token that was not complete; adds it if it is new. */
  addTail(hash: number): number {
    const length = this.#tail;
    this.#tail = 0;
    const slot = this.#findSlot(this.#bytes, this.#used, this.#used + length, hash);
    const known = this.#slots[slot + 1] ?? 0;
    return known > 0 ? known - 1 : this.#commit(slot, length, hash);
  }

  #commit(slot: number, length: number, hash: number): number {
    this.#used += length;
    const at = this.#ends.add();
    this.#ends.values[at] = this.#used;
    this.#slots[slot] = hash;
    this.#slots[slot + 1] = this.size;
    if (this.size * 4 > this.#mask * 3) this.#growSlots();
    return this.size - 1;
  }

  /** The place of a token, or the free place where it belongs. */
  #findSlot(bytes: Uint8Array, from: number, to: number, hash: number): number {
    const slots = this.#slots;
    const mask = this.#mask;
    for (let slot = mixHash(hash) & mask; ; slot = (slot + 1) & mask) {
      const id = (slots[slot * 2 + 1] ?? 0) - 1;
      if (id < 0 || (slots[slot * 2] === hash && this.#equals(id, bytes, from, to))) return slot * 2;
    }
  }

  #equals(id: number, bytes: Uint8Array, from: number, to: number): boolean {
    const own = this.#bytes;
    const ends = this.#ends.values;
    let at = id === 0 ? 0 : (ends[id - 1] ?? 0);
    if ((ends[id] ?? 0) - at !== to - from) return false;
    for (let i = from; i < to; i++, at++) if (own[at] !== bytes[i]) return false;
    return true;
  }

  #growSlots(): void {
    const old = this.#slots;
    const slots = new Int32Array(old.length * 2);
    const mask = slots.length / 2 - 1;
    for (let at = 0; at < old.length; at += 2) {
      const [hash = 0, id = 0] = [old[at], old[at + 1]];
      if (id === 0) continue;
      let slot = mixHash(hash) & mask;
      while (slots[slot * 2 + 1] !== 0) slot = (slot + 1) & mask;
      slots[slot * 2] = hash;
      slots[slot * 2 + 1] = id;
    }
    this.#slots = slots;
    this.#mask = mask;
  }

  #reserve(more: number): void {
    const needed = this.#used + more;
    if (needed <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(needed, Math.ceil(this.#bytes.length * 1.5)));
    larger.set(this.#bytes);
    this.#bytes = larger;
  }
}

function hashBytes(bytes: Uint8Array): number {
  let hash = hashSeed;
  for (const byte of bytes) hash = hashByte(hash, byte);
  return hash;
}

const mixHash = (hash: number): number => {
  const mixed = Math.imul(hash ^ (hash >>> 16), 0x45_d9_f3_b5);
  return mixed ^ (mixed >>> 13);
};
