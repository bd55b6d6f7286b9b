// What the flow policy keeps of a session: its entries, and indexes of them that the states of the session share.
import { listAmounts, listNumberWords } from './amounts.ts';
import { normalizeText, valueTokens } from './normalize-text.ts';
import { RecordChoices, type ListedRecord } from './record-choices.ts';
import { TokenIndex } from './token-index.ts';
import { TrustedRecords, type RecordFields } from './trusted-records.ts';
import { hostOf, splitRuns } from './whole-values.ts';
import type { FlowSource } from './types.ts';

/** Something that the policy keeps of a session. */
export type FlowEntry =
  | { readonly type: 'user'; readonly text: string }
  /** `isText`: it is a sentence of a tool, not a field. `of`: the fields of its record, if there were several records. */
  | { readonly type: 'trusted'; readonly text: string; readonly isText?: boolean; readonly of?: RecordFields }
  | { readonly type: 'untrusted'; readonly text: string; readonly source: FlowSource; readonly isPrivate?: boolean }
  | { readonly type: 'private'; readonly source: FlowSource }
  /** A list of records in a result that can be trusted. */
  | { readonly type: 'records'; readonly records: readonly ListedRecord[] }
  | {
      readonly type: 'approved' | 'refused';
      /** The key of the call. */
      readonly call: string;
      readonly values: readonly { readonly role: string; readonly value: string }[];
    }
  /** A call with an effect that was allowed or refused. `isConfirm`: it completed the effect before it. */
  | { readonly type: 'effect'; readonly isAllowed: boolean; readonly tool?: string; readonly isConfirm?: boolean };

/** A text of a third party. */
export type UntrustedText = FlowEntry & { readonly type: 'untrusted' };

/** The entries of a session and their indexes. States share it: a state knows how many of its entries are its own. */
export class FlowMemory {
  readonly entries: FlowEntry[] = [];
  readonly user: TokenIndex = new TokenIndex(false);
  /** The texts of the user by whole addresses and names. */
  readonly userRuns: TokenIndex = new TokenIndex(false, splitRuns);
  readonly trusted: TokenIndex = new TokenIndex(false);
  /** Trusted sentences by whole addresses and names. */
  readonly trustedRuns: TokenIndex = new TokenIndex(false, splitRuns);
  readonly untrusted: TokenIndex = new TokenIndex(true);
  readonly userTexts: string[] = [];
  readonly untrustedTexts: UntrustedText[] = [];
  readonly #texts = new Set<string>();
  /** How many characters the untrusted texts have, and how many of these texts were searched for private data. */
  untrustedChars = 0;
  searched: { readonly texts: number; readonly chars: number } = { texts: 0, chars: 0 };
  /** The number of the first entry that has a value. */
  readonly userAmounts: Map<number, number> = new Map();
  readonly trustedAmounts: Map<number, number> = new Map();
  readonly trustedLeaves: Map<string, number> = new Map();
  readonly trustedHosts: Map<string, number> = new Map();
  readonly trustedRecords: TrustedRecords = new TrustedRecords();
  readonly choices: RecordChoices = new RecordChoices();
  /** Approvals and refusals of a value or a call, in order. */
  readonly answers: Map<string, { readonly entry: number; readonly isApproved: boolean }[]> = new Map();

  /** Whether it has an untrusted text. */
  hasText({ text, isPrivate = false }: UntrustedText): boolean {
    return this.#texts.has(text) && !isPrivate;
  }

  /** Notes that the first texts of third parties were searched. */
  noteSearched(texts: number): void {
    if (texts <= this.searched.texts) return;
    const more = this.untrustedTexts.slice(this.searched.texts, texts);
    this.searched = { texts, chars: more.reduce((sum, { text }) => sum + text.length, this.searched.chars) };
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
        this.untrustedChars += entry.text.length;
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
      case 'records':
        this.choices.add(entry.records, number);
        break;
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

/** The key of the answers about a call. */
export const callAnswer = (key: string): string => `call ${key}`;
/** The key of the answers about a value in a role. */
export const valueAnswer = (role: string, value: string): string => `value ${role} ${normalizeText(value)}`;
