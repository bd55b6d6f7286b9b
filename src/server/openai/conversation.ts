// What a client of OpenAI's endpoints asks, as the beginning of a session and the words of a run.
import type { Dialect } from '../../bridges/index.ts';
import { illegal, isObject, textOf, type JsonObject, type Message, type Part } from '../../core/index.ts';
import { refused } from '../faults.ts';
import { anyModel } from '../wishes.ts';

/** A conversation that goes on: what was said before, and what is said now. */
export type Conversation = {
  readonly history: readonly Message[];
  readonly words: string;
  /** The model by name; nothing where any will do. */
  readonly model: string | undefined;
  /** The answer that this one follows, where the client names it instead of what was said. */
  readonly follows: string | undefined;
};

/** Reads a request; throws where what it wants is not to be had here. */
export function conversationIn(request: JsonObject, dialect: Dialect): Conversation {
  mustBePossible(request);
  const asked = dialect.asked(request);
  const messages = named(joined(asked.messages.filter((message) => message !== null)));
  const last = messages.at(-1);
  if (last?.role !== 'user') throw refused('server/bad-request', 'The last message has to be one of the user.');
  if (last.parts.every((part) => part.type === 'text' && part.text.trim() === ''))
    throw refused('server/bad-request', 'The last message says nothing.');
  if (messages.some(({ parts }) => parts.some(({ type }) => type === 'file')))
    throw refused('server/bad-request', 'Only text is taken here, no files or pictures.');
  const history = messages.slice(0, -1);
  const wrong = history.length > 0 ? illegal(history) : undefined;
  if (wrong !== undefined) throw refused('server/bad-request', `The messages cannot be gone on with: ${wrong}`);
  const [first, ...rest] = history;
  const { system } = asked;
  return {
    // The agent has standing text of its own: what the caller adds to it is said by the caller.
    history:
      first && system !== ''
        ? [{ ...first, parts: [{ type: 'text', text: system }, ...first.parts] }, ...rest]
        : history,
    words: !first && system !== '' ? `${system}\n\n${textOf(last)}` : textOf(last),
    model: asked.model === '' || asked.model === anyModel ? undefined : asked.model,
    follows: asked.follows,
  };
}

/** What would be promised and not kept is refused: tools run here, and an answer is one text. */
function mustBePossible(request: JsonObject): void {
  const { n, tools, functions, response_format: format, background, logprobs, modalities, text } = request;
  const isAbsent = (value: unknown): boolean => value === undefined || value === null;
  const isPlain = (value: unknown): boolean =>
    isAbsent(value) || (value as { readonly type?: unknown }).type === 'text';
  const isEmpty = (value: unknown): boolean => isAbsent(value) || (Array.isArray(value) && value.length === 0);
  const isText = (value: unknown): boolean => isAbsent(value) || typeof value === 'string';
  const wants: readonly (readonly [boolean, string])[] = [
    [!isEmpty(tools), 'tools'],
    [!isEmpty(functions), 'functions'],
    [!isAbsent(n) && n !== 1, 'n'],
    [!isPlain(format), 'response_format'],
    [!isAbsent(text) && !isObject(text), 'text'],
    [isObject(text) && !isPlain(text['format']), 'text.format'],
    [!isAbsent(request['stream']) && typeof request['stream'] !== 'boolean', 'stream'],
    [!isAbsent(request['conversation']), 'conversation'],
    [!isAbsent(request['prompt']), 'prompt'],
    [!isText(request['instructions']), 'instructions'],
    [!isText(request['previous_response_id']), 'previous_response_id'],
    [background === true, 'background'],
    [logprobs === true, 'logprobs'],
    [Array.isArray(modalities) && modalities.some((each) => each !== 'text'), 'modalities'],
  ];
  const found = wants.find(([wanted]) => wanted)?.[1];
  if (found === undefined) return;
  throw refused('server/bad-request', `\`${found}\` is not to be had here.`, {
    hint: 'The tools of this server run at this server, and its answer is one text.',
  });
}

/** Neighbours of one role as one message: many clients say one thing in several. */
function joined(messages: readonly Message[]): readonly Message[] {
  const out: Message[] = [];
  for (const message of messages) {
    const before = out.at(-1);
    if (before?.role === message.role) out.splice(-1, 1, { ...before, parts: [...before.parts, ...message.parts] });
    else if (message.parts.length > 0) out.push(message);
  }
  return out;
}

/** Results with the names of the tools whose calls they answer. */
function named(messages: readonly Message[]): readonly Message[] {
  const names = new Map(
    messages.flatMap(({ parts }) =>
      parts.flatMap((part): [string, string][] => (part.type === 'tool-call' ? [[part.id, part.tool]] : [])),
    ),
  );
  const withName = (part: Part): Part =>
    part.type === 'tool-result' ? { ...part, tool: names.get(part.id) ?? part.tool } : part;
  return messages.map((message) => ({ ...message, parts: message.parts.map(withName) }));
}
