// Reads all events of a log, and the path from the root to one event.
import { messageText, type Event, type Log, type MessagePart } from '../../core/index.ts';

/** Reads every event up to a seq, all branches, in log order. */
export async function collectEvents(log: Pick<Log, 'follow'>, upTo: number): Promise<readonly Event[]> {
  const stop = new AbortController();
  const events: Event[] = [];
  if (upTo > 0)
    for await (const event of log.follow(0, stop.signal)) {
      events.push(event);
      if (event.seq >= upTo) break;
    }
  stop.abort();
  return events;
}

/** Returns the events from the root to an event, oldest first; default the last event. */
export function getBranchPath(events: readonly Event[], at?: string): readonly Event[] {
  const byId = new Map(events.map((event) => [event.id, event]));
  const path: Event[] = [];
  for (let event = at === undefined ? events.at(-1) : byId.get(at); event;) {
    path.push(event);
    event = event.parent === null ? undefined : byId.get(event.parent);
  }
  return path.toReversed();
}

/** The parts of a user message without the text of attached files. */
export const withoutAttachedText = (parts: readonly MessagePart[]): readonly MessagePart[] =>
  parts.filter((part, i) => i === 0 || part.type !== 'text' || !part.text.startsWith('<outside-text from='));

/** The text that the user typed: a message without the text of attached files and of standard input. */
export const typedText = (parts: readonly MessagePart[]): string =>
  messageText({ role: 'user', parts: withoutAttachedText(parts) }).replace(/\n\n<(stdin(?:-\d+)?)>\n[^]*$/, '');

/** Formats message parts as one line; files by name. */
export function summarizeParts(parts: readonly MessagePart[]): string {
  const files = parts.filter((part) => part.type === 'file').length;
  const text = typedText(parts).replaceAll(/\s+/g, ' ').trim();
  return files ? `${text} [${files} file${files === 1 ? '' : 's'}]`.trim() : text;
}

/** Truncates a line at a word boundary. */
export function previewText(text: string, maxChars = 60): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  if (line.length <= maxChars) return line;
  const truncated = line.slice(0, maxChars);
  const space = truncated.lastIndexOf(' ');
  return `${(space > maxChars / 2 ? truncated.slice(0, space) : truncated).toWellFormed()}…`;
}
