// Splits line-based files into one passage per line: records of a JSONL file, and the messages of a session log.
import { eventLineTexts, isObject } from '../../core/index.ts';
import { isModelLine, modelTitle } from '../conversations.ts';
import type { Passage } from '../types.ts';
import { maxPassageChars, splitText } from './split-text.ts';

/** Max characters of a record that are indexed. */
const maxRecordChars = 1_000_000;

/** The events of a session log that hold messages. */
const messageEvent = /"type":"(?:input-received|turn-ended|tool-ended)"/;
const speakers: readonly (readonly [RegExp, string])[] = [
  [/"type":"input-received"/, 'user'],
  [/"type":"turn-ended"/, modelTitle],
  [/"type":"tool-ended"/, 'tool'],
];

/** Whether the first line of a file is the header of a session log. */
export const isSessionLog = (text: string): boolean => /^\{"fairlead":\d{1,3},"session":"/.test(text.slice(0, 100));

/** Splits a session log into the texts of its messages, in passages that name the speaker. */
export function splitSessionLog(text: string): readonly Passage[] {
  const passages: Passage[] = [];
  let number = 0;
  for (const line of text.split('\n')) {
    number += 1;
    const start = line.slice(0, 400);
    if (!messageEvent.test(start)) continue;
    const speaker = speakers.find(([pattern]) => pattern.test(start))?.[1] ?? '';
    for (const message of eventLineTexts(line))
      for (const part of splitText(message)) passages.push({ ...part, title: speaker, lines: [number, number] });
  }
  return passages;
}

/** Splits a JSONL file: a line `{"id", "title", "text"}` (or `_id`) is one record and one passage; any other line is text. */
export function splitJsonLines(text: string): readonly Passage[] {
  const passages: Passage[] = [];
  let number = 0;
  for (const line of text.split('\n')) {
    number += 1;
    // A message of a model is no record, so that it is known as one.
    const isModel = isModelLine(line);
    const record = isModel ? undefined : parseRecord(line);
    if (record) passages.push({ ...record, lines: [number, number] });
    else if (line.trim() !== '')
      for (let at = 0; at < line.length; at += maxPassageChars) {
        const text = line.slice(at, at + maxPassageChars);
        passages.push({ title: isModel ? modelTitle : '', text, lines: [number, number] });
      }
  }
  return passages;
}

/** A record of a JSONL file: `id` or `_id`, `title` and `text`, which may be empty but not both; undefined if the line is none. */
export function parseRecord(
  line: string,
): { readonly id: string; readonly title: string; readonly text: string } | undefined {
  if (!line.startsWith('{')) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!isObject(value)) return undefined;
  const id = value['id'] ?? value['_id'];
  const { title = '', text = '' } = value;
  if ((typeof id !== 'string' && typeof id !== 'number') || typeof title !== 'string' || typeof text !== 'string')
    return undefined;
  return title === '' && text === '' ? undefined : { id: String(id), title, text: text.slice(0, maxRecordChars) };
}
