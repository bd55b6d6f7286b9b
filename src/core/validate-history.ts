// Validates a message history for every provider: each call has one result, in order, right after it.
import { messageToolCalls, type Message } from './message.ts';

/** Returns what is wrong with a history, as a sentence; undefined if it is valid for every provider. */
export function historyError(messages: readonly Message[]): string | undefined {
  const seen = new Set<string>();
  for (const [i, message] of messages.entries()) {
    const before = messages[i - 1];
    const calls = before?.role === 'assistant' ? messageToolCalls(before) : [];
    if (message.parts.length === 0) return `Message ${i + 1} is empty.`;
    if (i === 0 && message.role !== 'user') return 'The first message must have the role user.';
    if (before?.role === message.role) return `Messages ${i} and ${i + 1} are both of role ${message.role}.`;
    if (calls.length && message.role !== 'tool')
      return `The calls of message ${i} are not answered by message ${i + 1}.`;
    if (message.role === 'tool') {
      const resultsError = toolResultsError(
        message,
        calls.map((call) => call.id),
      );
      if (resultsError) return `Message ${i + 1}: ${resultsError}`;
    }
    for (const call of message.role === 'assistant' ? messageToolCalls(message) : []) {
      if (seen.has(call.id)) return `The call id ${call.id} is used twice.`;
      seen.add(call.id);
    }
    const stray = message.parts.find(
      (part) =>
        (part.type === 'tool-result') !== (message.role === 'tool') ||
        (part.type === 'tool-call' && message.role !== 'assistant'),
    );
    if (stray) return `Message ${i + 1} of role ${message.role} holds a ${stray.type}.`;
  }
  const last = messages.at(-1);
  return last?.role === 'assistant' && messageToolCalls(last).length
    ? 'The calls of the last message are not answered.'
    : undefined;
}

function toolResultsError(message: Message, ids: readonly string[]): string | undefined {
  const answered = message.parts.flatMap((part) => (part.type === 'tool-result' ? [part.id] : []));
  if (ids.length === 0) return 'it answers calls that were not made.';
  return answered.length === ids.length && answered.every((id, i) => id === ids[i])
    ? undefined
    : `it answers ${answered.join(', ') || 'nothing'} where ${ids.join(', ')} were called.`;
}
