// An append-only index of texts by token: finds where a sequence of tokens occurs, in time that does not grow with the texts.
import { normalizeText, splitTokens } from './normalize-text.ts';

const chunkBits = 16;
const chunkSize = 1 << chunkBits;

/** A list of integers in typed arrays: a small one that grows, then one after the other of the same size, so that little memory is unused. */
class IntList {
  readonly #chunks: Int32Array[] = [new Int32Array(4)];
  length = 0;
  push(value: number): void {
    const at = this.length++;
    const offset = at & (chunkSize - 1);
    let chunk = this.#chunks[at >> chunkBits];
    if (chunk === undefined) this.#chunks.push((chunk = new Int32Array(chunkSize)));
    else if (offset === chunk.length) {
      const larger = new Int32Array(chunk.length * 2);
      larger.set(chunk);
      this.#chunks[at >> chunkBits] = chunk = larger;
    }
    chunk[offset] = value;
  }
  at(i: number): number {
    return this.#chunks[i >> chunkBits]?.[i & (chunkSize - 1)] ?? -1;
  }
  set(i: number, value: number): void {
    const chunk = this.#chunks[i >> chunkBits];
    if (chunk) chunk[i & (chunkSize - 1)] = value;
  }
}

/** Separates texts in the sequence of tokens, so that no match spans two texts. */
const boundary = -1;
const unknownToken = -2;
const none = -1;
/** Shorter parts of a text are copied when they are made. */
const maxCopiedChars = 12;
/** A sequence is compared at this many places at most: a text that repeats a token a million times must not make decisions slow. */
const maxComparisons = 20_000;

/** Texts by token. Texts have numbers in the order in which they were added; a search covers the first ones only, so that older states of a session can share an index. */
export class TokenIndex {
  /** Texts that were added after the last search. Most sessions search no text of a third party, so that a text is indexed by the first search after it. */
  readonly #pending: string[] = [];
  readonly #ids = new Map<string, number>();
  /** For each token: where it occurs first and last, and how often. */
  readonly #firsts = new IntList();
  readonly #lasts = new IntList();
  readonly #counts = new IntList();
  /** The tokens of all texts, and for each the next place of the same token. */
  readonly #sequence = new IntList();
  readonly #nexts = new IntList();
  readonly #starts = new IntList();
  readonly #isFoundByDefault: boolean;
  readonly #split: (normalized: string) => readonly string[];

  /** `isFoundByDefault`: whether tokens that occur at too many places to compare count as found. `split` splits a normalized text. */
  constructor(isFoundByDefault: boolean, split: (normalized: string) => readonly string[] = splitTokens) {
    this.#isFoundByDefault = isFoundByDefault;
    this.#split = split;
  }

  /** How many texts it has. */
  get count(): number {
    return this.#starts.length + this.#pending.length;
  }

  /** Adds a text. */
  add(text: string): void {
    this.#pending.push(text);
  }

  #index(text: string): void {
    this.#starts.push(this.#sequence.length);
    for (const token of this.#split(normalizeText(text))) this.#push(this.#ids.get(token) ?? this.#create(token));
    this.#sequence.push(boundary);
    this.#nexts.push(none);
  }

  #create(token: string): number {
    const id = this.#ids.size;
    // A part of a longer text keeps that text in memory.
    this.#ids.set(token.length > maxCopiedChars ? Buffer.from(token).toString() : token, id);
    this.#firsts.push(this.#sequence.length);
    this.#lasts.push(none);
    this.#counts.push(0);
    return id;
  }

  #push(id: number): void {
    const position = this.#sequence.length;
    const last = this.#lasts.at(id);
    if (last !== none) this.#nexts.set(last, position);
    this.#lasts.set(id, position);
    this.#counts.set(id, this.#counts.at(id) + 1);
    this.#sequence.push(id);
    this.#nexts.push(none);
  }

  /** The number of the first of the first `count` texts in which these tokens occur side by side; undefined if there is none. */
  find(tokens: readonly string[], count: number): number | undefined {
    if (tokens.length === 0 || count === 0) return undefined;
    for (const text of this.#pending.splice(0)) this.#index(text);
    const wanted = tokens.map((token) => this.#ids.get(token) ?? unknownToken);
    if (wanted.includes(unknownToken)) return undefined;
    let rarest = 0;
    for (const [i, id] of wanted.entries())
      if (this.#counts.at(id) < this.#counts.at(wanted[rarest] ?? unknownToken)) rarest = i;
    const end = count < this.count ? this.#starts.at(count) : this.#sequence.length;
    let position = this.#firsts.at(wanted[rarest] ?? unknownToken);
    for (let i = 0; position !== none && position < end; i++) {
      const first = position - rarest;
      if (i >= maxComparisons) return this.#isFoundByDefault ? this.#textAt(position) : undefined;
      if (first >= 0 && wanted.every((id, offset) => this.#sequence.at(first + offset) === id))
        return this.#textAt(first);
      position = this.#nexts.at(position);
    }
    return undefined;
  }

  /** The text that a position of the sequence belongs to. */
  #textAt(position: number): number {
    let [low, high] = [0, this.#starts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#starts.at(middle) <= position) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
