// Messages of a followed session, and their form as server-sent events.
import type { Event, FleetRun, PartialText } from '../../core/index.ts';
import { formatSseFrame } from '../../wire/index.ts';

/** A message to the subscribers of a session. A `chunk` is provisional text of the current turn; `end` follows the end of the run. */
export type SessionMessage =
  | { readonly type: 'event'; readonly event: Event }
  | { readonly type: 'chunk'; readonly chunk: Omit<PartialText, 'since'> }
  | { readonly type: 'run'; readonly run: FleetRun }
  | { readonly type: 'end'; readonly run: string };

/** Frames by message: a message goes to many subscribers and is serialised once. */
const frames = new WeakMap<SessionMessage, string>();

/** Formats a session message as a frame; the id of an event is its sequence number. */
export function formatSessionMessage(message: SessionMessage): string {
  const known = frames.get(message);
  if (known !== undefined) return known;
  const seq = message.type === 'event' ? message.event.seq : undefined;
  const frame = formatSseFrame(JSON.stringify(messageData(message)), message.type, seq);
  frames.set(message, frame);
  return frame;
}

function messageData(message: SessionMessage): unknown {
  if (message.type === 'event') return message.event;
  if (message.type === 'chunk') return message.chunk;
  return message.type === 'run' ? message.run : { run: message.run };
}

/** Formats batches of session messages, one text each. */
export async function* formatSessionMessages(
  batches: AsyncIterable<readonly SessionMessage[]>,
): AsyncGenerator<string> {
  for await (const batch of batches) yield batch.map(formatSessionMessage).join('');
}
