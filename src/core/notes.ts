// The queue of notes (system reminders) for the model: one note per key, ordered by priority and group, appended to the request within a token limit.
import type { Note } from './fact.ts';
import { isObject } from './json.ts';
import type { TextPart } from './message.ts';
import { escapeReminderTags } from './untrusted-text.ts';
import { estimateTokens } from './tokens.ts';

/** Notes with at least this priority are about safety and ignore the token limit. */
export const SAFETY_PRIORITY = 100;

/** Returns true if a value is a note. */
export const isNote = (value: unknown): value is Note =>
  isObject(value) &&
  typeof value['key'] === 'string' &&
  typeof value['text'] === 'string' &&
  (value['priority'] === undefined || Number.isFinite(value['priority'])) &&
  (value['group'] === undefined || typeof value['group'] === 'string') &&
  (value['until'] === undefined || Number.isFinite(value['until']));

/** Adds a note to the queue; it replaces an older note with the same key. */
export const enqueueNote = (queue: readonly Note[], note: Note): readonly Note[] => [
  ...queue.filter((each) => each.key !== note.key),
  note,
];

/** Returns true if the note has not expired at this turn. */
export const isNoteActive = ({ until }: Note, turn: number): boolean => until === undefined || turn <= until;

/** Sorts the queue for display: higher priority first, then arrival; a group is placed at its first note. */
export function sortNotes(queue: readonly Note[]): readonly Note[] {
  const sorted = queue.toSorted((a, b) => (b.priority ?? 0) - (a.priority ?? 0));
  const groups = Map.groupBy(sorted, ({ group }, i) => group ?? i);
  return groups.size === sorted.length ? sorted : [...groups.values()].flat();
}

/** Selects the notes that a turn shows: unexpired notes in order, within the token limit. Safety notes and the first note always pass; otherwise a note over the limit would never be shown. */
export function selectNotes(queue: readonly Note[], turn: number, maxTokens: number): readonly Note[] {
  let remainingTokens = maxTokens;
  return sortNotes(queue.filter((note) => isNoteActive(note, turn))).filter((note, i) => {
    const cost = estimateTokens(note.text);
    const passes = i === 0 || (note.priority ?? 0) >= SAFETY_PRIORITY || cost <= remainingTokens;
    if (passes) remainingTokens -= cost;
    return passes;
  });
}

/** Removes the shown notes from the queue; a newer note with the same key stays. */
export const removeShownNotes = (queue: readonly Note[], shown: readonly Note[]): readonly Note[] =>
  shown.length
    ? queue.filter((each) => !shown.some((note) => note.key === each.key && note.text === each.text))
    : queue;

/** Formats notes for the model: one tag per note, one tag per group. */
export function renderNotes(notes: readonly Note[], nonce = ''): readonly TextPart[] {
  if (notes.length === 0) return [];
  const groups = Map.groupBy(notes, ({ group, key }, i) => (group === undefined ? `${i} ${key}` : ` ${group}`));
  const tags = [...groups.values()].map((group) => renderNoteGroup(group, nonce));
  return [{ type: 'text', text: tags.join('\n') }];
}

/** A note can contain untrusted text: it must not close its tag. */
function renderNoteGroup(notes: readonly Note[], nonce: string): string {
  const name = (notes[0]?.group ?? notes[0]?.key ?? '').replaceAll(/["<>\s]/g, '_');
  const content = escapeReminderTags(notes.map(({ text }) => text).join('\n'));
  return `<system-reminder name="${name}"${nonce ? ` nonce="${nonce}"` : ''}>\n${content}\n</system-reminder>`;
}

const noteTags = /<system-reminder name="([^"]*)"(?: nonce="([^"]*)")?>\n([^]*?)\n<\/system-reminder>(?:\n|$)/g;

/** Parses text that `renderNotes` made, a group as one note; undefined for any other text, and for text without one of the given nonces. */
export function parseNotes(text: string, nonces?: ReadonlySet<string>): readonly Note[] | undefined {
  const notes: Note[] = [];
  let end = 0;
  for (const match of text.matchAll(noteTags)) {
    if (match.index !== end || nonces?.has(match[2] ?? '') === false) return undefined;
    end += match[0].length;
    notes.push({ key: match[1] ?? '', text: match[3] ?? '' });
  }
  return end > 0 && end === text.length ? notes : undefined;
}
