// OpenAI responses: items instead of one message, and an event for each step of each of them.
import type { Json, JsonObject } from '../../core/index.ts';
import { argumentPieces, pieces } from '../pieces.ts';
import type { FullAnswer } from '../script.ts';
import { errorObject } from './chat.ts';
import { counted, event, nowSeconds, stamp, type Occasion, type Speaker, type Stream } from './reply.ts';

/** Writes an answer as a response. */
export const responses: Speaker = {
  streamType: 'text/event-stream; charset=utf-8',
  jsonType: 'application/json',
  whole: (answer, occasion) => JSON.stringify(finished(answer, occasion)),
  stream,
  failure: (failure) => JSON.stringify({ error: errorObject(failure) }),
  failureEvent: (failure) =>
    event('error', JSON.stringify({ type: 'error', sequence_number: 0, error: errorObject(failure) })),
};

const serial = ({ index }: Occasion): string => index.toString(16).padStart(12, '0');

/** A response that has only begun. */
const begun = (answer: FullAnswer, occasion: Occasion): object => ({
  id: `resp_${serial(occasion)}`,
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

function finished(answer: FullAnswer, occasion: Occasion): object {
  const cut = { length: 'max_output_tokens', filtered: 'content_filter', other: 'other' } as const;
  const why = answer.finish in cut ? cut[answer.finish as keyof typeof cut] : undefined;
  return {
    ...begun(answer, occasion),
    status: why === undefined ? 'completed' : 'incomplete',
    incomplete_details: why === undefined ? null : { reason: why },
    output: itemsOf(answer, occasion),
    usage: usageOf(answer),
  };
}

type Item = JsonObject & { readonly id: string; readonly type: string };

function itemsOf(answer: FullAnswer, occasion: Occasion): readonly Item[] {
  const status = answer.finish === 'length' ? 'incomplete' : 'completed';
  const mark = serial(occasion);
  const items: Item[] = [];
  if (answer.reasoning !== '') {
    const summary = [{ type: 'summary_text', text: answer.reasoning }];
    items.push({ id: `rs_${mark}`, type: 'reasoning', summary, ...sealed(occasion) });
  }
  if (answer.text !== '')
    items.push({
      id: `msg_${mark}`,
      type: 'message',
      status,
      role: 'assistant',
      content: [contentOf(answer, answer.text)],
    });
  for (const [i, call] of answer.calls.entries()) {
    const id = `fc_${mark}${i.toString(16).padStart(3, '0')}`;
    items.push({ id, type: 'function_call', status, call_id: call.id, name: call.tool, arguments: call.raw });
  }
  return items;
}

/** Whoever keeps the conversation himself asks for the reasoning in a form only the service can read. */
function sealed(occasion: Occasion): JsonObject {
  const include = occasion.body['include'];
  const asked = Array.isArray(include) && include.includes('reasoning.encrypted_content');
  return asked ? { encrypted_content: Buffer.from(`scripted thought ${occasion.index}`).toString('base64') } : {};
}

const contentOf = ({ finish }: FullAnswer, text: string): JsonObject =>
  finish === 'refusal'
    ? { type: 'refusal', refusal: text }
    : { type: 'output_text', annotations: [], logprobs: [], text };

function usageOf(answer: FullAnswer): Json {
  const count = counted(answer.usage);
  if (!count) return null;
  return {
    input_tokens: count.input,
    input_tokens_details: { cached_tokens: count.cacheRead },
    output_tokens: count.output,
    output_tokens_details: { reasoning_tokens: count.reasoning },
    total_tokens: count.input + count.output,
  };
}

function stream(answer: FullAnswer, occasion: Occasion): Stream {
  let sequence = 0;
  const say: Say = (type, fields) => event(type, JSON.stringify({ type, ...fields, sequence_number: sequence++ }));
  const sayEach: SayEach = (type, make) => {
    const write = stamp(
      (delta) => ({ type, ...make(delta) }),
      () => `"sequence_number":${sequence++}`,
    );
    return (delta) => event(type, write(delta));
  };
  const response = begun(answer, occasion);
  const open = say('response.created', { response }) + say('response.in_progress', { response });
  const deltas = itemsOf(answer, occasion).flatMap((item, place) => {
    const began = say('response.output_item.added', { output_index: place, item: { ...item, ...empty(item) } });
    const { before, parts, after } = insides(answer, item, place, say, sayEach);
    const ended = after() + say('response.output_item.done', { output_index: place, item });
    return parts.map((part, i) => (i === 0 ? began + before : '') + part + (i === parts.length - 1 ? ended : ''));
  });
  const whole = finished(answer, occasion);
  const type = 'status' in whole && whole.status === 'incomplete' ? 'response.incomplete' : 'response.completed';
  return { open, deltas, close: '', done: say(type, { response: whole }) };
}

/** What an item holds before its first piece has come. */
function empty(item: Item): JsonObject {
  if (item.type === 'reasoning') return { summary: [] };
  return item.type === 'message' ? { status: 'in_progress', content: [] } : { status: 'in_progress', arguments: '' };
}

type Say = (type: string, fields: object) => string;
type SayEach = (type: string, make: (delta: string) => object) => (delta: string) => string;
type Insides = { readonly before: string; readonly parts: readonly string[]; readonly after: () => string };

function insides(answer: FullAnswer, item: Item, place: number, say: Say, sayEach: SayEach): Insides {
  const at = { item_id: item.id, output_index: place };
  if (item.type === 'reasoning') {
    const here = { ...at, summary_index: 0 };
    const text = answer.reasoning;
    return {
      before: say('response.reasoning_summary_part.added', { ...here, part: { type: 'summary_text', text: '' } }),
      parts: pieces(text).map(sayEach('response.reasoning_summary_text.delta', (delta) => ({ ...here, delta }))),
      after: () =>
        say('response.reasoning_summary_text.done', { ...here, text }) +
        say('response.reasoning_summary_part.done', { ...here, part: { type: 'summary_text', text } }),
    };
  }
  if (item.type === 'function_call') {
    const raw = String(item['arguments']);
    return {
      before: '',
      parts: argumentPieces(raw).map(sayEach('response.function_call_arguments.delta', (delta) => ({ ...at, delta }))),
      after: () => say('response.function_call_arguments.done', { ...at, arguments: raw }),
    };
  }
  const refused = answer.finish === 'refusal';
  const here = { ...at, content_index: 0 };
  const name = refused ? 'response.refusal' : 'response.output_text';
  return {
    before: say('response.content_part.added', { ...here, part: contentOf(answer, '') }),
    parts: answer.textPieces.map(
      sayEach(`${name}.delta`, (delta) => ({ ...here, delta, ...(refused ? {} : { logprobs: [] }) })),
    ),
    after: () =>
      say(`${name}.done`, refused ? { ...here, refusal: answer.text } : { ...here, text: answer.text, logprobs: [] }) +
      say('response.content_part.done', { ...here, part: contentOf(answer, answer.text) }),
  };
}
