// What a client of OpenAI's endpoints asks, as the beginning of a session and the words of a run.
import type { Dialect } from '../../bridges/index.ts';
import {
  messageToolCalls,
  historyError,
  isObject,
  messageText,
  type ToolCallPart,
  type Json,
  type JsonObject,
  type Message,
  type ToolResultPart,
} from '../../core/index.ts';
import type { ClientWish } from '../../fleet/index.ts';
import { anyModel } from '../wishes.ts';
import { callNamed } from './call-ids.ts';
import { toolsIn } from './client-tools.ts';
import { wrong } from './errors.ts';
import { isAbsent, mustBePossible, samplingIn } from './fields.ts';
import { formatIn, type Format } from './format.ts';
import { digestOf, renumbered, tidied } from './history.ts';

/** A conversation that goes on: what was said before, and what is said now. */
export type Conversation = {
  readonly history: readonly Message[];
  /** Empty where results are all that is new. */
  readonly words: string;
  /** Results of calls that an earlier run handed out. */
  readonly returns: Returns | undefined;
  /** The model by name; nothing where any will do. */
  readonly model: string | undefined;
  /** The answer that this one follows, where the client names it instead of what was said. */
  readonly follows: string | undefined;
  /** The form that the answer has to have. */
  readonly format: Format | undefined;
  readonly client: ClientWish;
};

/** What a client brings back to the run that handed it out. */
export type Returns = {
  readonly run: string;
  /** The calls as the client has them; nothing where it does not say them again. */
  readonly calls: readonly ToolCallPart[] | undefined;
  readonly results: readonly ToolResultPart[];
  /** What the client had said and heard before those calls, as a digest. */
  readonly heard: string;
};

/** Reads a request; throws where what it wants is not to be had here. */
export function conversationIn(request: JsonObject, dialect: Dialect): Conversation {
  mustBePossible(request);
  const { tools, choice, single } = toolsIn(request);
  const sampling = samplingIn(request);
  const asked = dialect.asked(request);
  const { system, follows } = asked;
  const where = dialect.name === 'chat' ? 'messages' : 'input';
  const given = request[where];
  for (const [i, message] of (Array.isArray(given) ? (given as readonly Json[]) : []).entries())
    mustBeRead(message, asked.messages[i], `${where}[${i}]`);
  const messages = tidied(asked.messages.filter((message) => message !== null));
  const last = messages.at(-1);
  if (last?.role !== 'user' && last?.role !== 'tool')
    return wrong(where, 'The last message has to be one of the user, or the result of a tool.');
  const said = last.role === 'user' ? last : undefined;
  if (said?.parts.every((part) => part.type === 'text' && part.text.trim() === ''))
    wrong(where, 'The last message says nothing.');
  const history = said ? messages.slice(0, -1) : messages;
  const returns = returnsIn(history, { system, follows });
  const isAll = returns?.calls === undefined && history.length === (returns ? 1 : 0);
  const fault = isAll ? undefined : historyError(history);
  if (fault !== undefined) wrong(where, `The messages cannot be gone on with: ${fault}`);
  return {
    history: isAll ? [] : renumbered(withSystem(history, system)),
    words: said
      ? history.length === 0 && system !== ''
        ? `${system}\n\n${messageText(said)}`
        : messageText(said)
      : '',
    returns,
    model: asked.model === '' || asked.model === anyModel ? undefined : asked.model,
    follows,
    format: formatIn(request),
    client: {
      ...(tools.length > 0 ? { tools, heard: digestOf(system, messages) } : {}),
      ...(tools.length > 0 && choice !== 'auto' ? { choice } : {}),
      ...(tools.length > 0 && single ? { single } : {}),
      ...(Object.keys(sampling).length > 0 ? { sampling } : {}),
      ...(said ? {} : { silent: true }),
    },
  };
}

const roles = ['system', 'developer', 'user', 'assistant', 'tool'];

/** Throws over a message that would be left out, or a part of one. */
function mustBeRead(given: Json, read: Message | null | undefined, param: string): void {
  if (!isObject(given)) wrong(param, 'A message has to be an object.');
  const { role, content = null, output = null } = given;
  if (!isAbsent(role) && (typeof role !== 'string' || !roles.includes(role)))
    wrong(`${param}.role`, `There is no role ${JSON.stringify(role)} here.`);
  const isFile = (part: unknown): boolean => isObject(part) && /image|file|audio|video/.test(String(part['type']));
  const parts = [content, output].flatMap((each) => (Array.isArray(each) ? (each as readonly unknown[]) : []));
  if (parts.some(isFile) || read?.parts.some(({ type }) => type === 'file'))
    wrong(
      `${param}.${output === null ? 'content' : 'output'}`,
      'Only text is taken here, no files, sounds or pictures.',
    );
}

/** The agent has standing text of its own: what the caller adds to it is said by the caller. */
function withSystem([first, ...rest]: readonly Message[], system: string): readonly Message[] {
  if (!first) return [];
  if (system === '') return [first, ...rest];
  return [{ ...first, parts: [{ type: 'text', text: system }, ...first.parts] }, ...rest];
}

/** The results that a history ends with, where all are of calls that one run handed out. */
function returnsIn(
  history: readonly Message[],
  { system, follows }: { readonly system: string; readonly follows: string | undefined },
): Returns | undefined {
  const tail = history.at(-1);
  if (tail?.role !== 'tool') return undefined;
  const before = history.at(-2);
  const results = tail.parts.filter((part) => part.type === 'tool-result');
  const runs = new Set(results.map(({ id }) => callNamed(id)?.run));
  const [run] = runs;
  if (run === undefined || runs.size > 1) return undefined;
  if (follows !== undefined && !before) return { run, calls: undefined, results, heard: '' };
  return { run, calls: before && messageToolCalls(before), results, heard: digestOf(system, history.slice(0, -2)) };
}
