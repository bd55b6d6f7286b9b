// An append-only index of texts by token: finds where a sequence of tokens occurs, in time that does not grow with the texts.
import { normalizeText, splitTokens } from './normalize-text.ts';

/** A list of integers that grows in one typed array. */
class IntList {
  #values = new Int32Array(4);
  length = 0;
  push(value: number): void {
    if (this.length === this.#values.length) {
      const larger = new Int32Array(this.length * 2);
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#values[this.length++] = value;
  }
  at(i: number): number {
    return this.#values[i] ?? -1;
  }
}

/** Separates texts in the sequence of tokens, so that no match spans two texts. */
const boundary = -1;
const unknownToken = -2;
/** A sequence is compared at this many places at most: a text that repeats a token a million times must not make decisions slow. */
const maxComparisons = 20_000;

/** Texts by token. Texts have numbers in the order in which they were added; a search covers the first ones only, so that older states of a session can share an index. */
export class TokenIndex {
  /** Texts that were added after the last search. Most sessions search no text of a third party, so that a text is indexed by the first search after it. */
  readonly #pending: string[] = [];
  readonly #ids = new Map<string, number>();
  readonly #positions: IntList[] = [];
  readonly #sequence = new IntList();
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
    for (const token of this.#split(normalizeText(text))) {
      let id = this.#ids.get(token);
      if (id === undefined) {
        id = this.#positions.length;
        this.#ids.set(token, id);
        this.#positions.push(new IntList());
      }
      this.#positions[id]?.push(this.#sequence.length);
      this.#sequence.push(id);
    }
    this.#sequence.push(boundary);
  }

  /** The number of the first of the first `count` texts in which these tokens occur side by side; undefined if there is none. */
  find(tokens: readonly string[], count: number): number | undefined {
    if (tokens.length === 0 || count === 0) return undefined;
    for (const text of this.#pending.splice(0)) this.#index(text);
    const wanted = tokens.map((token) => this.#ids.get(token) ?? unknownToken);
    if (wanted.includes(unknownToken)) return undefined;
    let rarest = 0;
    for (const [i, id] of wanted.entries())
      if (this.#occurrences(id) < this.#occurrences(wanted[rarest] ?? unknownToken)) rarest = i;
    const list = this.#positions[wanted[rarest] ?? unknownToken];
    const end = count < this.count ? this.#starts.at(count) : this.#sequence.length;
    for (let i = 0; i < (list?.length ?? 0); i++) {
      const position = list?.at(i) ?? end;
      const first = position - rarest;
      if (position >= end) return undefined;
      if (i >= maxComparisons) return this.#isFoundByDefault ? this.#textAt(position) : undefined;
      if (first >= 0 && wanted.every((id, offset) => this.#sequence.at(first + offset) === id))
        return this.#textAt(first);
    }
    return undefined;
  }

  #occurrences(id: number): number {
    return this.#positions[id]?.length ?? 0;
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
