// Parses an OpenAI chat completion or responses request into a history, a prompt, tool outputs and options of a run.
import { hash } from 'node:crypto';
import {
  messageToolCalls,
  canonicalJson,
  historyError,
  isObject,
  messageText,
  toJson,
  type ToolCallPart,
  type Json,
  type JsonObject,
  type Message,
  type MessagePart,
  type ToolResultPart,
} from '../../core/index.ts';
import type { ClientRunOptions } from '../../fleet/index.ts';
import type { WireFormat } from '../../wire/index.ts';
import { defaultModelAlias } from '../http/run-settings.ts';
import { parseCallId } from './completion-result.ts';
import { throwInvalidParam } from '../http/errors.ts';
import {
  assertSupportedParams,
  isNullish,
  parseClientTools,
  parseResponseFormat,
  parseSampling,
  type ResponseFormat,
} from './parse-params.ts';

/** A parsed request. */
export type CompletionRequest = {
  readonly history: readonly Message[];
  /** Empty if the request adds tool outputs only. */
  readonly prompt: string;
  /** Outputs of client tool calls that an earlier run made. */
  readonly toolOutputs: ToolOutputs | undefined;
  /** Undefined for the default model. */
  readonly model: string | undefined;
  /** The response that this one continues, if the client names it instead of sending the history. */
  readonly previousResponseId: string | undefined;
  readonly format: ResponseFormat | undefined;
  readonly client: ClientRunOptions;
};

/** Tool outputs for the run that made the calls. */
export type ToolOutputs = {
  readonly run: string;
  /** The calls as the client repeats them; undefined if it does not. */
  readonly calls: readonly ToolCallPart[] | undefined;
  readonly results: readonly ToolResultPart[];
  /** Digest of the history before the calls. */
  readonly historyDigest: string;
};

/** Parses a request; throws 400 if it asks for something that is not supported. */
export function parseCompletionRequest(body: JsonObject, format: WireFormat): CompletionRequest {
  assertSupportedParams(body);
  const { tools, choice, single } = parseClientTools(body);
  const sampling = parseSampling(body);
  const request = format.parseRequest(body);
  const { system, previousResponseId } = request;
  const field = format.name === 'chat' ? 'messages' : 'input';
  const entries = body[field];
  for (const [i, entry] of (Array.isArray(entries) ? (entries as readonly Json[]) : []).entries())
    assertMessageSupported(entry, request.messages[i], `${field}[${i}]`);
  const messages = normalizeHistory(request.messages.filter((message) => message !== null));
  const last = messages.at(-1);
  if (last?.role !== 'user' && last?.role !== 'tool')
    return throwInvalidParam(field, 'The last message must be a user message or a tool result.');
  const user = last.role === 'user' ? last : undefined;
  if (user?.parts.every((part) => part.type === 'text' && part.text.trim() === ''))
    throwInvalidParam(field, 'The last message is empty.');
  const history = user ? messages.slice(0, -1) : messages;
  const toolOutputs = parseToolOutputs(history, system, previousResponseId);
  const isAllNew = toolOutputs?.calls === undefined && history.length === (toolOutputs ? 1 : 0);
  const problem = isAllNew ? undefined : historyError(history);
  if (problem !== undefined) throwInvalidParam(field, `The messages cannot be continued: ${problem}`);
  return {
    history: isAllNew ? [] : renumberCallIds(prependSystem(history, system)),
    prompt: user
      ? history.length === 0 && system !== ''
        ? `${system}\n\n${messageText(user)}`
        : messageText(user)
      : '',
    toolOutputs,
    model: request.model === '' || request.model === defaultModelAlias ? undefined : request.model,
    previousResponseId,
    format: parseResponseFormat(body),
    client: {
      ...(tools.length > 0 ? { tools, heard: digestHistory(system, messages) } : {}),
      ...(tools.length > 0 && choice !== 'auto' ? { choice } : {}),
      ...(tools.length > 0 && single ? { single } : {}),
      ...(Object.keys(sampling).length > 0 ? { sampling } : {}),
      ...(user ? {} : { silent: true }),
    },
  };
}

const roles = ['system', 'developer', 'user', 'assistant', 'tool'];

/** Throws 400 if a message, or a part of one, would be dropped. */
function assertMessageSupported(entry: Json, parsed: Message | null | undefined, param: string): void {
  if (!isObject(entry)) throwInvalidParam(param, 'A message must be an object.');
  const { role, content = null, output = null } = entry;
  if (!isNullish(role) && (typeof role !== 'string' || !roles.includes(role)))
    throwInvalidParam(`${param}.role`, `Unknown role: ${JSON.stringify(role)}.`);
  const isFile = (part: unknown): boolean => isObject(part) && /image|file|audio|video/.test(String(part['type']));
  const parts = [content, output].flatMap((each) => (Array.isArray(each) ? (each as readonly unknown[]) : []));
  if (parts.some(isFile) || parsed?.parts.some(({ type }) => type === 'file'))
    throwInvalidParam(
      `${param}.${output === null ? 'content' : 'output'}`,
      'Only text is supported, not files, audio or images.',
    );
}

/** The agent has its own system prompt: the client's system text becomes a part of the first message. */
function prependSystem([first, ...rest]: readonly Message[], system: string): readonly Message[] {
  if (!first) return [];
  if (system === '') return [first, ...rest];
  return [{ ...first, parts: [{ type: 'text', text: system }, ...first.parts] }, ...rest];
}

/** Returns the tool results at the end of the history, if all belong to calls of one run. */
function parseToolOutputs(
  history: readonly Message[],
  system: string,
  previousResponseId: string | undefined,
): ToolOutputs | undefined {
  const last = history.at(-1);
  if (last?.role !== 'tool') return undefined;
  const before = history.at(-2);
  const results = last.parts.filter((part) => part.type === 'tool-result');
  const runs = new Set(results.map(({ id }) => parseCallId(id)?.run));
  const [run] = runs;
  if (run === undefined || runs.size > 1) return undefined;
  if (previousResponseId !== undefined && !before) return { run, calls: undefined, results, historyDigest: '' };
  return {
    run,
    calls: before && messageToolCalls(before),
    results,
    historyDigest: digestHistory(system, history.slice(0, -2)),
  };
}

/** Merges neighbouring messages of one role, names the tools of results, and sorts results by the order of their calls. */
const normalizeHistory = (messages: readonly Message[]): readonly Message[] =>
  sortToolResults(addToolNames(mergeSameRole(messages)));

function mergeSameRole(messages: readonly Message[]): readonly Message[] {
  const out: { readonly role: Message['role']; readonly parts: MessagePart[] }[] = [];
  for (const { role, parts } of messages) {
    const before = out.at(-1);
    if (before?.role === role) for (const part of parts) before.parts.push(part);
    else if (parts.length > 0) out.push({ role, parts: [...parts] });
  }
  return out;
}

const mapParts = (messages: readonly Message[], map: (part: MessagePart) => MessagePart): readonly Message[] =>
  messages.map((message) => ({ ...message, parts: message.parts.map(map) }));

function addToolNames(messages: readonly Message[]): readonly Message[] {
  const names = new Map(
    messages.flatMap((message) => messageToolCalls(message).map(({ id, tool }) => [id, tool] as const)),
  );
  return mapParts(messages, (part) =>
    part.type === 'tool-result' ? { ...part, tool: names.get(part.id) ?? part.tool } : part,
  );
}

function sortToolResults(messages: readonly Message[]): readonly Message[] {
  return messages.map((message, i) => {
    const before = messages[i - 1];
    if (message.role !== 'tool' || !before) return message;
    const ranks = new Map(
      messageToolCalls(before)
        .map(({ id }, at) => [id, at] as const)
        .toReversed(),
    );
    const rank = (part: MessagePart): number => (part.type === 'tool-result' ? (ranks.get(part.id) ?? -1) : 0);
    return { ...message, parts: message.parts.toSorted((a, b) => rank(a) - rank(b)) };
  });
}

/** Replaces call ids: ids of other providers are not valid with all of them. */
function renumberCallIds(messages: readonly Message[]): readonly Message[] {
  const ids = new Map<string, string>();
  const getId = (id: string): string => {
    const known = ids.get(id) ?? `h${ids.size.toString(36).padStart(8, '0')}`;
    ids.set(id, known);
    return known;
  };
  return mapParts(messages, (part) =>
    part.type === 'tool-call' || part.type === 'tool-result' ? { ...part, id: getId(part.id) } : part,
  );
}

const digestHistory = (system: string, messages: readonly Message[]): string =>
  hash('sha256', canonicalJson(toJson([system, messages])));
