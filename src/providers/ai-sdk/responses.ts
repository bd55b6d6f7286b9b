// Provider for the OpenAI Responses API without server-side state, through the package of the AI SDK.
import { createOpenAI } from '@ai-sdk/openai';
import type { JSONValue } from '@ai-sdk/provider';
import type { JsonObject, Provider, ModelRequest } from '../../core/index.ts';
import { createAiSdkProvider, type AiSdkOptions } from './provider.ts';
import { isStrictSchema, toObjectSchema } from '../http/schema.ts';
import { asObject, asObjectArray, numberOrUndefined, stringOrUndefined, type WireObject } from '../../wire/index.ts';
import { findResponsesFinish, parseResponsesFinish, parseResponsesUsage } from '../../wire/openai-responses/index.ts';
import type { ResponseMeta, StreamNormalizer } from './fetch-normalizer.ts';

/** The options of a Responses API provider. */
export type ResponsesOptions = AiSdkOptions;

/** Creates a provider for the Responses API. Every request contains the whole conversation: nothing is stored or referenced. */
export function responsesProvider(callerOptions: ResponsesOptions): Provider {
  const options = { baseUrl: 'https://api.openai.com/v1', ...callerOptions };
  const { model } = options;
  const family = options.family === undefined ? 'responses' : `${options.family}-responses`;
  return createAiSdkProvider(
    {
      profile: {
        family,
        optionsKey: 'openai',
        toolSchema: toObjectSchema,
        requestOptions: (request) => requestOptions(request, model),
        // Without `strict: false` this API makes schemas strict, and optional arguments become required.
        nonStrictTools: true,
        plainErrorResults: true,
      },
      normalizer: responsesNormalizer,
      createModel: (fetch) =>
        createOpenAI({
          apiKey: options.apiKey ?? '',
          baseURL: options.baseUrl,
          headers: { ...options.headers },
          fetch,
        }).responses(model),
      keepMetadata,
    },
    options,
  );
}

function requestOptions(
  { settings, outputSchema, session }: ModelRequest,
  model: string,
): Record<string, JSONValue | undefined> {
  const thinks = settings.reasoning !== undefined && settings.reasoning !== 'none';
  return {
    store: false,
    promptCacheKey: session === undefined || session === '' ? undefined : session.slice(0, 64),
    reasoningSummary: thinks ? 'auto' : undefined,
    // Reasoning is requested from models of other vendors too, which the model list of the SDK does not contain.
    forceReasoning: thinks && !/^(gpt|o\d|chatgpt|codex|computer)/.test(model) ? true : undefined,
    strictJsonSchema: outputSchema ? isStrictSchema(outputSchema) : undefined,
  };
}

/**
 * Sends reasoning back encrypted and without the ids of its items: an id binds reasoning to the items that followed it, and a
 * history whose calls have other ids, or that was truncated or compacted, would be refused.
 */
function keepMetadata(kind: string, { reasoningEncryptedContent, phase }: JsonObject): JsonObject | undefined {
  if (kind === 'text' && phase !== undefined) return { phase };
  if (kind === 'reasoning' && reasoningEncryptedContent !== undefined) return { reasoningEncryptedContent };
  return undefined;
}

/** Parses the event stream of `/v1/responses`. Items of server-side tools are ignored. */
const responsesNormalizer: StreamNormalizer = {
  createReader(account) {
    const reading: ReadState = { items: new Map(), created: false, refused: false };
    return (event) => eventHandlers[String(event['type'] ?? 'error')]?.(event, reading, account) ?? [];
  },
  toEvents: (response) => [
    { type: 'response.created', response },
    { type: 'response.completed', response },
  ],
};

type OutputItem = {
  readonly id: string;
  readonly type: string;
  readonly index: number;
  readonly summaryIndexes: Set<number>;
  args: string;
  hasContent: boolean;
  done: boolean;
};

type ReadState = { readonly items: Map<number, OutputItem>; created: boolean; refused: boolean };

type EventHandler = (event: WireObject, reading: ReadState, account: ResponseMeta) => readonly WireObject[];

const eventHandlers: Readonly<Record<string, EventHandler | undefined>> = {
  'response.created': onCreated,
  'response.queued': onCreated,
  'response.in_progress': onCreated,
  'response.output_item.added': (event, reading) =>
    beginItem(numberOrUndefined(event['output_index']) ?? reading.items.size, asObject(event['item']), reading),
  'response.output_item.done': (event, reading) =>
    endItem(numberOrUndefined(event['output_index']) ?? reading.items.size - 1, asObject(event['item']), reading),
  'response.output_text.delta': (event, reading) => textDelta(findOpenItem(event, 'message', reading), event['delta']),
  'response.refusal.delta': onRefusalDelta,
  'response.reasoning_text.delta': (event, reading) =>
    reasoningDelta(findOpenItem(event, 'reasoning', reading), event['content_index'], event['delta']),
  'response.reasoning_summary_text.delta': (event, reading) =>
    reasoningDelta(findOpenItem(event, 'reasoning', reading), event['summary_index'], event['delta']),
  'response.function_call_arguments.delta': onArgumentsDelta,
  'response.completed': onFinish,
  'response.incomplete': onFinish,
  'response.failed': onFinish,
  'response.cancelled': onFinish,
  'response.error': onError,
  error: onError,
};

function onCreated(event: WireObject, reading: ReadState, account: ResponseMeta): readonly WireObject[] {
  const { id, model } = asObject(event['response']);
  account.model = stringOrUndefined(model) ?? account.model;
  if (reading.created) return [];
  reading.created = true;
  const response = { id: String(id ?? ''), created_at: 0, model: String(model ?? '') };
  return [{ type: 'response.created', response }];
}

function beginItem(index: number, raw: WireObject, { items }: ReadState): readonly WireObject[] {
  const type = String(raw['type']);
  if (!/^(message|reasoning|function_call)$/.test(type)) return [];
  const id = stringOrUndefined(raw['id']) ?? `${type}_${index}`;
  const item: OutputItem = { id, type, index, summaryIndexes: new Set(), args: '', hasContent: false, done: false };
  items.set(index, item);
  // Encrypted content is complete only at the end of the item.
  const opening = toSdkItem(item, { ...raw, encrypted_content: null });
  return [{ type: 'response.output_item.added', output_index: index, item: opening }];
}

function findOpenItem(event: WireObject, type: string, { items }: ReadState): OutputItem | undefined {
  const item = items.get(numberOrUndefined(event['output_index']) ?? items.size - 1);
  return item?.type === type && !item.done ? item : undefined;
}

function textDelta(item: OutputItem | undefined, words: unknown): readonly WireObject[] {
  if (!item || typeof words !== 'string' || words === '') return [];
  item.hasContent = true;
  return [{ type: 'response.output_text.delta', item_id: item.id, output_index: item.index, delta: words }];
}

function onRefusalDelta(event: WireObject, reading: ReadState): readonly WireObject[] {
  const item = findOpenItem(event, 'message', reading);
  if (item) reading.refused = true;
  return textDelta(item, event['delta']);
}

/** Converts reasoning text to summaries, because the SDK supports summaries only. */
function reasoningDelta(item: OutputItem | undefined, at: unknown, words: unknown): readonly WireObject[] {
  if (!item || typeof words !== 'string' || words === '') return [];
  item.hasContent = true;
  const index = numberOrUndefined(at) ?? 0;
  const position = { item_id: item.id, output_index: item.index, summary_index: index };
  const delta = { type: 'response.reasoning_summary_text.delta', ...position, delta: words };
  if (item.summaryIndexes.has(index)) return [delta];
  const before = [...item.summaryIndexes].at(-1);
  item.summaryIndexes.add(index);
  const added = { type: 'response.reasoning_summary_part.added', ...position };
  if (before === undefined) return [added, delta];
  return [{ type: 'response.reasoning_summary_part.done', ...position, summary_index: before }, added, delta];
}

function onArgumentsDelta(event: WireObject, reading: ReadState): readonly WireObject[] {
  const item = findOpenItem(event, 'function_call', reading);
  const delta = stringOrUndefined(event['delta']);
  if (!item || delta === undefined) return [];
  item.args += delta;
  return [{ type: 'response.function_call_arguments.delta', item_id: item.id, output_index: item.index, delta }];
}

/** Ends an item, with the content that did not arrive in deltas. */
function endItem(index: number, raw: WireObject, reading: ReadState): readonly WireObject[] {
  const startEvents = reading.items.has(index) ? [] : beginItem(index, raw, reading);
  const item = reading.items.get(index);
  if (!item || item.done) return [];
  const rest = item.hasContent ? [] : remainingContent(item, raw, reading);
  item.done = true;
  // An incomplete call is dropped.
  if (item.type === 'function_call' && raw['status'] === 'incomplete') return startEvents;
  return [
    ...startEvents,
    ...rest,
    { type: 'response.output_item.done', output_index: index, item: toSdkItem(item, raw) },
  ];
}

function remainingContent(item: OutputItem, raw: WireObject, reading: ReadState): readonly WireObject[] {
  const content = asObjectArray(raw['content']);
  if (item.type === 'message') {
    reading.refused ||= content.some((part) => part['type'] === 'refusal');
    return content.flatMap((part) => textDelta(item, part['refusal'] ?? part['text']));
  }
  if (item.type !== 'reasoning') return [];
  return [...content, ...asObjectArray(raw['summary'])].flatMap((part, at) => reasoningDelta(item, at, part['text']));
}

function onFinish(event: WireObject, reading: ReadState, account: ResponseMeta): readonly WireObject[] {
  const response = asObject(event['response']);
  account.model = stringOrUndefined(response['model']) ?? account.model;
  account.usage = parseResponsesUsage(asObject(response['usage']));
  if (response['error'] || response['status'] === 'failed') return onError(response, reading, account);
  const missed = asObjectArray(response['output']).flatMap((raw, index) => endItem(index, raw, reading));
  account.rawFinish = findResponsesFinish(response);
  account.finish = reading.refused ? 'refusal' : parseResponsesFinish(account.rawFinish);
  account.ended = true;
  account.complete = true;
  return [...missed, { type: 'response.completed', response: {} }];
}

function onError(event: WireObject, _reading: ReadState, account: ResponseMeta): readonly WireObject[] {
  account.error = event;
  return [];
}

function toSdkItem(item: OutputItem, raw: WireObject): WireObject {
  const { id, type } = item;
  if (type === 'message')
    return { type, id, ...(/^(commentary|final_answer)$/.test(String(raw['phase'])) ? { phase: raw['phase'] } : {}) };
  if (type === 'reasoning') return { type, id, encrypted_content: stringOrUndefined(raw['encrypted_content']) ?? null };
  const argumentsText = raw['arguments'];
  const args =
    typeof argumentsText === 'object' && argumentsText !== null
      ? JSON.stringify(argumentsText)
      : String(argumentsText ?? '');
  return {
    type,
    id,
    call_id: stringOrUndefined(raw['call_id']) ?? id,
    name: String(raw['name'] ?? ''),
    arguments: args === '' ? item.args : args,
    status: 'completed',
  };
}
