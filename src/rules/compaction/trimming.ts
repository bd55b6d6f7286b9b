// Compaction without a model: the task and the latest work stay word for word, the middle is told in one line.
import { callsOf, toArray, tokensIn, type Compactor, type Message } from '../core/index.ts';

/** Keeps the task and as much of the latest work as fits in this share of the window (half of what was there where no window is known). */
export function trimming(share = 0.5): Compactor {
  return async (state) => {
    const messages = toArray(state.messages);
    const sizes = messages.map((message) => tokensIn(message.parts));
    const total = sizes.reduce((sum, size) => sum + size, 0);
    const room = (state.limits?.context ?? total) * share;
    const task = messages.findIndex((message) => message.role === 'user');
    const from = firstKept(messages, sizes, room - (sizes[task] ?? 0));
    const left = messages.slice(task + 1, from);
    if (task < 0 || left.length === 0) return undefined;
    return [withNote(messages[task] as Message, left), ...bridge(messages.slice(from))];
  };
}

/** The earliest message from which on everything fits, never between a call and its result. */
function firstKept(messages: readonly Message[], sizes: readonly number[], room: number): number {
  let sum = 0;
  let from = messages.length;
  for (let i = messages.length - 1; i > 0; i--) {
    sum += sizes[i] ?? 0;
    if (sum > room) break;
    if (messages[i]?.role !== 'tool') from = i;
  }
  return from;
}

function withNote(task: Message, left: readonly Message[]): Message {
  const tools = left.flatMap((message) => callsOf(message).map((call) => call.tool));
  const counts = [...new Set(tools)].map((tool) => `${tool} ${tools.filter((each) => each === tool).length} times`);
  const used = counts.length ? ` Tools used there: ${counts.join(', ')}.` : '';
  const text = `[${left.length} messages that followed were left out to fit the window.${used} What matters from them may have to be looked up again.]`;
  return { ...task, parts: [...task.parts, { type: 'text', text }] };
}

/** The kept part must follow a user's message: where it begins with one, a stand-in answer goes between. */
function bridge(kept: readonly Message[]): readonly Message[] {
  return kept[0]?.role === 'user'
    ? [{ role: 'assistant', parts: [{ type: 'text', text: '(earlier work left out)' }] }, ...kept]
    : kept;
}
