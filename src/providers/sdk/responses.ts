// OpenAI's Responses API without memory at the server, through the AI SDK's package for it.
import { createOpenAI } from '@ai-sdk/openai';
import type { JSONValue } from '@ai-sdk/provider';
import type { FinishReason, JsonObject, Provider, ModelRequest } from '../../core/index.ts';
import { sdkProvider, type SdkOptions } from './sdk.ts';
import { isStrict, objectSchema } from '../wire/schema.ts';
import { countOf, textFrom, usageOf, wireOf, wiresOf, type Account, type Dialect, type Wire } from './wire.ts';

/** How a server with a Responses API is reached. */
export type ResponsesOptions = SdkOptions;

/** A model behind a Responses API. Every request holds the whole conversation: nothing is stored, nothing is referred to. */
export function responsesProvider(given: ResponsesOptions): Provider {
  const options = { baseUrl: 'https://api.openai.com/v1', ...given };
  const { model } = options;
  const family = given.family === undefined ? 'responses' : `${given.family}-responses`;
  return sdkProvider(
    {
      accent: {
        family,
        key: 'openai',
        schema: objectSchema,
        options: (request) => requestOptions(request, model),
        // Without the mark this API rewrites schemas to its strict form, and optional arguments become required.
        loose: true,
        unmarked: true,
      },
      dialect: responsesDialect,
      open: (fetch) =>
        createOpenAI({
          apiKey: options.apiKey ?? '',
          baseURL: options.baseUrl,
          headers: { ...options.headers },
          fetch,
        }).responses(model),
      keep,
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
    // A model of another maker that is asked to think does, whatever the SDK's list of models knows of it.
    forceReasoning: thinks && !/^(gpt|o\d|chatgpt|codex|computer)/.test(model) ? true : undefined,
    strictJsonSchema: outputSchema ? isStrict(outputSchema) : undefined,
  };
}

/**
 * Thoughts go back sealed and without the ids of their items: an id binds a thought to the very items that followed it, and a
 * history whose calls have other ids, or that was cut or compacted, would be refused.
 */
function keep(kind: string, { reasoningEncryptedContent, phase }: JsonObject): JsonObject | undefined {
  if (kind === 'text' && phase !== undefined) return { phase };
  if (kind === 'reasoning' && reasoningEncryptedContent !== undefined) return { reasoningEncryptedContent };
  return undefined;
}

/** The event stream of `/v1/responses`. Items of tools that the server runs itself are passed over. */
const responsesDialect: Dialect = {
  reader(account) {
    const reading: Reading = { items: new Map(), created: false, refused: false };
    return (event) => handlers[String(event['type'] ?? 'error')]?.(event, reading, account) ?? [];
  },
  unfold: (response) => [
    { type: 'response.created', response },
    { type: 'response.completed', response },
  ],
};

type Item = {
  readonly id: string;
  readonly type: string;
  readonly index: number;
  readonly thoughts: Set<number>;
  args: string;
  spoken: boolean;
  done: boolean;
};

type Reading = { readonly items: Map<number, Item>; created: boolean; refused: boolean };

type Handler = (event: Wire, reading: Reading, account: Account) => readonly Wire[];

const handlers: Readonly<Record<string, Handler | undefined>> = {
  'response.created': created,
  'response.queued': created,
  'response.in_progress': created,
  'response.output_item.added': (event, reading) =>
    begin(countOf(event['output_index']) ?? reading.items.size, wireOf(event['item']), reading),
  'response.output_item.done': (event, reading) =>
    end(countOf(event['output_index']) ?? reading.items.size - 1, wireOf(event['item']), reading),
  'response.output_text.delta': (event, reading) => speak(open(event, 'message', reading), event['delta']),
  'response.refusal.delta': refuse,
  'response.reasoning_text.delta': (event, reading) =>
    think(open(event, 'reasoning', reading), event['content_index'], event['delta']),
  'response.reasoning_summary_text.delta': (event, reading) =>
    think(open(event, 'reasoning', reading), event['summary_index'], event['delta']),
  'response.function_call_arguments.delta': argue,
  'response.completed': finish,
  'response.incomplete': finish,
  'response.failed': finish,
  'response.cancelled': finish,
  'response.error': fail,
  error: fail,
};

function created(event: Wire, reading: Reading, account: Account): readonly Wire[] {
  const { id, model } = wireOf(event['response']);
  account.model = textFrom(model) ?? account.model;
  if (reading.created) return [];
  reading.created = true;
  const response = { id: String(id ?? ''), created_at: 0, model: String(model ?? '') };
  return [{ type: 'response.created', response }];
}

function begin(index: number, raw: Wire, { items }: Reading): readonly Wire[] {
  const type = String(raw['type']);
  if (!/^(message|reasoning|function_call)$/.test(type)) return [];
  const id = textFrom(raw['id']) ?? `${type}_${index}`;
  const item: Item = { id, type, index, thoughts: new Set(), args: '', spoken: false, done: false };
  items.set(index, item);
  // What is sealed is only complete at the end of the item.
  const opening = itemFor(item, { ...raw, encrypted_content: null });
  return [{ type: 'response.output_item.added', output_index: index, item: opening }];
}

function open(event: Wire, type: string, { items }: Reading): Item | undefined {
  const item = items.get(countOf(event['output_index']) ?? items.size - 1);
  return item?.type === type && !item.done ? item : undefined;
}

function speak(item: Item | undefined, words: unknown): readonly Wire[] {
  if (!item || typeof words !== 'string' || words === '') return [];
  item.spoken = true;
  return [{ type: 'response.output_text.delta', item_id: item.id, output_index: item.index, delta: words }];
}

function refuse(event: Wire, reading: Reading): readonly Wire[] {
  const item = open(event, 'message', reading);
  if (item) reading.refused = true;
  return speak(item, event['delta']);
}

/** Thoughts said outright and summaries of them look alike from here on: the SDK knows summaries only. */
function think(item: Item | undefined, at: unknown, words: unknown): readonly Wire[] {
  if (!item || typeof words !== 'string' || words === '') return [];
  item.spoken = true;
  const index = countOf(at) ?? 0;
  const place = { item_id: item.id, output_index: item.index, summary_index: index };
  const delta = { type: 'response.reasoning_summary_text.delta', ...place, delta: words };
  if (item.thoughts.has(index)) return [delta];
  const before = [...item.thoughts].at(-1);
  item.thoughts.add(index);
  const added = { type: 'response.reasoning_summary_part.added', ...place };
  if (before === undefined) return [added, delta];
  return [{ type: 'response.reasoning_summary_part.done', ...place, summary_index: before }, added, delta];
}

function argue(event: Wire, reading: Reading): readonly Wire[] {
  const item = open(event, 'function_call', reading);
  const delta = textFrom(event['delta']);
  if (!item || delta === undefined) return [];
  item.args += delta;
  return [{ type: 'response.function_call_arguments.delta', item_id: item.id, output_index: item.index, delta }];
}

/** The end of an item, with whatever of it did not come in pieces. */
function end(index: number, raw: Wire, reading: Reading): readonly Wire[] {
  const begun = reading.items.has(index) ? [] : begin(index, raw, reading);
  const item = reading.items.get(index);
  if (!item || item.done) return [];
  const rest = item.spoken ? [] : contentOf(item, raw, reading);
  item.done = true;
  // The server gave up in the middle of this call: it is half a call, and none.
  if (item.type === 'function_call' && raw['status'] === 'incomplete') return begun;
  return [...begun, ...rest, { type: 'response.output_item.done', output_index: index, item: itemFor(item, raw) }];
}

function contentOf(item: Item, raw: Wire, reading: Reading): readonly Wire[] {
  const content = wiresOf(raw['content']);
  if (item.type === 'message') {
    reading.refused ||= content.some((part) => part['type'] === 'refusal');
    return content.flatMap((part) => speak(item, part['refusal'] ?? part['text']));
  }
  if (item.type !== 'reasoning') return [];
  return [...content, ...wiresOf(raw['summary'])].flatMap((part, at) => think(item, at, part['text']));
}

function finish(event: Wire, reading: Reading, account: Account): readonly Wire[] {
  const response = wireOf(event['response']);
  account.model = textFrom(response['model']) ?? account.model;
  account.usage = usageFrom(wireOf(response['usage']));
  if (response['error'] || response['status'] === 'failed') return fail(response, reading, account);
  const missed = wiresOf(response['output']).flatMap((raw, index) => end(index, raw, reading));
  account.rawFinish = textFrom(wireOf(response['incomplete_details'])['reason']) ?? textFrom(response['status']);
  account.finish = reading.refused ? 'refusal' : finishFor(account.rawFinish);
  account.ended = true;
  account.over = true;
  return [...missed, { type: 'response.completed', response: {} }];
}

function fail(event: Wire, _reading: Reading, account: Account): readonly Wire[] {
  account.error = event;
  return [];
}

function itemFor(item: Item, raw: Wire): Wire {
  const { id, type } = item;
  if (type === 'message')
    return { type, id, ...(/^(commentary|final_answer)$/.test(String(raw['phase'])) ? { phase: raw['phase'] } : {}) };
  if (type === 'reasoning') return { type, id, encrypted_content: textFrom(raw['encrypted_content']) ?? null };
  const given = raw['arguments'];
  const args = typeof given === 'object' && given !== null ? JSON.stringify(given) : String(given ?? '');
  return {
    type,
    id,
    call_id: textFrom(raw['call_id']) ?? id,
    name: String(raw['name'] ?? ''),
    arguments: args === '' ? item.args : args,
    status: 'completed',
  };
}

function finishFor(reason: string | undefined): FinishReason {
  if (reason === 'completed' || reason === 'complete') return 'stop';
  if (reason === 'max_output_tokens') return 'length';
  return reason === 'content_filter' ? 'filtered' : 'other';
}

/** Here the input already includes what came from the cache. */
const usageFrom = (usage: Wire): Account['usage'] =>
  usageOf({
    input: countOf(usage['input_tokens']),
    output: countOf(usage['output_tokens']),
    cacheRead: countOf(wireOf(usage['input_tokens_details'])['cached_tokens']),
    cacheWrite: countOf(wireOf(usage['input_tokens_details'])['cache_write_tokens']),
    reasoning: countOf(wireOf(usage['output_tokens_details'])['reasoning_tokens']),
  });
