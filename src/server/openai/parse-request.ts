// What a client of OpenAI's endpoints asks, as the beginning of a session and the words of a run.
import type { WireFormat } from '../../bridges/index.ts';
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
import type { ClientRunOptions } from '../../fleet/index.ts';
import { defaultModelAlias } from '../http/run-request.ts';
import { parseCallId } from './call-ids.ts';
import { parseClientTools } from './client-tools.ts';
import { throwInvalidParam } from './errors.ts';
import { isNullish, assertSupportedParams, parseSampling } from './request-params.ts';
import { parseResponseFormat, type ResponseFormat } from './response-format.ts';
import { digestHistory, renumberCallIds, normalizeHistory } from './normalize-history.ts';

/** A conversation that goes on: what was said before, and what is said now. */
export type CompletionRequest = {
  readonly history: readonly Message[];
  /** Empty where results are all that is new. */
  readonly prompt: string;
  /** Results of calls that an earlier run handed out. */
  readonly toolOutputs: ToolOutputs | undefined;
  /** The model by name; nothing where any will do. */
  readonly model: string | undefined;
  /** The answer that this one follows, where the client names it instead of what was said. */
  readonly previousResponseId: string | undefined;
  /** The form that the answer has to have. */
  readonly format: ResponseFormat | undefined;
  readonly client: ClientRunOptions;
};

/** What a client brings back to the run that handed it out. */
export type ToolOutputs = {
  readonly run: string;
  /** The calls as the client has them; nothing where it does not say them again. */
  readonly calls: readonly ToolCallPart[] | undefined;
  readonly results: readonly ToolResultPart[];
  /** What the client had said and heard before those calls, as a digest. */
  readonly historyDigest: string;
};

/** Reads a request; throws where what it wants is not to be had here. */
export function parseCompletionRequest(request: JsonObject, dialect: WireFormat): CompletionRequest {
  assertSupportedParams(request);
  const { tools, choice, single } = parseClientTools(request);
  const sampling = parseSampling(request);
  const asked = dialect.parseRequest(request);
  const { system, previousResponseId } = asked;
  const where = dialect.name === 'chat' ? 'messages' : 'input';
  const given = request[where];
  for (const [i, message] of (Array.isArray(given) ? (given as readonly Json[]) : []).entries())
    assertMessageSupported(message, asked.messages[i], `${where}[${i}]`);
  const messages = normalizeHistory(asked.messages.filter((message) => message !== null));
  const last = messages.at(-1);
  if (last?.role !== 'user' && last?.role !== 'tool')
    return throwInvalidParam(where, 'The last message has to be one of the user, or the result of a tool.');
  const said = last.role === 'user' ? last : undefined;
  if (said?.parts.every((part) => part.type === 'text' && part.text.trim() === ''))
    throwInvalidParam(where, 'The last message says nothing.');
  const history = said ? messages.slice(0, -1) : messages;
  const returns = parseToolOutputs(history, { system, follows: previousResponseId });
  const isAll = returns?.calls === undefined && history.length === (returns ? 1 : 0);
  const fault = isAll ? undefined : historyError(history);
  if (fault !== undefined) throwInvalidParam(where, `The messages cannot be gone on with: ${fault}`);
  return {
    history: isAll ? [] : renumberCallIds(prependSystem(history, system)),
    prompt: said
      ? history.length === 0 && system !== ''
        ? `${system}\n\n${messageText(said)}`
        : messageText(said)
      : '',
    toolOutputs: returns,
    model: asked.model === '' || asked.model === defaultModelAlias ? undefined : asked.model,
    previousResponseId,
    format: parseResponseFormat(request),
    client: {
      ...(tools.length > 0 ? { tools, heard: digestHistory(system, messages) } : {}),
      ...(tools.length > 0 && choice !== 'auto' ? { choice } : {}),
      ...(tools.length > 0 && single ? { single } : {}),
      ...(Object.keys(sampling).length > 0 ? { sampling } : {}),
      ...(said ? {} : { silent: true }),
    },
  };
}

const roles = ['system', 'developer', 'user', 'assistant', 'tool'];

/** Throws over a message that would be left out, or a part of one. */
function assertMessageSupported(given: Json, read: Message | null | undefined, param: string): void {
  if (!isObject(given)) throwInvalidParam(param, 'A message has to be an object.');
  const { role, content = null, output = null } = given;
  if (!isNullish(role) && (typeof role !== 'string' || !roles.includes(role)))
    throwInvalidParam(`${param}.role`, `There is no role ${JSON.stringify(role)} here.`);
  const isFile = (part: unknown): boolean => isObject(part) && /image|file|audio|video/.test(String(part['type']));
  const parts = [content, output].flatMap((each) => (Array.isArray(each) ? (each as readonly unknown[]) : []));
  if (parts.some(isFile) || read?.parts.some(({ type }) => type === 'file'))
    throwInvalidParam(
      `${param}.${output === null ? 'content' : 'output'}`,
      'Only text is taken here, no files, sounds or pictures.',
    );
}

/** The agent has standing text of its own: what the caller adds to it is said by the caller. */
function prependSystem([first, ...rest]: readonly Message[], system: string): readonly Message[] {
  if (!first) return [];
  if (system === '') return [first, ...rest];
  return [{ ...first, parts: [{ type: 'text', text: system }, ...first.parts] }, ...rest];
}

/** The results that a history ends with, where all are of calls that one run handed out. */
function parseToolOutputs(
  history: readonly Message[],
  { system, follows }: { readonly system: string; readonly follows: string | undefined },
): ToolOutputs | undefined {
  const tail = history.at(-1);
  if (tail?.role !== 'tool') return undefined;
  const before = history.at(-2);
  const results = tail.parts.filter((part) => part.type === 'tool-result');
  const runs = new Set(results.map(({ id }) => parseCallId(id)?.run));
  const [run] = runs;
  if (run === undefined || runs.size > 1) return undefined;
  if (follows !== undefined && !before) return { run, calls: undefined, results, historyDigest: '' };
  return {
    run,
    calls: before && messageToolCalls(before),
    results,
    historyDigest: digestHistory(system, history.slice(0, -2)),
  };
}
