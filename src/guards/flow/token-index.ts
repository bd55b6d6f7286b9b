// An append-only index of texts by token: finds where a sequence of tokens occurs, in time that does not grow with the texts.
import { PairList, RecordList } from './int-list.ts';
import { normalizeText } from './normalize-text.ts';
import { findCut } from './text-pieces.ts';
import { noToken, TokenTable } from './token-table.ts';
import { TokenScanner } from './token-scanner.ts';

/** Separates texts in the sequence of tokens, so that no match spans two texts. */
const boundary = -1;
const none = -1;
/** A sequence is compared at this many places at most: a text that repeats a token a million times must not make decisions slow. */
const maxComparisons = 20_000;
/** The fields of the record of a token: its first place, its last place, how often it occurs. */
const tokenFields = 3;
const lastField = 1;
const countField = 2;
/** So many characters are indexed at a time, in a few milliseconds. */
const defaultPieceChars = 1 << 16;
/** Texts that are indexed are released in groups. */
const maxDone = 1000;

/** Texts by token. Texts have numbers in the order in which they were added; a search covers the first ones only, so that older states of a session can share an index. */
export class TokenIndex {
  /** Texts that were added after the last search. Most sessions search no text of a third party, so that a text is indexed by the first search after it. */
  readonly #pending: string[] = [];
  #pendingChars = 0;
  /** How many of the pending texts are indexed, and how many characters of the next one. */
  #done = 0;
  #offset = 0;
  readonly #table = new TokenTable();
  readonly #scanner: TokenScanner = new TokenScanner(this.#table, (id) => {
    this.#push(id);
  });
  /** For each token: where it occurs first and last, and how often. */
  readonly #records = new RecordList(tokenFields);
  /** The tokens of all texts, and for each the next place of the same token. */
  readonly #sequence = new PairList();
  /** Where the texts start that are indexed. */
  readonly #starts = new RecordList(1);
  readonly #isFoundByDefault: boolean;
  readonly #split: ((normalized: string) => readonly string[]) | undefined;
  readonly #pieceChars: number;

  /** `isFoundByDefault`: whether tokens that occur at too many places to compare count as found. `split` splits a normalized text in another way. */
  constructor(
    isFoundByDefault: boolean,
    split?: (normalized: string) => readonly string[],
    pieceChars: number = defaultPieceChars,
  ) {
    this.#pieceChars = pieceChars;
    this.#isFoundByDefault = isFoundByDefault;
    this.#split = split;
  }

  /** How many texts it has. */
  get count(): number {
    return this.#complete + this.#pending.length - this.#done;
  }

  /** How many texts are indexed. */
  get #complete(): number {
    return this.#offset > 0 ? this.#starts.length - 1 : this.#starts.length;
  }

  /** How many characters are not indexed yet. */
  get pendingChars(): number {
    return this.#pendingChars;
  }

  /** Adds a text. */
  add(text: string): void {
    this.#pending.push(text);
    this.#pendingChars += text.length;
  }

  /** Indexes a part of the texts that were added. */
  indexPiece(): void {
    const text = this.#pending[this.#done];
    if (text === undefined) return;
    const from = this.#offset;
    const end = this.#split ? text.length : findCut(text, from, this.#pieceChars);
    if (from === 0) {
      const at = this.#starts.add();
      this.#starts.values[at] = this.#sequence.length;
    }
    if (this.#split) for (const token of this.#split(normalizeText(text))) this.#push(this.#table.add(token));
    else this.#scanner.scan(from === 0 && end === text.length ? text : text.slice(from, end));
    this.#pendingChars -= end - from;
    this.#offset = end;
    if (end === text.length) this.#endText();
  }

  #endText(): void {
    this.#scanner.end();
    this.#sequence.push(boundary, none);
    this.#offset = 0;
    this.#done += 1;
    if (this.#done < this.#pending.length && this.#done < maxDone) return;
    this.#pending.splice(0, this.#done);
    this.#done = 0;
  }

  #push(id: number): void {
    const position = this.#sequence.length;
    const isNew = id === this.#records.length;
    const at = isNew ? this.#records.add() : id * tokenFields;
    const { values } = this.#records;
    if (isNew) values[at] = position;
    else this.#sequence.setSecond(values[at + lastField] ?? none, position);
    values[at + lastField] = position;
    values[at + countField] = (values[at + countField] ?? 0) + 1;
    this.#sequence.push(id, none);
  }

  /** The number of the first of the first `count` texts in which these tokens occur side by side; undefined if there is none. */
  find(tokens: readonly string[], count: number): number | undefined {
    if (tokens.length === 0 || count === 0) return undefined;
    while (this.#complete < count && this.#pending.length > 0) this.indexPiece();
    const wanted = tokens.map((token) => this.#table.find(token));
    if (wanted.includes(noToken)) return undefined;
    let rarest = 0;
    for (const [i, id] of wanted.entries())
      if (this.#countOf(id) < this.#countOf(wanted[rarest] ?? noToken)) rarest = i;
    const end = count < this.#starts.length ? this.#startOf(count) : this.#sequence.length;
    let position = this.#records.values[(wanted[rarest] ?? 0) * tokenFields] ?? none;
    for (let i = 0; position !== none && position < end; i++) {
      const first = position - rarest;
      if (i >= maxComparisons) return this.#isFoundByDefault ? this.#textAt(position) : undefined;
      if (first >= 0 && wanted.every((id, offset) => this.#sequence.first(first + offset) === id))
        return this.#textAt(first);
      position = this.#sequence.second(position);
    }
    return undefined;
  }

  #countOf(id: number): number {
    return this.#records.values[id * tokenFields + countField] ?? 0;
  }

  #startOf(text: number): number {
    return this.#starts.values[text] ?? 0;
  }

  /** The text that a position of the sequence belongs to. */
  #textAt(position: number): number {
    let [low, high] = [0, this.#starts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#startOf(middle) <= position) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
