// The entries of the command palette, and which of them match what is typed.
import type { IconName } from '../text/icon-shapes.ts';

/** An entry: what it is called, to which group it belongs, and what it does. */
export type PaletteEntry = {
  readonly id: string;
  readonly group: string;
  readonly name: string;
  readonly icon: IconName;
  /** Further words that find it. */
  readonly words?: string;
  readonly hint?: string;
  readonly act: () => void;
};

/** Returns the entries that contain every typed word, those whose name starts with the text first. */
export function filterEntries(entries: readonly PaletteEntry[], typed: string): readonly PaletteEntry[] {
  const text = typed.trim().toLowerCase();
  if (text === '') return entries;
  const words = text.split(/\s+/);
  const matching = entries.filter(({ name, words: more = '', hint = '' }) => {
    const all = `${name} ${more} ${hint}`.toLowerCase();
    return words.every((word) => all.includes(word));
  });
  const rank = ({ name }: PaletteEntry): number => (name.toLowerCase().startsWith(text) ? 0 : 1);
  return matching.toSorted((a, b) => rank(a) - rank(b));
}
