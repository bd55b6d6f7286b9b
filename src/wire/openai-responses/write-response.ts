// Writes OpenAI responses: whole documents and the events of a stream.
import type { FinishReason, Json, JsonObject } from '../../core/index.ts';
import type { WireStreamEvent } from '../sse.ts';
import { responsesIncompleteReasons } from './finish-reasons.ts';

/** Writes a response that is in progress; it repeats the fields of the request. */
export function writePendingResponse(
  request: JsonObject,
  { id, model, createdAt }: { readonly id: string; readonly model: Json; readonly createdAt: number },
): JsonObject {
  const field = (name: string, defaultValue: Json = null): Json => request[name] ?? defaultValue;
  return {
    id,
    object: 'response',
    created_at: createdAt,
    status: 'in_progress',
    background: false,
    error: null,
    incomplete_details: null,
    instructions: field('instructions'),
    max_output_tokens: field('max_output_tokens'),
    metadata: field('metadata', {}),
    model,
    output: [],
    parallel_tool_calls: field('parallel_tool_calls', true),
    previous_response_id: field('previous_response_id'),
    reasoning: field('reasoning', { effort: null, summary: null }),
    store: true,
    temperature: field('temperature'),
    text: field('text', { format: { type: 'text' } }),
    tool_choice: field('tool_choice', 'auto'),
    tools: field('tools', []),
    top_p: field('top_p'),
    truncation: 'disabled',
    usage: null,
  };
}

/** Writes a response that has ended. */
export function writeEndedResponse(
  pending: JsonObject,
  {
    finish,
    output,
    usage,
  }: { readonly finish: FinishReason; readonly output: readonly JsonObject[]; readonly usage: Json },
): JsonObject {
  const reason = responsesIncompleteReasons[finish];
  return {
    ...pending,
    status: reason === undefined ? 'completed' : 'incomplete',
    incomplete_details: reason === undefined ? null : { reason },
    output,
    usage,
  };
}

/** Writes a text part of a message. */
export const writeTextPart = (text: string): JsonObject => ({
  type: 'output_text',
  text,
  annotations: [],
  logprobs: [],
});

/** Writes a refusal part of a message. */
export const writeRefusalPart = (refusal: string): JsonObject => ({ type: 'refusal', refusal });

/** Writes a message item with its only part; without a part it is in progress. */
export const writeMessageItem = (id: string, part?: JsonObject, status = 'completed'): JsonObject => ({
  id,
  type: 'message',
  status: part ? status : 'in_progress',
  role: 'assistant',
  content: part ? [part] : [],
});

/** Writes a function call item; `text` is its arguments as JSON. */
export const writeCallItem = (
  { id, callId, name }: { readonly id: string; readonly callId: string; readonly name: string },
  text: string,
  status = 'completed',
): JsonObject => ({ id, type: 'function_call', status, call_id: callId, name, arguments: text });

/** Writes the events of one item. */
export type ItemEvents = {
  begin(): readonly WireStreamEvent[];
  delta(text: string): WireStreamEvent;
  /** `item` is the complete item, `text` all of its deltas; `extra` fields join the event that ends the text. */
  end(item: JsonObject, text: string, extra?: JsonObject): readonly WireStreamEvent[];
};

/** Writes the events of one response; they are numbered in the order in which they are written. */
export type ResponsesEvents = {
  start(response: JsonObject): readonly WireStreamEvent[];
  item(index: number, item: JsonObject, kind: ItemKind): ItemEvents;
  end(response: JsonObject): WireStreamEvent;
  error(fields: JsonObject): WireStreamEvent;
};

/** What the deltas of an item contain. */
export type ItemKind = 'text' | 'refusal' | 'reasoning' | 'call';

type ItemKindFields = {
  readonly event: string;
  /** Fields of the item that are empty when it begins. */
  readonly empty: JsonObject;
  readonly position: JsonObject;
  readonly delta?: JsonObject;
  readonly done: (text: string) => JsonObject;
  readonly part?: { readonly event: string; readonly write: (text: string) => JsonObject };
};

const emptyMessage = { status: 'in_progress', content: [] };

const itemKinds: Readonly<Record<ItemKind, ItemKindFields>> = {
  text: {
    event: 'response.output_text',
    empty: emptyMessage,
    position: { content_index: 0 },
    delta: { logprobs: [] },
    done: (text) => ({ text, logprobs: [] }),
    part: { event: 'response.content_part', write: writeTextPart },
  },
  refusal: {
    event: 'response.refusal',
    empty: emptyMessage,
    position: { content_index: 0 },
    done: (refusal) => ({ refusal }),
    part: { event: 'response.content_part', write: writeRefusalPart },
  },
  reasoning: {
    event: 'response.reasoning_summary_text',
    empty: { summary: [] },
    position: { summary_index: 0 },
    done: (text) => ({ text }),
    part: { event: 'response.reasoning_summary_part', write: (text) => ({ type: 'summary_text', text }) },
  },
  call: {
    event: 'response.function_call_arguments',
    empty: { status: 'in_progress', arguments: '' },
    position: {},
    done: (text) => ({ arguments: text }),
  },
};

/** Creates a writer for the events of one response. */
export function createResponsesEvents(): ResponsesEvents {
  let next = 0;
  const event = (type: string, data: JsonObject): WireStreamEvent => ({
    event: type,
    data: { type, sequence_number: next++, ...data },
  });
  return {
    start: (response) => [event('response.created', { response }), event('response.in_progress', { response })],
    item(index, item, kindName) {
      const { event: name, empty, position, delta, done, part } = itemKinds[kindName];
      const at = { item_id: item['id'] ?? '', output_index: index, ...position };
      return {
        begin: () => [
          event('response.output_item.added', { output_index: index, item: { ...item, ...empty } }),
          ...(part ? [event(`${part.event}.added`, { ...at, part: part.write('') })] : []),
        ],
        delta: (text) => event(`${name}.delta`, { ...at, delta: text, ...delta }),
        end: (complete, text, extra = {}) => [
          event(`${name}.done`, { ...at, ...extra, ...done(text) }),
          ...(part ? [event(`${part.event}.done`, { ...at, part: part.write(text) })] : []),
          event('response.output_item.done', { output_index: index, item: complete }),
        ],
      };
    },
    end: (response) =>
      event(`response.${response['status'] === 'incomplete' ? 'incomplete' : 'completed'}`, { response }),
    error: (fields) => event('error', fields),
  };
}
