// Reads the texts of the messages in one line of a session log, for searches.
import { isObject } from './json.ts';

/** Yields the texts of the messages in a line of a session log: what the user, the model and tools wrote. A line that cannot be parsed has none. */
export function* eventLineTexts(line: string): Generator<string> {
  let event: unknown;
  try {
    event = JSON.parse(line);
  } catch {
    return;
  }
  if (!isObject(event)) return;
  if (typeof event['text'] === 'string') yield event['text'];
  const message = isObject(event['message']) ? event['message'] : event;
  const parts = Array.isArray(message['parts']) ? (message['parts'] as readonly unknown[]) : [];
  for (const part of parts) {
    if (!isObject(part)) continue;
    if (typeof part['text'] === 'string') yield part['text'];
    if (part['type'] === 'tool-call') yield JSON.stringify(part['input']);
  }
}
