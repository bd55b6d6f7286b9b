// What a run says, as a chat completion: whole, or in pieces.
import { frame } from '../../bridges/dialects/chat.ts';
import type { StreamEvent } from '../../bridges/dialects/dialect.ts';
import { isObject, type FleetRun, type JsonObject } from '../../core/index.ts';
import { wireId } from './call-ids.ts';
import { usageOf, type Told } from './ending.ts';
import { errorOf } from './errors.ts';
import type { Saying } from './saying.ts';

/** The way of chat completions. */
export function chatSaying(request: JsonObject, { id }: FleetRun): Saying {
  const { stream_options: options } = request;
  const counts = isObject(options) && options['include_usage'] === true;
  const base = { ...frame(request, 'chat.completion.chunk'), id: `chatcmpl-${id}` };
  const chunk = (delta: JsonObject, finish: string | null = null): StreamEvent => ({
    data: {
      ...base,
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
      ...(counts ? { usage: null } : {}),
    },
  });
  const usage = (run: FleetRun): JsonObject => usageOf(run, { input: 'prompt_tokens', output: 'completion_tokens' });
  return {
    whole: (told) => ({
      ...base,
      object: 'chat.completion',
      choices: [{ index: 0, message: messageOf(told), logprobs: null, finish_reason: told.finish }],
      usage: usage(told.run),
    }),
    opening: () => [chunk({ role: 'assistant', content: '', refusal: null })],
    delta: (text) => [chunk({ content: text })],
    closing: (told) => [
      ...(told.refusal === undefined ? [] : [chunk({ refusal: told.refusal })]),
      ...callsIn(told).map((call, index) => chunk({ tool_calls: [{ index, ...call }] })),
      chunk({}, told.finish),
      ...(counts ? [{ data: { ...base, choices: [], usage: usage(told.run) } }] : []),
      { data: '[DONE]' },
    ],
    failure: (refusal) => ({ data: { error: errorOf(refusal) } }),
  };
}

function messageOf(told: Told): JsonObject {
  const calls = callsIn(told);
  const isSilent = told.text === '' && (calls.length > 0 || told.refusal !== undefined);
  return {
    role: 'assistant',
    content: isSilent ? null : told.text,
    refusal: told.refusal ?? null,
    annotations: [],
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  };
}

const callsIn = ({ run, calls }: Told): readonly JsonObject[] =>
  calls.map(({ id, tool, input }) => ({
    id: wireId(run, id),
    type: 'function',
    function: { name: tool, arguments: JSON.stringify(input) },
  }));
