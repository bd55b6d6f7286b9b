// The records of trusted results: a value of one among several records says where an effect goes only if the user named its record.
import { isObject, type Json } from '../../core/index.ts';
import { normalizeText, splitTokens } from './normalize-text.ts';

/** The short fields of a record, by which a user can name it. */
export type RecordFields = readonly string[];

const maxFields = 8;
const maxFieldChars = 80;
const minNameChars = 3;

/** The fields of a value by which it can be named: those of an object that third parties do not write, or the value itself. */
export function listFields(value: Json, isUntrusted: (key: string) => boolean): RecordFields {
  const fields: readonly (readonly [string, Json])[] = isObject(value) ? Object.entries(value) : [['', value]];
  return fields
    .flatMap(([key, each]) =>
      typeof each === 'string' && each.length <= maxFieldChars && !each.includes('://') && !isUntrusted(key)
        ? [each]
        : [],
    )
    .slice(0, maxFields);
}

/** Trusted values with the records that they are in. */
export class TrustedRecords {
  /** Values that were no choice among several, by the number of their entry. */
  readonly #plain = new Map<string, number>();
  readonly #records = new Map<string, { readonly entry: number; readonly of: RecordFields }[]>();

  /** Adds a value of an entry; `of` is its record, if there were several. */
  add(value: string, of: RecordFields | undefined, entry: number): void {
    if (this.has(value, of, entry)) return;
    if (!of) {
      this.#plain.set(value, entry);
      return;
    }
    const list = this.#records.get(value);
    if (list) list.push({ entry, of });
    else this.#records.set(value, [{ entry, of }]);
  }

  /** Whether the entries before a number have a value in a record with these fields, or without a choice. */
  has(value: string, of: RecordFields | undefined, count: number): boolean {
    if ((this.#plain.get(value) ?? count) < count) return true;
    const key = of?.join('\n');
    return (
      of !== undefined &&
      this.#records.get(value)?.some((each) => each.entry < count && each.of.join('\n') === key) === true
    );
  }

  /** Whether a value was no choice among several, or a field of its record has a word that the user typed. */
  isNamed(value: string, count: number, isTyped: (token: string) => boolean): boolean {
    if ((this.#plain.get(value) ?? count) < count) return true;
    return (
      this.#records.get(value)?.some(({ entry, of }) => entry < count && of.some((field) => hasTyped(field))) === true
    );

    function hasTyped(field: string): boolean {
      // Many addresses have the same host: it names none of them.
      const [name = ''] = normalizeText(field).split('@');
      return splitTokens(name).some((token) => token.length >= minNameChars && isTyped(token));
    }
  }
}

const allWords =
  /(?<![\p{L}\p{N}])(?:all|every\p{L}*|each|both|alle[nrs]?|jede[nmrs]?|beide[nrs]?|tous|toutes|chaque|todos|todas|cada|ambos)(?![\p{L}\p{N}])/iu;

/** Whether a text asks for all of something, so that each is meant. */
export const asksForAll = (text: string): boolean => allWords.test(text);
