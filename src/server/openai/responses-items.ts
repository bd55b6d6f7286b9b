// A response as OpenAI's clients know it: what was asked, said again, and the items that came of it.
import type { FleetRun, Json, JsonObject } from '../../core/index.ts';
import { defaultModelAlias } from '../http/run-request.ts';
import { formatResponseId, formatCallId } from './call-ids.ts';
import { formatUsage, type CompletionResult } from './completion-result.ts';

/** A response that has said nothing yet. */
export function createPendingResponse(request: JsonObject, run: FleetRun): JsonObject {
  const given = (name: string, usual: Json = null): Json => request[name] ?? usual;
  return {
    id: formatResponseId(run),
    object: 'response',
    created_at: Math.floor(Date.parse(run.queued) / 1000),
    status: 'in_progress',
    background: false,
    error: null,
    incomplete_details: null,
    instructions: given('instructions'),
    max_output_tokens: given('max_output_tokens'),
    metadata: given('metadata', {}),
    model: given('model', defaultModelAlias),
    output: [],
    parallel_tool_calls: given('parallel_tool_calls', true),
    previous_response_id: given('previous_response_id'),
    reasoning: given('reasoning', { effort: null, summary: null }),
    store: true,
    temperature: given('temperature'),
    text: given('text', { format: { type: 'text' } }),
    tool_choice: given('tool_choice', 'auto'),
    tools: given('tools', []),
    top_p: given('top_p'),
    truncation: 'disabled',
    usage: null,
  };
}

/** The same once it has ended. */
export function createEndedResponse(response: JsonObject, told: CompletionResult): JsonObject {
  const { finish, run } = told;
  const why = finish === 'length' ? 'max_output_tokens' : finish === 'content_filter' ? finish : undefined;
  return {
    ...response,
    status: why === undefined ? 'completed' : 'incomplete',
    incomplete_details: why === undefined ? null : { reason: why },
    output: formatOutputItems(told),
    usage: formatUsage(run, { input: 'input_tokens', output: 'output_tokens' }),
  };
}

/** What came of a run: a message, unless it only has calls for the client, and those calls. */
export function formatOutputItems(told: CompletionResult): readonly JsonObject[] {
  const { run, text, refusal, calls } = told;
  const said = refusal === undefined ? createTextPart(text) : { type: 'refusal', refusal };
  const isSilent = text === '' && refusal === undefined && calls.length > 0;
  return [
    ...(isSilent ? [] : [createMessageItem(run, said)]),
    ...calls.map(({ id, tool, input }) => ({
      id: `fc_${run.id}_${id}`,
      type: 'function_call',
      status: 'completed',
      call_id: formatCallId(run, id),
      name: tool,
      arguments: JSON.stringify(input),
    })),
  ];
}

/** A part that says this. */
export const createTextPart = (text: string): JsonObject => ({
  type: 'output_text',
  text,
  annotations: [],
  logprobs: [],
});

/** The message of a run, with what it says so far. */
export const createMessageItem = ({ id }: FleetRun, part?: JsonObject): JsonObject => ({
  id: `msg_${id}`,
  type: 'message',
  status: part ? 'completed' : 'in_progress',
  role: 'assistant',
  content: part ? [part] : [],
});
