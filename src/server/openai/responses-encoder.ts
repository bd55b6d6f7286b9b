// What a run says, as a response: items that begin, grow and end, whole or as the events of a stream.
import type { WireStreamEvent } from '../../wire/index.ts';
import type { FleetRun, JsonObject } from '../../core/index.ts';
import type { CompletionResult } from './completion-result.ts';
import { formatOpenAiError } from './errors.ts';
import {
  createPendingResponse,
  createEndedResponse,
  formatOutputItems,
  createMessageItem,
  createTextPart,
} from './responses-items.ts';
import type { ResponseEncoder } from './response-encoder.ts';

/** The way of responses. */
export function createResponsesEncoder(request: JsonObject, run: FleetRun): ResponseEncoder {
  const response = createPendingResponse(request, run);
  const item = createMessageItem(run);
  const place = { item_id: item['id'] ?? '', output_index: 0, content_index: 0 };
  let next = 0;
  let isOpen = false;
  const event = (type: string, data: JsonObject): WireStreamEvent => ({
    event: type,
    data: { type, sequence_number: next++, ...data },
  });

  /** The message begins with its first words: a response may have none. */
  function open(part: JsonObject): readonly WireStreamEvent[] {
    if (isOpen) return [];
    isOpen = true;
    return [
      event('response.output_item.added', { output_index: 0, item }),
      event('response.content_part.added', { ...place, part }),
    ];
  }

  function* message(said: JsonObject, { text, refusal }: CompletionResult): Generator<WireStreamEvent> {
    yield* open(refusal === undefined ? createTextPart('') : { type: 'refusal', refusal: '' });
    if (refusal === undefined) yield event('response.output_text.done', { ...place, text, logprobs: [] });
    else {
      yield event('response.refusal.delta', { ...place, delta: refusal });
      yield event('response.refusal.done', { ...place, refusal });
    }
    const [part = {}] = said['content'] as readonly JsonObject[];
    yield event('response.content_part.done', { ...place, part });
    yield event('response.output_item.done', { output_index: 0, item: said });
  }

  function* call(made: JsonObject, index: number): Generator<WireStreamEvent> {
    const { id = '', name = '', arguments: given = '' } = made;
    const at = { item_id: id, output_index: index };
    const begins = { ...made, status: 'in_progress', arguments: '' };
    yield event('response.output_item.added', { output_index: index, item: begins });
    yield event('response.function_call_arguments.delta', { ...at, delta: given });
    yield event('response.function_call_arguments.done', { ...at, name, arguments: given });
    yield event('response.output_item.done', { output_index: index, item: made });
  }

  function* end(told: CompletionResult): Generator<WireStreamEvent> {
    for (const [i, each] of formatOutputItems(told).entries())
      yield* each['type'] === 'message' ? message(each, told) : call(each, i);
    const isWhole = told.finish === 'stop' || told.finish === 'tool_calls';
    yield event(isWhole ? 'response.completed' : 'response.incomplete', {
      response: createEndedResponse(response, told),
    });
  }

  return {
    encodeWhole: (told) => createEndedResponse(response, told),
    encodeStart: () => [event('response.created', { response }), event('response.in_progress', { response })],
    encodeDelta: (text) => [
      ...open(createTextPart('')),
      event('response.output_text.delta', { ...place, delta: text, logprobs: [] }),
    ],
    encodeEnd: (told) => [...end(told)],
    encodeError(refusal) {
      const { code = null, message = '', param = null } = formatOpenAiError(refusal);
      return event('error', { code, message, param });
    },
  };
}
