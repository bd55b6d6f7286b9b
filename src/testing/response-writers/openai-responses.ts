// OpenAI responses: items instead of one message, and an event for each step of each of them.
import type { Json, JsonObject } from '../../core/index.ts';
import { splitToolArguments, splitText } from '../split-text.ts';
import type { ResolvedResponse } from '../script.ts';
import { writeOpenAIError } from './openai-chat.ts';
import {
  resolveCounts,
  sseEvent,
  nowSeconds,
  compileTemplate,
  type ResponseWriterContext,
  type ResponseWriter,
  type StreamParts,
} from './writer.ts';

/** Writes an answer as a response. */
export const responsesWriter: ResponseWriter = {
  streamType: 'text/event-stream; charset=utf-8',
  jsonType: 'application/json',
  writeWhole: (answer, occasion) => JSON.stringify(completedResponse(answer, occasion)),
  writeStream: writeResponsesStream,
  writeError: (failure) => JSON.stringify({ error: writeOpenAIError(failure) }),
  writeErrorEvent: (failure) =>
    sseEvent('error', JSON.stringify({ type: 'error', sequence_number: 0, error: writeOpenAIError(failure) })),
};

const idSuffix = ({ index }: ResponseWriterContext): string => index.toString(16).padStart(12, '0');

/** A response that has only begun. */
const responseInProgress = (answer: ResolvedResponse, occasion: ResponseWriterContext): object => ({
  id: `resp_${idSuffix(occasion)}`,
  object: 'response',
  created_at: nowSeconds(),
  status: 'in_progress',
  background: false,
  error: null,
  incomplete_details: null,
  instructions: occasion.body['instructions'] ?? null,
  max_output_tokens: occasion.body['max_output_tokens'] ?? null,
  metadata: {},
  model: answer.model,
  output: [],
  parallel_tool_calls: true,
  previous_response_id: occasion.body['previous_response_id'] ?? null,
  reasoning: { effort: null, summary: null },
  service_tier: 'default',
  store: occasion.body['store'] ?? true,
  temperature: 1,
  text: { format: { type: 'text' } },
  tool_choice: occasion.body['tool_choice'] ?? 'auto',
  // The real service repeats the tools; a client that reads them back has sent them itself.
  tools: [],
  top_p: 1,
  truncation: 'disabled',
  usage: null,
  user: null,
});

function completedResponse(answer: ResolvedResponse, occasion: ResponseWriterContext): object {
  const cut = { length: 'max_output_tokens', filtered: 'content_filter', other: 'other' } as const;
  const why = answer.finish in cut ? cut[answer.finish as keyof typeof cut] : undefined;
  return {
    ...responseInProgress(answer, occasion),
    status: why === undefined ? 'completed' : 'incomplete',
    incomplete_details: why === undefined ? null : { reason: why },
    output: outputItems(answer, occasion),
    usage: writeResponsesUsage(answer),
  };
}

type OutputItem = JsonObject & { readonly id: string; readonly type: string };

function outputItems(answer: ResolvedResponse, occasion: ResponseWriterContext): readonly OutputItem[] {
  const status = answer.finish === 'length' ? 'incomplete' : 'completed';
  const mark = idSuffix(occasion);
  const items: OutputItem[] = [];
  if (answer.reasoning !== '') {
    const summary = [{ type: 'summary_text', text: answer.reasoning }];
    items.push({ id: `rs_${mark}`, type: 'reasoning', summary, ...encryptedContent(occasion) });
  }
  if (answer.text !== '')
    items.push({
      id: `msg_${mark}`,
      type: 'message',
      status,
      role: 'assistant',
      content: [messageContent(answer, answer.text)],
    });
  for (const [i, call] of answer.calls.entries()) {
    const id = `fc_${mark}${i.toString(16).padStart(3, '0')}`;
    items.push({ id, type: 'function_call', status, call_id: call.id, name: call.tool, arguments: call.raw });
  }
  return items;
}

/** Whoever keeps the conversation himself asks for the reasoning in a form only the service can read. */
function encryptedContent(occasion: ResponseWriterContext): JsonObject {
  const include = occasion.body['include'];
  const asked = Array.isArray(include) && include.includes('reasoning.encrypted_content');
  return asked ? { encrypted_content: Buffer.from(`scripted thought ${occasion.index}`).toString('base64') } : {};
}

const messageContent = ({ finish }: ResolvedResponse, text: string): JsonObject =>
  finish === 'refusal'
    ? { type: 'refusal', refusal: text }
    : { type: 'output_text', annotations: [], logprobs: [], text };

function writeResponsesUsage(answer: ResolvedResponse): Json {
  const count = resolveCounts(answer.usage);
  if (!count) return null;
  return {
    input_tokens: count.input,
    input_tokens_details: { cached_tokens: count.cacheRead },
    output_tokens: count.output,
    output_tokens_details: { reasoning_tokens: count.reasoning },
    total_tokens: count.input + count.output,
  };
}

function writeResponsesStream(answer: ResolvedResponse, occasion: ResponseWriterContext): StreamParts {
  let sequence = 0;
  const say: WriteEvent = (type, fields) =>
    sseEvent(type, JSON.stringify({ type, ...fields, sequence_number: sequence++ }));
  const sayEach: CompileDelta = (type, make) => {
    const write = compileTemplate(
      (delta) => ({ type, ...make(delta) }),
      () => `"sequence_number":${sequence++}`,
    );
    return (delta) => sseEvent(type, write(delta));
  };
  const response = responseInProgress(answer, occasion);
  const open = say('response.created', { response }) + say('response.in_progress', { response });
  const deltas = outputItems(answer, occasion).flatMap((item, place) => {
    const began = say('response.output_item.added', { output_index: place, item: { ...item, ...emptyItem(item) } });
    const { before, parts, after } = itemEvents(answer, item, place, say, sayEach);
    const ended = after() + say('response.output_item.done', { output_index: place, item });
    return parts.map((part, i) => (i === 0 ? began + before : '') + part + (i === parts.length - 1 ? ended : ''));
  });
  const whole = completedResponse(answer, occasion);
  const type = 'status' in whole && whole.status === 'incomplete' ? 'response.incomplete' : 'response.completed';
  return { open, deltas, close: '', done: say(type, { response: whole }) };
}

/** What an item holds before its first piece has come. */
function emptyItem(item: OutputItem): JsonObject {
  if (item.type === 'reasoning') return { summary: [] };
  return item.type === 'message' ? { status: 'in_progress', content: [] } : { status: 'in_progress', arguments: '' };
}

type WriteEvent = (type: string, fields: object) => string;
type CompileDelta = (type: string, make: (delta: string) => object) => (delta: string) => string;
type ItemEvents = { readonly before: string; readonly parts: readonly string[]; readonly after: () => string };

function itemEvents(
  answer: ResolvedResponse,
  item: OutputItem,
  place: number,
  say: WriteEvent,
  sayEach: CompileDelta,
): ItemEvents {
  const at = { item_id: item.id, output_index: place };
  if (item.type === 'reasoning') {
    const here = { ...at, summary_index: 0 };
    const text = answer.reasoning;
    return {
      before: say('response.reasoning_summary_part.added', { ...here, part: { type: 'summary_text', text: '' } }),
      parts: splitText(text).map(sayEach('response.reasoning_summary_text.delta', (delta) => ({ ...here, delta }))),
      after: () =>
        say('response.reasoning_summary_text.done', { ...here, text }) +
        say('response.reasoning_summary_part.done', { ...here, part: { type: 'summary_text', text } }),
    };
  }
  if (item.type === 'function_call') {
    const raw = String(item['arguments']);
    return {
      before: '',
      parts: splitToolArguments(raw).map(
        sayEach('response.function_call_arguments.delta', (delta) => ({ ...at, delta })),
      ),
      after: () => say('response.function_call_arguments.done', { ...at, arguments: raw }),
    };
  }
  const refused = answer.finish === 'refusal';
  const here = { ...at, content_index: 0 };
  const name = refused ? 'response.refusal' : 'response.output_text';
  return {
    before: say('response.content_part.added', { ...here, part: messageContent(answer, '') }),
    parts: answer.textChunks.map(
      sayEach(`${name}.delta`, (delta) => ({ ...here, delta, ...(refused ? {} : { logprobs: [] }) })),
    ),
    after: () =>
      say(`${name}.done`, refused ? { ...here, refusal: answer.text } : { ...here, text: answer.text, logprobs: [] }) +
      say('response.content_part.done', { ...here, part: messageContent(answer, answer.text) }),
  };
}
