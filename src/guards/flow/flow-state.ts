// The state of the flow policy in a session: texts of the user, trusted values, texts of third parties with their source, approvals and refusals. It only grows, and older states stay valid.
import { canonicalJson } from '../../core/index.ts';
import { listAmounts, listNumberWords } from './amounts.ts';
import { nextEffect, type LatestEffect } from './latest-effect.ts';
import { normalizeText, splitTokens } from './normalize-text.ts';
import { TokenIndex } from './token-index.ts';
import { TrustedRecords, type RecordFields } from './trusted-records.ts';
import { hostOf, splitRuns } from './whole-values.ts';
import type { FlowCall, FlowSource } from './types.ts';

/** Something that the policy keeps of a session. */
export type FlowEntry =
  | { readonly type: 'user'; readonly text: string }
  /** `isText`: it is a sentence of a tool, not a field. `of`: the fields of its record, if there were several records. */
  | { readonly type: 'trusted'; readonly text: string; readonly isText?: boolean; readonly of?: RecordFields }
  | { readonly type: 'untrusted'; readonly text: string; readonly source: FlowSource; readonly isPrivate?: boolean }
  | { readonly type: 'private'; readonly source: FlowSource }
  | {
      readonly type: 'approved' | 'refused';
      /** The key of the call. */
      readonly call: string;
      readonly values: readonly { readonly role: string; readonly value: string }[];
    }
  /** A call with an effect that was allowed or refused. `isConfirm`: it completed the effect before it. */
  | { readonly type: 'effect'; readonly isAllowed: boolean; readonly tool?: string; readonly isConfirm?: boolean };

type Untrusted = FlowEntry & { readonly type: 'untrusted' };

/** The entries of a session and their indexes. States share it: a state knows how many of its entries are its own. */
class FlowMemory {
  readonly entries: FlowEntry[] = [];
  readonly user = new TokenIndex(false);
  /** The texts of the user by whole addresses and names. */
  readonly userRuns = new TokenIndex(false, splitRuns);
  readonly trusted = new TokenIndex(false);
  /** Trusted sentences by whole addresses and names. */
  readonly trustedRuns = new TokenIndex(false, splitRuns);
  readonly untrusted = new TokenIndex(true);
  readonly userTexts: string[] = [];
  readonly untrustedTexts: Untrusted[] = [];
  readonly #texts = new Set<string>();
  /** The number of the first entry that has a value. */
  readonly userAmounts = new Map<number, number>();
  readonly trustedAmounts = new Map<number, number>();
  readonly trustedLeaves = new Map<string, number>();
  readonly trustedHosts = new Map<string, number>();
  readonly trustedRecords = new TrustedRecords();
  /** Approvals and refusals of a value or a call, in order. */
  readonly answers = new Map<string, { readonly entry: number; readonly isApproved: boolean }[]>();

  /** Whether it has an untrusted text. */
  hasText({ text, isPrivate = false }: Untrusted): boolean {
    return this.#texts.has(text) && !isPrivate;
  }

  push(entry: FlowEntry): void {
    const number = this.entries.push(entry) - 1;
    switch (entry.type) {
      case 'user':
        this.user.add(entry.text);
        this.userRuns.add(entry.text);
        this.userTexts.push(entry.text);
        addFirst(this.userAmounts, [...listAmounts(entry.text), ...listNumberWords(valueTokens(entry.text))], number);
        break;
      case 'trusted':
        this.trusted.add(entry.text);
        if (entry.isText) this.trustedRuns.add(entry.text);
        addFirst(this.trustedAmounts, listAmounts(entry.text), number);
        addFirst(this.trustedLeaves, [normalizeText(entry.text).trim()], number);
        this.trustedRecords.add(normalizeText(entry.text).trim(), entry.of, number);
        if (entry.text.includes('://')) addFirst(this.trustedHosts, [hostOf(entry.text)], number);
        break;
      case 'untrusted':
        this.untrusted.add(entry.text);
        this.untrustedTexts.push(entry);
        this.#texts.add(entry.text);
        break;
      case 'approved':
      case 'refused': {
        const isApproved = entry.type === 'approved';
        this.#answer(callAnswer(entry.call), number, isApproved);
        for (const { role, value } of entry.values) {
          this.#answer(valueAnswer(role, value), number, isApproved);
          this.#answer(valueAnswer('', value), number, isApproved);
        }
        break;
      }
      case 'private':
      case 'effect':
    }
  }

  #answer(key: string, entry: number, isApproved: boolean): void {
    const list = this.answers.get(key);
    if (list) list.push({ entry, isApproved });
    else this.answers.set(key, [{ entry, isApproved }]);
  }
}

function addFirst<K>(map: Map<K, number>, keys: readonly K[], number: number): void {
  for (const key of keys) if (!map.has(key)) map.set(key, number);
}

const callAnswer = (key: string): string => `call ${key}`;
const valueAnswer = (role: string, value: string): string => `value ${role} ${normalizeText(value)}`;

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

/** The state at one moment of a session. Immutable: `add` returns the next one. */
export class FlowState {
  readonly #memory: FlowMemory;
  /** How many entries, texts of the user, trusted values and untrusted texts this state has. */
  readonly #counts: {
    readonly entries: number;
    readonly user: number;
    readonly trusted: number;
    readonly trustedRuns: number;
    readonly untrusted: number;
  };
  readonly #own: ReadonlySet<string>;
  /** The options with which it was created. */
  readonly options: FlowStateOptions;
  /** The latest effect; undefined if there was none. */
  readonly latestEffect: LatestEffect | undefined;
  /** The sources of private data. */
  readonly privateSources: readonly FlowSource[];

  private constructor(
    memory: FlowMemory,
    options: FlowStateOptions,
    own: ReadonlySet<string>,
    latestEffect: LatestEffect | undefined,
    privateSources: readonly FlowSource[],
  ) {
    this.#memory = memory;
    this.options = options;
    this.#own = own;
    this.latestEffect = latestEffect;
    this.privateSources = privateSources;
    this.#counts = {
      entries: memory.entries.length,
      user: memory.user.count,
      trusted: memory.trusted.count,
      trustedRuns: memory.trustedRuns.count,
      untrusted: memory.untrusted.count,
    };
  }

  /** Creates the state of a new session. */
  static create(options: FlowStateOptions = {}, entries: readonly FlowEntry[] = []): FlowState {
    const own = new Set(options.own?.map(normalizeText));
    return new FlowState(new FlowMemory(), options, own, undefined, []).add(...entries);
  }

  /** Returns the state with more entries. */
  add(...entries: readonly FlowEntry[]): FlowState {
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
      memory.push(entry);
      if (entry.type === 'effect')
        latestEffect = nextEffect(latestEffect, entry, memory.untrusted.count, memory.trusted.count);
      if (entry.type === 'private' && !sources.some(({ call }) => call === entry.source.call))
        sources = [...sources, entry.source];
    }
    return new FlowState(memory, this.options, this.#own, latestEffect, sources);
  }

  /** All entries. */
  get entries(): readonly FlowEntry[] {
    return this.#memory.entries.slice(0, this.#counts.entries);
  }

  /** Whether a text of a third party was seen. */
  get hasUntrusted(): boolean {
    return this.#counts.untrusted > 0;
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

  /** Whether a trusted value is an address with this host. */
  isTrustedHost(host: string): boolean {
    return this.#isOwnEntry(this.#memory.trustedHosts.get(host));
  }

  /** Whether a trusted value has these tokens side by side. */
  isTrusted(tokens: readonly string[]): boolean {
    return this.#memory.trusted.find(tokens, this.#counts.trusted) !== undefined;
  }

  /** The first text of a third party that has these tokens side by side. */
  findUntrusted(tokens: readonly string[]): Untrusted | undefined {
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
    return this.#memory.answers.size === 0 ? undefined : this.#lastAnswer(callAnswer(callKey(call)));
  }

  /** Whether the user approved a value in a role. */
  isApprovedValue(role: string, value: string): boolean {
    return this.#lastAnswer(valueAnswer(role, value)) === true;
  }

  /** Whether the user refused a value, in any role, and did not approve it since. */
  isRefusedValue(value: string): boolean {
    return this.#lastAnswer(valueAnswer('', value)) === false;
  }

  /** Whether tokens occur in a text of the user or in a trusted value. */
  isKnownToken(token: string): boolean {
    return this.isFromUser([token]) || this.isTrusted([token]);
  }

  #lastAnswer(key: string): boolean | undefined {
    return this.#memory.answers.get(key)?.findLast(({ entry }) => entry < this.#counts.entries)?.isApproved;
  }

  #isOwnEntry(number: number | undefined): boolean {
    return number !== undefined && number < this.#counts.entries;
  }
}

/** The tokens of a value as they are compared. */
export const valueTokens = (value: string): readonly string[] => splitTokens(normalizeText(value));
