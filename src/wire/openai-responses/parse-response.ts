// Parses OpenAI responses: whole documents and streams.
import { isObject, type Json, type JsonObject } from '../../core/index.ts';
import { asObject, asObjectArray, asString } from '../fields.ts';
import type { WireStreamEvent } from '../sse.ts';
import type { ParsedModelResponse, StreamAssembler } from '../wire-format.ts';
import { findResponsesFinish, parseResponsesFinish } from './finish-reasons.ts';
import { isClientCall, parseModelItem } from './parse-request.ts';
import { parseResponsesUsage } from './usage.ts';

/** Parses a response. */
export function parseResponsesResponse(response: JsonObject): ParsedModelResponse {
  const output = asObjectArray(response['output']);
  const parts = output.flatMap(parseModelItem);
  const id = asString(response['id']);
  const finish = parseResponsesFinish(findResponsesFinish(response) ?? 'completed');
  const hasCalls = parts.some(({ type }) => type === 'tool-call');
  return {
    message: { role: 'assistant', parts },
    finish: hasCalls && finish === 'stop' ? 'tool-calls' : finish,
    usage: parseResponsesUsage(asObject(response['usage'])),
    raw: output,
    ...(id === '' ? {} : { id }),
  };
}

/** Assembles a response from the events of its stream. */
export function createResponsesAssembler(): StreamAssembler {
  let response: JsonObject = {};
  const items: JsonObject[] = [];
  return {
    push({ data }) {
      if (data === '[DONE]') return { mustHold: false };
      const item = asObject(data['item']);
      if (data['type'] === 'response.output_item.done') items.push(item);
      if (isObject(data['response'])) response = data['response'];
      return { mustHold: isClientCall(item) || asObjectArray(asObject(data['response'])['output']).some(isClientCall) };
    },
    // The last event may omit the output.
    response: () =>
      parseResponsesResponse(
        asObjectArray(response['output']).length >= items.length ? response : { ...response, output: items },
      ),
  };
}

const openingTypes = ['response.created', 'response.in_progress', 'response.queued'];

/** Continues a response that has started: drops further opening events, renumbers items and events, and adds the earlier items to the output. */
export function continueResponsesStream(
  sent: readonly WireStreamEvent[],
): (event: WireStreamEvent) => WireStreamEvent | undefined {
  const events = sent.flatMap(({ data }) => (data === '[DONE]' ? [] : [data]));
  const items = events.flatMap(({ type, item }) => (type === 'response.output_item.done' ? [asObject(item)] : []));
  const added = events.filter(({ type }) => type === 'response.output_item.added').length;
  let next = events.length;
  return (event) => {
    const { data } = event;
    if (data === '[DONE]') return event;
    if (events.length > 0 && openingTypes.includes(asString(data['type']))) return undefined;
    const response = asObject(data['response']);
    return {
      ...event,
      data: {
        ...data,
        ...('sequence_number' in data ? { sequence_number: next++ } : {}),
        ...(typeof data['output_index'] === 'number' ? { output_index: data['output_index'] + added } : {}),
        ...(Array.isArray(response['output'])
          ? { response: { ...response, output: [...items, ...asObjectArray(response['output'] as Json)] } }
          : {}),
      },
    };
  };
}
