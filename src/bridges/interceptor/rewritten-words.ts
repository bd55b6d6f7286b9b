// Reads the words of the user in a message of a history that the caller rewrote: what the model or third parties wrote before does not become the user's.
import { messageText, type Message, type RunState } from '../../core/index.ts';
import type { CallerFlow } from '../caller-flow/caller-flow.ts';

/** Returns the words that count as the user's, empty if none do; undefined if all do, or if the message has none. */
export async function readRewrittenWords(
  message: Message | null,
  context: {
    readonly flow: CallerFlow | undefined;
    readonly isReply: (text: string) => boolean;
    readonly state: RunState;
    readonly isLast: boolean;
  },
): Promise<string | undefined> {
  if (!context.flow || !message || message.role === 'assistant') return undefined;
  const text = messageText(message);
  if (text.trim() === '') return undefined;
  const { flow, isReply, state, isLast } = context;
  // A summary that the model wrote is no text of the user, also if it begins a new history.
  const words = await flow.readWords(state, text, isLast && !isReply(text));
  return words === text ? undefined : words;
}
