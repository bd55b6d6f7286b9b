// Wraps models and model providers of the OpenAI Agents SDK: intercepts their requests.
import { FairleadError, isObject, type Json, type JsonObject } from '../../core/index.ts';
import type { ConversationTracker } from '../conversation-tracking/tracker.ts';
import { formatStopMessage, type StopAction } from '../interceptor/stop-action.ts';
import { asObject, asObjectArray } from '../../wire/index.ts';
import { resolveTracker, hasChecks, type BridgeOptions } from '../model-intercept/options.ts';
import {
  interceptModelStream,
  interceptModelCall,
  type ModelStreamReader,
} from '../model-intercept/intercept-model.ts';
import { parseAgentsRequest, parseAgentsResponse, insertIntoRequest } from './items.ts';

/** The part of an SDK model that is used here. */
export type AgentsModel = {
  getResponse(request: never): Promise<object>;
  getStreamedResponse(request: never): AsyncIterable<object>;
};

/** A wrapped model with the SDK's model interface. */
export type WrappedModel<M extends AgentsModel> = Pick<
  M,
  keyof M & ('getResponse' | 'getStreamedResponse' | 'getRetryAdvice' | 'supportsPromptModelSelection')
>;

/** The part of an SDK model provider that is used here. */
export type AgentsModelProvider = { getModel(name?: string): unknown };

/** Wraps a model for an agent or a runner. */
export const wrapModel = <M extends AgentsModel>(model: M, options: BridgeOptions = {}): WrappedModel<M> =>
  wrapAgentsModel(model, { tracker: resolveTracker(options), name: '', held: hasChecks(options) });

/** Wraps a model provider: all models it creates are intercepted. */
export function wrapModelProvider<P extends AgentsModelProvider>(
  provider: P,
  options: BridgeOptions = {},
): Pick<P, 'getModel'> {
  const talks = resolveTracker(options);
  return {
    getModel: async (name?: string) =>
      wrapAgentsModel((await provider.getModel(name)) as AgentsModel, {
        tracker: talks,
        name: name ?? '',
        held: hasChecks(options),
      }),
  };
}

type Model = {
  getResponse(request: JsonObject): Promise<JsonObject>;
  getStreamedResponse(request: JsonObject): AsyncIterable<JsonObject>;
  getRetryAdvice?(about: unknown): unknown;
  readonly supportsPromptModelSelection?: boolean;
};

type AgentsWrapContext = { readonly tracker: ConversationTracker; readonly name: string; readonly held: boolean };

function wrapAgentsModel<M extends AgentsModel>(given: M, { tracker, name, held }: AgentsWrapContext): WrappedModel<M> {
  // The SDK's types are not part of our declarations, so the SDK is not required at type-check time.
  const model = given as unknown as Model;
  const ask = (request: JsonObject) => async () =>
    tracker.trackRequest(parseAgentsRequest(assertFullHistory(request), name));
  const bridge: Model = {
    ...(model.supportsPromptModelSelection === undefined
      ? {}
      : { supportsPromptModelSelection: model.supportsPromptModelSelection }),
    ...(model.getRetryAdvice ? { getRetryAdvice: (about) => model.getRetryAdvice?.(about) } : {}),
    getResponse: (request) =>
      interceptModelCall<JsonObject>({
        ask: ask(request),
        send: (additions) => model.getResponse(insertIntoRequest(request, additions)),
        read: ({ output, usage, responseId }) => parseAgentsResponse(asObjectArray(output), usage, responseId),
        stopped: (stop) => ({ usage: noUsage, output: [createStopItem(stop)] }),
      }),
    getStreamedResponse: (request) =>
      interceptModelStream<JsonObject>({
        ask: ask(request),
        send: (additions, attempt) =>
          dropResponseStarted(model.getStreamedResponse(insertIntoRequest(request, additions)), attempt),
        reader: createAgentsStreamReader,
        held,
        stopped: (stop) => [
          { type: 'response_started' },
          { type: 'output_text_delta', delta: formatStopMessage(stop) },
          { type: 'response_done', response: { id: '', usage: noUsage, output: [createStopItem(stop)] } },
        ],
      }),
  };
  return bridge as unknown as WrappedModel<M>;
}

/** A conversation stored by the provider is not visible here, so it cannot be intercepted. */
function assertFullHistory(request: JsonObject): JsonObject {
  if (request['conversationId'] === undefined) return request;
  throw new FairleadError(
    'bridge/unseen-history',
    'A conversation that the service keeps by its `conversationId` cannot be intercepted.',
    { blame: 'user', hint: 'Let the runner send the history, or chain answers by `previousResponseId`.' },
  );
}

const noUsage = {
  requests: 0,
  inputTokens: 0,
  outputTokens: 0,
  totalTokens: 0,
  inputTokensDetails: [],
  outputTokensDetails: [],
};

const createStopItem = (stop: StopAction): JsonObject => ({
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: formatStopMessage(stop) }],
  providerData: { fairlead: { stop: { reason: stop.reason, detail: stop.detail } } },
});

/** The runner keeps the last event of a stream; the start event is sent once. */
async function* dropResponseStarted(events: AsyncIterable<JsonObject>, attempt: number): AsyncGenerator<JsonObject> {
  for await (const event of events) if (attempt === 0 || event['type'] !== 'response_started') yield event;
}

function createAgentsStreamReader(): ModelStreamReader<JsonObject> {
  let response: JsonObject | undefined;
  let waiting = false;
  return {
    push(event) {
      if (event['type'] === 'response_done') response = asObject(event['response']);
      waiting ||= response !== undefined || (event['type'] === 'model' && isCallEvent(event['event']));
      return waiting;
    },
    response: () =>
      response
        ? parseAgentsResponse(asObjectArray(response['output']), response['usage'], response['id'])
        : new Error('The answer ended before it was complete.'),
    // The runner's history contains only the accepted response, not text shown before.
    shownText: () => [],
    closingEvents: () => [],
  };
}

/** Returns true for a raw provider event of a call, in the formats of OpenAI and of the AI SDK. */
function isCallEvent(event: Json | undefined): boolean {
  if (!isObject(event)) return false;
  const { type, choices, item } = event;
  const delta = asObject(asObjectArray(choices)[0]?.['delta']);
  return (
    /_call|tool/.test(typeof type === 'string' ? type : '') ||
    String(asObject(item)['type']).endsWith('_call') ||
    (Array.isArray(delta['tool_calls']) && delta['tool_calls'].length > 0)
  );
}
