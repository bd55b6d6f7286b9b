// The queue of lines for the model: one live note a key, safety first, shown together at the tail.
import type { Note } from './fact.ts';
import { isObject } from './json.ts';
import type { TextPart } from './message.ts';

/** Tells a note from whatever else a user's code may give. */
export const isNote = (value: unknown): value is Note =>
  isObject(value) &&
  typeof value['key'] === 'string' &&
  typeof value['text'] === 'string' &&
  (value['priority'] === undefined || Number.isFinite(value['priority']));

/** The queue with a note added; a later note of the same key takes the place of the earlier. */
export const enqueue = (queue: readonly Note[], note: Note): readonly Note[] => [
  ...queue.filter((each) => each.key !== note.key),
  note,
];

/** The queue in the order it is shown: higher priority first, then the order of arrival. */
export const inOrder = (queue: readonly Note[]): readonly Note[] =>
  queue.toSorted((a, b) => (b.priority ?? 0) - (a.priority ?? 0));

/** The queue without what a turn showed; a newer note of the same key stays. */
export const takeShown = (queue: readonly Note[], shown: readonly Note[]): readonly Note[] =>
  shown.length
    ? queue.filter((each) => !shown.some((note) => note.key === each.key && note.text === each.text))
    : queue;

/** Notes as the model reads them: one text, each note in its own tag. */
export const wordsOf = (notes: readonly Note[]): readonly TextPart[] =>
  notes.length ? [{ type: 'text', text: notes.map(tagged).join('\n') }] : [];

/** Some of a note may come from outside: it must not end its tag and speak as another. */
function tagged({ key, text }: Note): string {
  const name = key.replaceAll(/["<>\s]/g, '_');
  const words = text.replaceAll(/<(?=\/?system-reminder)/gi, '&lt;');
  return `<system-reminder name="${name}">\n${words}\n</system-reminder>`;
}

/** The notes of a text that `wordsOf` made; nothing where it is anything else. */
export function notesIn(text: string): readonly Note[] | undefined {
  const notes: Note[] = [];
  let at = 0;
  for (const found of text.matchAll(/<system-reminder name="([^"]*)">\n([^]*?)\n<\/system-reminder>(?:\n|$)/g)) {
    if (found.index !== at) return undefined;
    at += found[0].length;
    notes.push({ key: found[1] ?? '', text: found[2] ?? '' });
  }
  return at > 0 && at === text.length ? notes : undefined;
}
