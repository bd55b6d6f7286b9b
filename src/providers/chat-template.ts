// Escapes control tokens of chat templates in the tool results of a request, for servers that apply a template to its text.
import { escapeChatTokens, type Message, type MessagePart, type PersistentList, type Provider } from '../core/index.ts';

/**
 * Returns the provider with all tool results escaped when a request is sent: a result may have been recorded under another model, or by a
 * client. A message is escaped once, and the same history gives the same messages.
 */
export function escapeToolResults(provider: Provider): Provider {
  const byMessage = new WeakMap<Message, Message>();
  const byItems = new WeakMap<readonly Message[], Message[]>();

  function escapeOnce(message: Message): Message {
    const escaped = byMessage.get(message) ?? escapeMessage(message);
    byMessage.set(message, escaped);
    return escaped;
  }

  /** A history only grows, so its escaped messages grow with it. */
  function escapeHistory({ items, length }: PersistentList<Message>): PersistentList<Message> {
    const escaped = byItems.get(items) ?? [];
    byItems.set(items, escaped);
    for (let i = escaped.length; i < length; i++) escaped.push(escapeOnce(items[i] as Message));
    return { items: escaped, length };
  }

  return {
    ...provider,
    usesChatTemplate: true,
    stream: (request, signal) => provider.stream({ ...request, messages: escapeHistory(request.messages) }, signal),
  };
}

function escapeMessage(message: Message): Message {
  const parts = message.parts.map((part): MessagePart => {
    if (part.type !== 'tool-result') return part;
    const text = escapeChatTokens(part.text);
    return text === part.text ? part : { ...part, text };
  });
  return parts.every((part, i) => part === message.parts[i]) ? message : { ...message, parts };
}
