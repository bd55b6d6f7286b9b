// Values that a user or a session marked private: found as they are, in any case, and in the encodings in which programs write them.
import { createRedactor } from '../redaction/redactor.ts';
import type { DlpFinding } from './types.ts';

/** The values that are marked private. They stay in the process. */
export type PrivateValues = {
  /** Marks a value; the name is what placeholders and audit facts show. Returns false for a value that is too short to be found safely. */
  add(name: string, value: string): boolean;
  find(text: string): readonly DlpFinding[];
  readonly size: number;
  /** The length of the longest value, in any form in which it is found. */
  readonly longest: number;
};

/** The maximum number of values that are searched for. */
export const maxPrivateValues = 1000;
const minPrivateChars = 3;
const maxPrivateChars = 10_000;

/** Creates the set of private values. It also finds those of `more`, to which values may be added later. */
export function createPrivateValues(
  values: Iterable<readonly [name: string, value: string]> = [],
  more?: PrivateValues,
): PrivateValues {
  const plain = new Map<string, string>();
  const compact = new Map<string, string>();
  const encoded = createRedactor();
  let longest = 0;
  const set: PrivateValues = {
    get longest() {
      return Math.max(longest, more?.longest ?? 0);
    },
    get size() {
      return plain.size + (more?.size ?? 0);
    },
    add(name, value) {
      const trimmed = value.trim();
      if (trimmed.length < minPrivateChars || trimmed.length > maxPrivateChars) return false;
      if (!plain.has(fold(trimmed)) && plain.size >= maxPrivateValues) return false;
      plain.set(fold(trimmed), name);
      const form = compactText(trimmed).text;
      if (form.length >= minCompactChars) compact.set(form, name);
      encoded.addSecret(name, trimmed);
      // Each character is at most `%xx` for each of its bytes.
      longest = Math.max(longest, 9 * trimmed.length);
      return true;
    },
    find(text) {
      const others = more?.find(text) ?? [];
      if (plain.size === 0) return others;
      const folded = fold(text);
      const found: DlpFinding[] = [...others, ...findCompact(text, compact)];
      for (const [value, kind] of plain)
        for (let from = folded.indexOf(value); from >= 0; from = folded.indexOf(value, from + value.length)) {
          const to = from + value.length;
          if (isWhole(folded, from, to)) found.push({ from, to, kind, category: 'private' });
        }
      for (const { from, to, kind } of encoded.findKnown(text)) found.push({ from, to, kind, category: 'private' });
      return found;
    },
  };
  for (const [name, value] of values) set.add(name, value);
  return set;
}

/** A value with fewer letters and digits would be found by chance once separators are left out. */
const minCompactChars = 6;
const separator = /[\s\p{P}\p{Cf}]/u;

/** The letters and digits of a text in lower case and compatibility form, and the place of each in the text. */
function compactText(text: string): { readonly text: string; readonly at: readonly number[] } {
  const at: number[] = [];
  let compacted = '';
  for (let i = 0; i < text.length; i += 1) {
    const character = text.charAt(i);
    if (separator.test(character)) continue;
    const form = character < '\u0080' ? character.toLowerCase() : character.normalize('NFKC').toLowerCase();
    compacted += form;
    for (let k = 0; k < form.length; k += 1) at.push(i);
  }
  return { text: compacted, at };
}

/** Finds values that are written with other separators, in other compatibility forms or with invisible characters. */
function findCompact(text: string, values: ReadonlyMap<string, string>): readonly DlpFinding[] {
  if (values.size === 0) return [];
  const { text: compacted, at } = compactText(text);
  const found: DlpFinding[] = [];
  for (const [value, kind] of values)
    for (let i = compacted.indexOf(value); i >= 0; i = compacted.indexOf(value, i + value.length)) {
      const from = at[i] ?? 0;
      const to = (at[i + value.length - 1] ?? 0) + 1;
      if (isWhole(text, from, to)) found.push({ from, to, kind, category: 'private' });
    }
  return found;
}

/** Lower case, of characters whose lower case has the same length, so that offsets stay. */
const fold = (text: string): string => {
  const lower = text.toLowerCase();
  return lower.length === text.length ? lower : text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
};

const isWhole = (text: string, from: number, to: number): boolean =>
  !(isWordAt(text, from - 1) && isWordAt(text, from)) && !(isWordAt(text, to - 1) && isWordAt(text, to));
const isWordAt = (text: string, at: number): boolean => /[\p{L}\p{N}]/u.test(text.charAt(at));
