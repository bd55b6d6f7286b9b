// Writes the result of a run as an OpenAI response or chat completion, whole or streamed, and resolves references to items of responses.
import { isObject, type FleetRun, type Json, type JsonObject } from '../../core/index.ts';
import { type WireStreamEvent, asObject, asString } from '../../wire/index.ts';
import {
  createResponsesEvents,
  writeCallItem,
  writeEndedResponse,
  writeMessageItem,
  writePendingResponse,
  writeRefusalPart,
  writeResponsesUsage,
  writeTextPart,
  type ItemEvents,
} from '../../wire/openai-responses/index.ts';
import { toHttpError, formatOpenAiError, throwInvalidParam } from '../http/errors.ts';
import { defaultModelAlias } from '../http/run-settings.ts';
import {
  chatFinishNames,
  writeChatChunk,
  writeChatCompletion,
  writeChatHead,
  writeChatMessage,
  writeChatToolCall,
  writeChatUsage,
} from '../../wire/openai-chat/index.ts';
import { formatCallId, getRunUsage, type CompletionResult, type ResponseEncoder } from './completion-result.ts';

/** Creates the encoder of responses. */
export function createResponsesEncoder(request: JsonObject, run: FleetRun): ResponseEncoder {
  const pending = createPendingResponse(request, run);
  const events = createResponsesEvents();
  let isMessageOpen = false;

  /** The message item begins with its first text: a response may have none. */
  function openMessage(kind: 'text' | 'refusal'): { item: ItemEvents; begin: readonly WireStreamEvent[] } {
    const item = events.item(0, writeMessageItem(messageId(run)), kind);
    const begin = isMessageOpen ? [] : item.begin();
    isMessageOpen = true;
    return { item, begin };
  }

  function encodeItem(
    item: JsonObject,
    index: number,
    { text, refusal }: CompletionResult,
  ): readonly WireStreamEvent[] {
    if (item['type'] === 'message') {
      const { item: writer, begin } = openMessage(refusal === undefined ? 'text' : 'refusal');
      const delta = refusal === undefined ? [] : [writer.delta(refusal)];
      return [...begin, ...delta, ...writer.end(item, refusal ?? text)];
    }
    const { name = '', arguments: input = '' } = item;
    const writer = events.item(index, item, 'call');
    return [...writer.begin(), writer.delta(String(input)), ...writer.end(item, String(input), { name })];
  }

  return {
    encodeWhole: (result) => createEndedResponse(pending, result),
    encodeStart: () => events.start(pending),
    encodeDelta(text) {
      const { item, begin } = openMessage('text');
      return [...begin, item.delta(text)];
    },
    encodeEnd: (result) => [
      ...createOutputItems(result).flatMap((item, i) => encodeItem(item, i, result)),
      events.end(createEndedResponse(pending, result)),
    ],
    encodeError(error) {
      const { code, message: text, param } = formatOpenAiError(error);
      return events.error({ code, message: text, param });
    },
  };
}

const createPendingResponse = (request: JsonObject, run: FleetRun): JsonObject =>
  writePendingResponse(request, {
    id: `resp_${run.id}`,
    model: request['model'] ?? defaultModelAlias,
    createdAt: Math.floor(Date.parse(run.queued) / 1000),
  });

const createEndedResponse = (pending: JsonObject, result: CompletionResult): JsonObject =>
  writeEndedResponse(pending, {
    finish: result.finish,
    output: createOutputItems(result),
    usage: writeResponsesUsage(getRunUsage(result.run)),
  });

const messageId = ({ id }: FleetRun): string => `msg_${id}`;

/** The message, unless the run made only calls, and the calls for the client. */
function createOutputItems({ run, text, refusal, calls }: CompletionResult): readonly JsonObject[] {
  const part = refusal === undefined ? writeTextPart(text) : writeRefusalPart(refusal);
  const hasNoMessage = text === '' && refusal === undefined && calls.length > 0;
  return [
    ...(hasNoMessage ? [] : [writeMessageItem(messageId(run), part)]),
    ...calls.map(({ id, tool, input }) =>
      writeCallItem({ id: `fc_${run.id}_${id}`, callId: formatCallId(run, id), name: tool }, JSON.stringify(input)),
    ),
  ];
}

/** Returns the response of a run in its current state; `createResult` is called if the run has ended or waits. */
export async function describeResponse(
  run: FleetRun,
  createResult: () => Promise<CompletionResult>,
): Promise<JsonObject> {
  const { model } = run.settings;
  const pending = createPendingResponse(typeof model === 'string' ? { model } : {}, run);
  if (run.status === 'queued') return { ...pending, status: 'queued' };
  if (run.status === 'running') return pending;
  try {
    return createEndedResponse(pending, await createResult());
  } catch (error) {
    const { code, message } = formatOpenAiError(toHttpError(error));
    return { ...pending, status: 'failed', error: { code, message } };
  }
}

/** Where references are resolved: the runs by id, and the maximal number of characters that the referenced runs may have. */
export type ReferenceSource = {
  readonly findRun: (id: string) => Promise<FleetRun | undefined>;
  readonly maxChars: number;
};

/** Replaces references to items of earlier responses with the items. A short reference stands for a long item, so the sum is bounded. */
export async function resolveItemReferences(request: JsonObject, source: ReferenceSource): Promise<JsonObject> {
  const { input } = request;
  if (!Array.isArray(input) || !(input as readonly Json[]).some(isReference)) return request;
  const resolve = createItemResolver(source);
  const resolved: Json[] = [];
  for (const [i, item] of (input as readonly Json[]).entries())
    resolved.push(isReference(item) ? await resolve(String(item['id']), `input[${i}]`) : item);
  return { ...request, input: resolved };
}

/** Loads each run once, one after the other, and resolves each of its items once. */
function createItemResolver({ findRun, maxChars }: ReferenceSource): (id: string, param: string) => Promise<Json> {
  const unusedItems = new Map<string, Map<unknown, JsonObject>>();
  let chars = 0;

  async function loadItems(runId: string): Promise<Map<unknown, JsonObject>> {
    const run = await findRun(runId);
    if (!run) return new Map();
    const { text = '', clientToolCalls: calls = [] } = run.outcome ?? {};
    const items = createOutputItems({ run, text, calls, finish: 'stop' });
    // The prompt was loaded too.
    chars += run.prompt.length + JSON.stringify(items).length;
    return new Map(items.map((item) => [item['id'], item]));
  }

  return async (id, param) => {
    const [, runId = ''] = /^msg_(.+)$/.exec(id) ?? /^fc_(.+)_c[0-9a-z]{8}$/.exec(id) ?? [];
    const items = unusedItems.get(runId) ?? (await loadItems(runId));
    unusedItems.set(runId, items);
    if (chars > maxChars)
      return throwInvalidParam(param, `The referenced items have more than ${maxChars} characters. Refer to fewer.`);
    const item = items.get(id);
    items.delete(id);
    return item ?? throwInvalidParam(param, `Item with id '${id.slice(0, 200)}' not found, or referenced twice.`);
  };
}

/** Clients may omit the type of a reference. */
const isReference = (item: Json): item is JsonObject =>
  isObject(item) &&
  typeof item['id'] === 'string' &&
  (item['type'] === 'item_reference' || Object.keys(item).length === 1);

/** Creates the encoder of chat completions. */
export function createChatEncoder(request: JsonObject, { id }: FleetRun): ResponseEncoder {
  const includeUsage = asObject(request['stream_options'])['include_usage'] === true;
  const head = writeChatHead('chat.completion.chunk', asString(request['model']), `chatcmpl-${id}`);
  const chunk = (delta: JsonObject, finish?: string): WireStreamEvent => ({
    data: { ...writeChatChunk(head, delta, finish), ...(includeUsage ? { usage: null } : {}) },
  });
  const usage = (run: FleetRun): JsonObject => writeChatUsage(getRunUsage(run));
  return {
    encodeWhole: (result) => ({
      ...writeChatCompletion(
        { ...head, object: 'chat.completion' },
        writeMessage(result),
        chatFinishNames[result.finish],
      ),
      usage: usage(result.run),
    }),
    encodeStart: () => [chunk({ role: 'assistant', content: '', refusal: null })],
    encodeDelta: (text) => [chunk({ content: text })],
    encodeEnd: (result) => [
      ...(result.refusal === undefined ? [] : [chunk({ refusal: result.refusal })]),
      ...writeToolCalls(result).map((call, index) => chunk({ tool_calls: [{ index, ...call }] })),
      chunk({}, chatFinishNames[result.finish]),
      ...(includeUsage ? [{ data: { ...head, choices: [], usage: usage(result.run) } }] : []),
      { data: '[DONE]' },
    ],
    encodeError: (error) => ({ data: { error: formatOpenAiError(error) } }),
  };
}

function writeMessage(result: CompletionResult): JsonObject {
  const { text, refusal } = result;
  const calls = writeToolCalls(result);
  const hasNoText = text === '' && (calls.length > 0 || refusal !== undefined);
  return writeChatMessage(hasNoText ? null : text, calls, { refusal: refusal ?? null, annotations: [] });
}

const writeToolCalls = ({ run, calls }: CompletionResult): readonly JsonObject[] =>
  calls.map(({ id, tool, input }) => writeChatToolCall(formatCallId(run, id), tool, JSON.stringify(input)));
