// The lists of records in trusted results: finds out whether words of the user name a record among several.
import { createHash } from 'node:crypto';
import { isObject, type Json } from '../../core/index.ts';
import { normalizeText, splitTokens } from './normalize-text.ts';

/** A record of a list: its own values, and the texts of third parties in it. */
export type ListedRecord = { readonly values: readonly string[]; readonly texts?: readonly string[] };

/** Which record of a list the words of the user name: this one, another one, or none. */
export type RecordChoice = 'this' | 'another' | 'none';

const maxFields = 24;
/** A record is compared with so many others of its list at most, in so many lists. */
const maxCompared = 300;
const maxPlaces = 8;
const maxFieldChars = 80;
const minNameChars = 3;
/** Texts of third parties have many short words that users type too. */
const minTextChars = 4;

/** The records of a list; undefined if there is no choice among several. */
export function listRecords(
  items: readonly Json[],
  isUntrusted: (key: string) => boolean,
): readonly ListedRecord[] | undefined {
  if (items.length < 2) return undefined;
  return items.map((item) => {
    const [values, texts]: [string[], string[]] = [[], []];
    visit(item, false);
    return { values, ...(texts.length > 0 ? { texts } : {}) };

    function visit(value: Json, isText: boolean): void {
      const fields = isText ? texts : values;
      if (value === null || typeof value === 'boolean' || fields.length >= maxFields) return;
      if (Array.isArray(value)) for (const each of value) visit(each as Json, isText);
      else if (isObject(value))
        for (const [key, each] of Object.entries(value)) visit(each, isText || isUntrusted(key));
      else if (String(value).trim() !== '') fields.push(String(value).slice(0, maxFieldChars));
    }
  });
}

type Place = { readonly entry: number; readonly records: readonly ListedRecord[]; readonly at: number };
type IsTyped = (token: string) => boolean;

const toDigest = (records: readonly ListedRecord[]): string =>
  createHash('sha256').update(JSON.stringify(records)).digest('base64');

const toKey = (value: string): string => normalizeText(value).trim();

/** The lists of records of a session, by the values of their records. */
export class RecordChoices {
  readonly #places = new Map<string, Place[]>();
  readonly #lists = new Set<string>();

  /** Whether it has a list. */
  has(records: readonly ListedRecord[]): boolean {
    return this.#lists.has(toDigest(records));
  }

  /** Adds the records of an entry. */
  add(records: readonly ListedRecord[], entry: number): void {
    this.#lists.add(toDigest(records));
    for (const [at, { values }] of records.entries())
      for (const key of new Set(values.map(toKey))) {
        const places = this.#places.get(key);
        if (places) places.push({ entry, records, at });
        else this.#places.set(key, [{ entry, records, at }]);
      }
  }

  /** Which record the user named, where the entries before a number have a value in one of several; undefined if they do not. */
  find(value: string, count: number, isTyped: IsTyped): RecordChoice | undefined {
    const key = toKey(value);
    const places = this.#places.get(key)?.filter(({ entry }) => entry < count) ?? [];
    const found = places.slice(-maxPlaces).flatMap(({ records, at }) => {
      const compared = records.filter((_, i) => i === at || i < maxCompared);
      // A value that each record has is no choice.
      if (compared.every(({ values }) => values.some((each) => toKey(each) === key))) return [];
      return [chooseRecord(compared, Math.min(at, compared.length - 1), isTyped)];
    });
    if (found.length === 0) return undefined;
    return found.includes('this') ? 'this' : found.includes('another') ? 'another' : 'none';
  }
}

function chooseRecord(records: readonly ListedRecord[], at: number, isTyped: IsTyped): RecordChoice {
  const names = records.map(({ values }) => listTyped(values, minNameChars, isTyped));
  const [first = new Set<string>()] = names;
  // A word that all records have names none of them.
  const common = [...first].filter((token) => names.every((each) => each.has(token)));
  for (const each of names) for (const token of common) each.delete(token);
  const own = names[at] ?? first;
  // Another record that has the same words and more is the one that is meant.
  if (own.size > 0) return names.some((each) => each.size > own.size && own.isSubsetOf(each)) ? 'another' : 'this';
  if (names.some((each) => each.size > 0)) return 'another';
  // A third party can write the words of the user into a text, but cannot remove them from another record: the record must be the only one.
  const texts = records.map(({ texts: each = [] }) => each);
  const full = texts.map((each) => each.some((text) => isTypedText(text, isTyped)));
  const isOnly = (each: readonly boolean[]): boolean =>
    each[at] === true && each.indexOf(true) === each.lastIndexOf(true);
  if (full.includes(true)) return isOnly(full) ? 'this' : 'another';
  return isOnly(texts.map((each) => listTyped(each, minTextChars, isTyped).size > 0)) ? 'this' : 'none';
}

/** The words of texts that the user typed. */
const listTyped = (texts: readonly string[], minChars: number, isTyped: IsTyped): Set<string> =>
  new Set(texts.flatMap(toTokens).filter((token) => token.length >= minChars && isTyped(token)));

/** Whether the user typed each longer word of a text. */
function isTypedText(text: string, isTyped: IsTyped): boolean {
  const tokens = toTokens(text).filter((token) => token.length >= minTextChars);
  return tokens.length > 0 && tokens.every(isTyped);
}

const toTokens = (text: string): readonly string[] => splitTokens(normalizeText(text));
