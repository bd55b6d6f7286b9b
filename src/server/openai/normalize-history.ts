// What a client says was said, as a history of ours: one message a side, results in the order of their calls, ids that every model takes.
import { hash } from 'node:crypto';
import { messageToolCalls, canonicalJson, toJson, type Message, type MessagePart } from '../../core/index.ts';

/** Many clients say one thing in several messages, and bring results in the order in which they had them. */
export const normalizeHistory = (messages: readonly Message[]): readonly Message[] =>
  sortToolResults(addToolNames(mergeSameRole(messages)));

/** Neighbours of one role as one message. */
function mergeSameRole(messages: readonly Message[]): readonly Message[] {
  const out: Message[] = [];
  for (const message of messages) {
    const before = out.at(-1);
    if (before?.role === message.role) out.splice(-1, 1, { ...before, parts: [...before.parts, ...message.parts] });
    else if (message.parts.length > 0) out.push(message);
  }
  return out;
}

/** Results with the names of the tools whose calls they answer. */
function addToolNames(messages: readonly Message[]): readonly Message[] {
  const names = new Map(
    messages.flatMap((message) => messageToolCalls(message).map(({ id, tool }) => [id, tool] as const)),
  );
  const withName = (part: MessagePart): MessagePart =>
    part.type === 'tool-result' ? { ...part, tool: names.get(part.id) ?? part.tool } : part;
  return messages.map((message) => ({ ...message, parts: message.parts.map(withName) }));
}

function sortToolResults(messages: readonly Message[]): readonly Message[] {
  return messages.map((message, i) => {
    const before = messages[i - 1];
    if (message.role !== 'tool' || !before) return message;
    const ids = messageToolCalls(before).map(({ id }) => id);
    const placeOf = (part: MessagePart): number => (part.type === 'tool-result' ? ids.indexOf(part.id) : 0);
    return { ...message, parts: message.parts.toSorted((a, b) => placeOf(a) - placeOf(b)) };
  });
}

/** The same with ids of ours: those of other providers are not legal with all of them. */
export function renumberCallIds(messages: readonly Message[]): readonly Message[] {
  const ids = new Map<string, string>();
  const idOf = (id: string): string => {
    const known = ids.get(id) ?? `h${ids.size.toString(36).padStart(8, '0')}`;
    ids.set(id, known);
    return known;
  };
  const withId = (part: MessagePart): MessagePart =>
    part.type === 'tool-call' || part.type === 'tool-result' ? { ...part, id: idOf(part.id) } : part;
  return messages.map((message) => ({ ...message, parts: message.parts.map(withId) }));
}

/** What tells one history from another. */
export const digestHistory = (system: string, messages: readonly Message[]): string =>
  hash('sha256', canonicalJson(toJson([system, messages])));
