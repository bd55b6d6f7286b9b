// The queue of lines for the model: one live note a key, safety first, groups together, shown at the tail as far as there is room.
import type { Note } from './fact.ts';
import { isObject } from './json.ts';
import type { TextPart } from './message.ts';
import { escapeReminderTags } from './untrusted-text.ts';
import { estimateTokens } from './tokens.ts';

/** From this priority on a note is about safety: no allowance holds it back. */
export const SAFETY_PRIORITY = 100;

/** Tells a note from whatever else a user's code may give. */
export const isNote = (value: unknown): value is Note =>
  isObject(value) &&
  typeof value['key'] === 'string' &&
  typeof value['text'] === 'string' &&
  (value['priority'] === undefined || Number.isFinite(value['priority'])) &&
  (value['group'] === undefined || typeof value['group'] === 'string') &&
  (value['until'] === undefined || Number.isFinite(value['until']));

/** The queue with a note added; a later note of the same key takes the place of the earlier. */
export const enqueueNote = (queue: readonly Note[], note: Note): readonly Note[] => [
  ...queue.filter((each) => each.key !== note.key),
  note,
];

/** Whether a note may still be shown when this turn begins. */
export const isNoteActive = ({ until }: Note, turn: number): boolean => until === undefined || turn <= until;

/** The queue in the order it is shown: higher priority first, then the order of arrival; a group stands where its first note does. */
export function sortNotes(queue: readonly Note[]): readonly Note[] {
  const sorted = queue.toSorted((a, b) => (b.priority ?? 0) - (a.priority ?? 0));
  const groups = Map.groupBy(sorted, ({ group }, i) => group ?? i);
  return groups.size === sorted.length ? sorted : [...groups.values()].flat();
}

/** What a turn shows of the queue: in order, what has not expired, as far as the allowance of tokens goes. Safety passes, and so does the first note, or one that is too long would wait for ever. */
export function selectNotes(queue: readonly Note[], turn: number, allowance: number): readonly Note[] {
  let room = allowance;
  return sortNotes(queue.filter((note) => isNoteActive(note, turn))).filter((note, i) => {
    const cost = estimateTokens(note.text);
    const passes = i === 0 || (note.priority ?? 0) >= SAFETY_PRIORITY || cost <= room;
    if (passes) room -= cost;
    return passes;
  });
}

/** The queue without what a turn showed; a newer note of the same key stays. */
export const removeShownNotes = (queue: readonly Note[], shown: readonly Note[]): readonly Note[] =>
  shown.length
    ? queue.filter((each) => !shown.some((note) => note.key === each.key && note.text === each.text))
    : queue;

/** Notes as the model reads them: one text, each note in a tag of its own, those of a group in one. */
export function renderNotes(notes: readonly Note[], nonce = ''): readonly TextPart[] {
  if (notes.length === 0) return [];
  const groups = Map.groupBy(notes, ({ group, key }, i) => (group === undefined ? `${i} ${key}` : ` ${group}`));
  const tags = [...groups.values()].map((group) => renderNoteGroup(group, nonce));
  return [{ type: 'text', text: tags.join('\n') }];
}

/** Some of a note may come from outside: it must not end its tag and speak as another. */
function renderNoteGroup(notes: readonly Note[], nonce: string): string {
  const name = (notes[0]?.group ?? notes[0]?.key ?? '').replaceAll(/["<>\s]/g, '_');
  const words = escapeReminderTags(notes.map(({ text }) => text).join('\n'));
  return `<system-reminder name="${name}"${nonce ? ` nonce="${nonce}"` : ''}>\n${words}\n</system-reminder>`;
}

const noteTags = /<system-reminder name="([^"]*)"(?: nonce="[^"]*")?>\n([^]*?)\n<\/system-reminder>(?:\n|$)/g;

/** The notes of a text that `partDeltaText` made, a group as one; nothing where it is anything else. */
export function parseNotes(text: string): readonly Note[] | undefined {
  const notes: Note[] = [];
  let at = 0;
  for (const found of text.matchAll(noteTags)) {
    if (found.index !== at) return undefined;
    at += found[0].length;
    notes.push({ key: found[1] ?? '', text: found[2] ?? '' });
  }
  return at > 0 && at === text.length ? notes : undefined;
}
