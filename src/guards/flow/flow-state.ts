// The state of the flow policy in a session: texts of the user, trusted values, texts of third parties with their source, approvals and refusals. It only grows, and older states stay valid.
import { canonicalJson } from '../../core/index.ts';
import { callAnswer, FlowMemory, valueAnswer, type FlowEntry, type UntrustedText } from './flow-memory.ts';
import { nextEffect, type LatestEffect } from './latest-effect.ts';
import { normalizeText } from './normalize-text.ts';
import type { RecordChoice } from './record-choices.ts';
import type { RecordFields } from './trusted-records.ts';
import { splitRuns } from './whole-values.ts';
import type { FlowCall, FlowSource } from './types.ts';

export { valueTokens } from './normalize-text.ts';
export type { FlowEntry } from './flow-memory.ts';

/** Identifies a call by its tool and its input. */
export const callKey = ({ tool, input }: Pick<FlowCall, 'tool' | 'input'>): string => `${tool} ${canonicalJson(input)}`;

/** What the configuration says about the user. */
export type FlowStateOptions = {
  /** Values that identify the user, such as an address. */
  readonly own?: readonly string[];
  /** Folders that the user works in; the first one is the working directory. A path inside counts as written by the user. */
  readonly roots?: readonly string[];
  /** Whether a text has a value that was marked private. */
  readonly isPrivateText?: (text: string) => boolean;
};

/** What a state has of the memory of its session. */
type Contents = {
  readonly memory: FlowMemory;
  /** How many entries, texts of the user, trusted values and untrusted texts this state has. */
  readonly counts: {
    readonly entries: number;
    readonly user: number;
    readonly trusted: number;
    readonly trustedRuns: number;
    readonly untrusted: number;
  };
  readonly latestEffect: LatestEffect | undefined;
  readonly privateSources: readonly FlowSource[];
};

/** The state at one moment of a session. Immutable: `add` returns the next one. */
export class FlowState {
  #known: Contents | undefined;
  readonly #read: (() => FlowState) | undefined;
  readonly #own: ReadonlySet<string>;
  /** The options with which it was created. */
  readonly options: FlowStateOptions;

  private constructor(options: FlowStateOptions, own: ReadonlySet<string>, contents: Contents | (() => FlowState)) {
    this.options = options;
    this.#own = own;
    if (typeof contents === 'function') this.#read = contents;
    else this.#known = contents;
  }

  /** Creates the state of a new session. */
  static create(options: FlowStateOptions = {}, entries: readonly FlowEntry[] = []): FlowState {
    const own = new Set(options.own?.map(normalizeText));
    return new FlowState(options, own, readContents(new FlowMemory(), undefined, [])).#extend(entries);
  }

  /** Creates a state with the options of this one for a session without answers of the user: `read` reads the session when more than the options is needed. */
  defer(read: () => FlowState): FlowState {
    return new FlowState(this.options, this.#own, read);
  }

  /** Returns the state with more entries. */
  add(...entries: readonly FlowEntry[]): FlowState {
    return this.#extend(entries);
  }

  #extend(entries: readonly FlowEntry[]): FlowState {
    if (entries.length === 0) return this;
    let memory = this.#memory;
    if (memory.entries.length !== this.#counts.entries) {
      // Another state went on from here, such as a fork: this one gets indexes of its own.
      memory = new FlowMemory();
      for (const entry of this.entries) memory.push(entry);
    }
    let { latestEffect } = this;
    let sources = this.privateSources;
    for (const entry of entries) {
      // A text that is there already adds nothing: a file that is read again must not take memory again.
      if (entry.type === 'untrusted' && memory.hasText(entry)) continue;
      if (entry.type === 'records' && memory.choices.has(entry.records)) continue;
      memory.push(entry);
      if (entry.type === 'effect')
        latestEffect = nextEffect(latestEffect, entry, memory.untrusted.count, memory.trusted.count);
      if (entry.type === 'private' && !sources.some(({ call }) => call === entry.source.call))
        sources = [...sources, entry.source];
    }
    return new FlowState(this.options, this.#own, readContents(memory, latestEffect, sources));
  }

  get #contents(): Contents {
    return (this.#known ??= (this.#read as () => FlowState)().#contents);
  }

  get #memory(): FlowMemory {
    return this.#contents.memory;
  }

  get #counts(): Contents['counts'] {
    return this.#contents.counts;
  }

  /** The latest effect; undefined if there was none. */
  get latestEffect(): LatestEffect | undefined {
    return this.#contents.latestEffect;
  }

  /** The sources of private data. */
  get privateSources(): readonly FlowSource[] {
    return this.#contents.privateSources;
  }

  /** All entries. */
  get entries(): readonly FlowEntry[] {
    return this.#memory.entries.slice(0, this.#counts.entries);
  }

  /** Whether a text of a third party was seen. */
  get hasUntrusted(): boolean {
    return this.#counts.untrusted > 0;
  }

  /** The texts of third parties. */
  get untrustedTexts(): readonly UntrustedText[] {
    return this.#memory.untrustedTexts.slice(0, this.#counts.untrusted);
  }

  /** How many characters of texts of third parties are not indexed yet. */
  get unindexedChars(): number {
    return this.#memory.untrusted.pendingChars;
  }

  /** Indexes a part of them. */
  indexPiece(): void {
    this.#memory.untrusted.indexPiece();
  }

  /** How many texts of third parties were searched for private data. */
  get searchedTexts(): number {
    return this.#memory.searched.texts;
  }

  /** How many characters were added after them. */
  get unsearchedChars(): number {
    return this.#memory.untrustedChars - this.#memory.searched.chars;
  }

  /** Notes that all texts of this state were searched. */
  noteSearched(): void {
    this.#memory.noteSearched(this.#counts.untrusted);
  }

  /** The texts of the user. */
  get userTexts(): readonly string[] {
    return this.#memory.userTexts.slice(0, this.#counts.user);
  }

  /** Whether the user wrote these tokens side by side. */
  isFromUser(tokens: readonly string[]): boolean {
    return this.#memory.user.find(tokens, this.#counts.user) !== undefined;
  }

  /** Whether the user wrote a value that is not part of a longer address. */
  isWholeFromUser(value: string): boolean {
    return this.#memory.userRuns.find(splitRuns(value), this.#counts.user) !== undefined;
  }

  /** Whether a value is a trusted field, or is in a trusted sentence and not part of a longer address there. */
  isWholeTrusted(value: string): boolean {
    return (
      this.isTrustedLeaf(value) ||
      this.#memory.trustedRuns.find(splitRuns(value), this.#counts.trustedRuns) !== undefined
    );
  }

  /** Whether a trusted value is known in a record with these fields, or without a choice among records. */
  isInRecord(value: string, of: RecordFields | undefined): boolean {
    return this.#memory.trustedRecords.has(normalizeText(value).trim(), of, this.#counts.entries);
  }

  /** Whether the user named the record of a trusted value, or there was no choice among several. */
  isNamed(value: string): boolean {
    const isTyped = (token: string): boolean => this.isFromUser([token]);
    return this.#memory.trustedRecords.isNamed(normalizeText(value).trim(), this.#counts.entries, isTyped);
  }

  /** Which record the user named, if a value is of one among several. */
  findChoice(value: string): RecordChoice | undefined {
    return this.#memory.choices.find(value, this.#counts.entries, (token) => this.isFromUser([token]));
  }

  /** Whether a trusted value is an address with this host. */
  isTrustedHost(host: string): boolean {
    return this.#isOwnEntry(this.#memory.trustedHosts.get(host));
  }

  /** Whether a trusted value has these tokens side by side. */
  isTrusted(tokens: readonly string[]): boolean {
    return this.#memory.trusted.find(tokens, this.#counts.trusted) !== undefined;
  }

  /** The first text of a third party that has these tokens side by side. */
  findUntrusted(tokens: readonly string[]): UntrustedText | undefined {
    const found = this.#memory.untrusted.find(tokens, this.#counts.untrusted);
    return found === undefined ? undefined : this.#memory.untrustedTexts[found];
  }

  /** Whether tokens occur in the session only since the latest effect ended. */
  isNewSinceEffect(tokens: readonly string[]): boolean {
    const { latestEffect } = this;
    if (!latestEffect) return false;
    const { untrusted, trusted } = this.#memory;
    const first = [
      [untrusted.find(tokens, this.#counts.untrusted), latestEffect.untrusted],
      [trusted.find(tokens, this.#counts.trusted), latestEffect.trusted],
    ] as const;
    const found = first.filter(([at]) => at !== undefined);
    return found.length > 0 && found.every(([at = 0, since]) => at >= since);
  }

  /** Whether a text is equal to a trusted value. */
  isTrustedLeaf(value: string): boolean {
    return this.#isOwnEntry(this.#memory.trustedLeaves.get(normalizeText(value).trim()));
  }

  /** Whether the user wrote an amount. */
  isUserAmount(amount: number): boolean {
    return this.#isOwnEntry(this.#memory.userAmounts.get(amount));
  }

  /** Whether a trusted value has an amount. */
  isTrustedAmount(amount: number): boolean {
    return this.#isOwnEntry(this.#memory.trustedAmounts.get(amount));
  }

  /** Whether a value identifies the user. */
  isOwnValue(value: string): boolean {
    return this.#own.has(normalizeText(value));
  }

  /** The user's answer about a call; undefined if there is none. */
  answerOfCall(call: FlowCall): boolean | undefined {
    return this.#hasAnswers ? this.#lastAnswer(callAnswer(callKey(call))) : undefined;
  }

  /** Whether the user approved a value in a role. */
  isApprovedValue(role: string, value: string): boolean {
    return this.#hasAnswers && this.#lastAnswer(valueAnswer(role, value)) === true;
  }

  /** Whether the user refused a value, in any role, and did not approve it since. */
  isRefusedValue(value: string): boolean {
    return this.#hasAnswers && this.#lastAnswer(valueAnswer('', value)) === false;
  }

  /** Whether tokens occur in a text of the user or in a trusted value. */
  isKnownToken(token: string): boolean {
    return this.isFromUser([token]) || this.isTrusted([token]);
  }

  get #hasAnswers(): boolean {
    return this.#read === undefined && this.#memory.answers.size > 0;
  }

  #lastAnswer(key: string): boolean | undefined {
    return this.#memory.answers.get(key)?.findLast(({ entry }) => entry < this.#counts.entries)?.isApproved;
  }

  #isOwnEntry(number: number | undefined): boolean {
    return number !== undefined && number < this.#counts.entries;
  }
}

const readContents = (
  memory: FlowMemory,
  latestEffect: LatestEffect | undefined,
  privateSources: readonly FlowSource[],
): Contents => ({
  memory,
  counts: {
    entries: memory.entries.length,
    user: memory.user.count,
    trusted: memory.trusted.count,
    trustedRuns: memory.trustedRuns.count,
    untrusted: memory.untrusted.count,
  },
  latestEffect,
  privateSources,
});
