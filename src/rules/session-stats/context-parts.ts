// Counts what the next request contains by origin, in estimated tokens.
import {
  estimateTokens,
  estimateTextTokens,
  parseNotes,
  partTokens,
  renderNotes,
  type Event,
  type Message,
  type MessagePart,
} from '../../core/index.ts';

/** Tokens by origin. */
export type ContextParts = {
  readonly system: number;
  readonly tools: number;
  readonly words: number;
  readonly answers: number;
  readonly notes: number;
  /** Results by tool. Tools beyond the max count as `(others)`. */
  readonly results: Readonly<Record<string, number>>;
};

/** An empty context. */
export const emptyContextParts: ContextParts = { system: 0, tools: 0, words: 0, answers: 0, notes: 0, results: {} };

const maxTools = 48;

/** Updates the counts with an event; `tool` is the tool whose call it ends. */
export function updateContextParts(parts: ContextParts, event: Event, tool?: string): ContextParts {
  if (event.type === 'epoch-started') return resetAtEpoch(parts, event);
  if (event.type === 'input-received') return { ...parts, words: parts.words + partTokens(event.parts) };
  if (event.type === 'turn-started')
    return event.notes.length ? { ...parts, notes: parts.notes + partTokens(renderNotes(event.notes)) } : parts;
  if (event.type === 'turn-ended') return { ...parts, answers: parts.answers + partTokens(event.message.parts) };
  if (event.type === 'turn-failed' && event.partial && !event.error.retry)
    return { ...parts, answers: parts.answers + estimateTokens(event.partial) };
  if (event.type === 'tool-ended' && tool !== undefined) return addResult(parts, tool, estimateTextTokens(event));
  return parts;
}

/** Recounts from the history of a new epoch. */
function resetAtEpoch(parts: ContextParts, event: Event & { readonly type: 'epoch-started' }): ContextParts {
  const prefix = { system: estimateTokens(event.system), tools: estimateTokens(JSON.stringify(event.tools)) };
  if (!event.baseline) return { ...parts, ...prefix };
  const { messages, pending = [] } = event.baseline;
  const counted = messages.reduce(addMessage, { ...emptyContextParts, ...prefix });
  return { ...counted, words: pending.reduce((sum, each) => sum + partTokens(each.parts), counted.words) };
}

function addResult(parts: ContextParts, tool: string, tokens: number): ContextParts {
  const known = Object.hasOwn(parts.results, tool) || Object.keys(parts.results).length < maxTools;
  const name = known ? tool : '(others)';
  const before = Object.hasOwn(parts.results, name) ? (parts.results[name] ?? 0) : 0;
  return { ...parts, results: { ...parts.results, [name]: before + tokens } };
}

const addMessage = (parts: ContextParts, { role, parts: messageParts }: Message): ContextParts =>
  role === 'assistant'
    ? { ...parts, answers: parts.answers + partTokens(messageParts) }
    : messageParts.reduce((sum, part) => addPart(sum, part), parts);

function addPart(parts: ContextParts, part: MessagePart): ContextParts {
  if (part.type === 'tool-result') return addResult(parts, part.tool, estimateTextTokens(part));
  const tokens = partTokens([part]);
  return part.type === 'text' && parseNotes(part.text)
    ? { ...parts, notes: parts.notes + tokens }
    : { ...parts, words: parts.words + tokens };
}
