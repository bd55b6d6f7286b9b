// Words of ours as one of OpenAI's responses, whole or as the events of a stream.
import type { JsonObject } from '../../core/index.ts';
import type { WireStreamEvent } from './wire-format.ts';
import { asObjectArray, asString } from './json.ts';

/** A whole response that says this. */
export const createTextResponse = (request: JsonObject, words: string): JsonObject => ({
  id: `resp_${crypto.randomUUID().replaceAll('-', '')}`,
  object: 'response',
  created_at: Math.floor(Date.now() / 1000),
  status: 'completed',
  error: null,
  incomplete_details: null,
  instructions: request['instructions'] ?? null,
  model: asString(request['model']),
  output: [
    {
      id: `msg_${crypto.randomUUID().replaceAll('-', '')}`,
      type: 'message',
      status: 'completed',
      role: 'assistant',
      content: [{ type: 'output_text', text: words, annotations: [] }],
    },
  ],
  parallel_tool_calls: true,
  tool_choice: 'auto',
  tools: [],
  usage: { input_tokens: 0, output_tokens: 0, total_tokens: 0 },
});

/** A response of one message as the events of a stream, in the order in which they are made; what is added last joins the whole response. */
export function createResponseEvents(response: JsonObject): {
  readonly opening: readonly WireStreamEvent[];
  readonly delta: (words: string) => WireStreamEvent;
  readonly closing: (words: string, more?: JsonObject) => readonly WireStreamEvent[];
} {
  const [item = {}] = asObjectArray(response['output']);
  const part = { type: 'output_text', text: '', annotations: [] };
  const place = { item_id: item['id'] ?? '', output_index: 0, content_index: 0 };
  let next = 0;
  const event = (type: string, data: JsonObject): WireStreamEvent => ({
    event: type,
    data: { type, sequence_number: next++, ...data },
  });
  return {
    opening: [
      event('response.created', { response: { ...response, status: 'in_progress', output: [] } }),
      event('response.output_item.added', { output_index: 0, item: { ...item, status: 'in_progress', content: [] } }),
      event('response.content_part.added', { ...place, part }),
    ],
    delta: (words) => event('response.output_text.delta', { ...place, delta: words }),
    closing(words, more = {}) {
      const whole = { ...part, text: words };
      const said = { ...item, content: [whole] };
      return [
        event('response.output_text.done', { ...place, text: words }),
        event('response.content_part.done', { ...place, part: whole }),
        event('response.output_item.done', { output_index: 0, item: said }),
        event('response.completed', { response: { ...response, output: [said], ...more } }),
      ];
    },
  };
}
