// Guides whatever OpenAI's Agents SDK does with a model: the same model, or the same provider of models, with a guide in front.
import { FairleadError, isObject, type Json, type JsonObject } from '../../core/index.ts';
import type { Conversations } from '../conversations/conversations.ts';
import { stopWords, type Stopping } from '../dialects/dialect.ts';
import { inner, list } from '../dialects/reading.ts';
import { conversationsOf, looksAtAnswers, type BridgeOptions } from '../frameworks/conversations.ts';
import { exchange, wholeExchange, type Reader } from '../frameworks/exchange.ts';
import { readingOf, toldOf, withAdditions } from './items.ts';

/** As much of the SDK's models as is looked at here. */
export type AnyModel = {
  getResponse(request: never): Promise<object>;
  getStreamedResponse(request: never): AsyncIterable<object>;
};

/** A model of the same kind: what the SDK knows of models, and nothing of the class that was given. */
export type Guided<M extends AnyModel> = Pick<
  M,
  keyof M & ('getResponse' | 'getStreamedResponse' | 'getRetryAdvice' | 'supportsPromptModelSelection')
>;

/** As much of the SDK's providers of models as is looked at here. */
export type AnyProvider = { getModel(name?: string): unknown };

/** A model whose conversations are guided: give it to an agent, or to a runner, as it is. */
export const guideModel = <M extends AnyModel>(model: M, options: BridgeOptions = {}): Guided<M> =>
  guided(model, { talks: conversationsOf(options), name: '', held: looksAtAnswers(options) });

/** A provider whose models are guided: give it to a runner, and every agent that it runs is. */
export function guideProvider<P extends AnyProvider>(provider: P, options: BridgeOptions = {}): Pick<P, 'getModel'> {
  const talks = conversationsOf(options);
  return {
    getModel: async (name?: string) =>
      guided((await provider.getModel(name)) as AnyModel, { talks, name: name ?? '', held: looksAtAnswers(options) }),
  };
}

type Model = {
  getResponse(request: JsonObject): Promise<JsonObject>;
  getStreamedResponse(request: JsonObject): AsyncIterable<JsonObject>;
  getRetryAdvice?(about: unknown): unknown;
  readonly supportsPromptModelSelection?: boolean;
};

type Way = { readonly talks: Conversations; readonly name: string; readonly held: boolean };

function guided<M extends AnyModel>(given: M, { talks, name, held }: Way): Guided<M> {
  // The SDK's own types are not part of our declarations: who does not use it need not have it.
  const model = given as unknown as Model;
  const ask = (request: JsonObject) => async () => talks.ask(readingOf(whole(request), name));
  const bridge: Model = {
    ...(model.supportsPromptModelSelection === undefined
      ? {}
      : { supportsPromptModelSelection: model.supportsPromptModelSelection }),
    ...(model.getRetryAdvice ? { getRetryAdvice: (about) => model.getRetryAdvice?.(about) } : {}),
    getResponse: (request) =>
      wholeExchange<JsonObject>({
        ask: ask(request),
        send: (additions) => model.getResponse(withAdditions(request, additions)),
        read: ({ output, usage, responseId }) => toldOf(list(output), usage, responseId),
        stopped: (stop) => ({ usage: noUsage, output: [stopItem(stop)] }),
      }),
    getStreamedResponse: (request) =>
      exchange<JsonObject>({
        ask: ask(request),
        send: (additions, attempt) => joining(model.getStreamedResponse(withAdditions(request, additions)), attempt),
        reader: streamReader,
        held,
        stopped: (stop) => [
          { type: 'response_started' },
          { type: 'output_text_delta', delta: stopWords(stop) },
          { type: 'response_done', response: { id: '', usage: noUsage, output: [stopItem(stop)] } },
        ],
      }),
  };
  return bridge as unknown as Guided<M>;
}

/** What a service keeps by the name of a conversation is never shown here, so nothing could be judged by it. */
function whole(request: JsonObject): JsonObject {
  if (request['conversationId'] === undefined) return request;
  throw new FairleadError(
    'bridge/unseen-history',
    'A conversation that the service keeps by its `conversationId` cannot be guided.',
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

const stopItem = (stop: Stopping): JsonObject => ({
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: stopWords(stop) }],
  providerData: { fairlead: { stop: { reason: stop.reason, detail: stop.detail } } },
});

/** What the runner keeps of a stream is its last event; that a stream begins is said once. */
async function* joining(events: AsyncIterable<JsonObject>, attempt: number): AsyncGenerator<JsonObject> {
  for await (const event of events) if (attempt === 0 || event['type'] !== 'response_started') yield event;
}

function streamReader(): Reader<JsonObject> {
  let response: JsonObject | undefined;
  let waiting = false;
  return {
    waits(event) {
      if (event['type'] === 'response_done') response = inner(event['response']);
      waiting ||= response !== undefined || (event['type'] === 'model' && beginsCall(event['event']));
      return waiting;
    },
    answer: () =>
      response
        ? toldOf(list(response['output']), response['usage'], response['id'])
        : new Error('The answer broke off before its end.'),
    // Words that were shown are not kept by the runner: its history is made of the answer that passed.
    shown: () => [],
    closing: () => [],
  };
}

/** A provider's own event that has to do with a call, in the dialects of OpenAI and of the AI SDK. */
function beginsCall(event: Json | undefined): boolean {
  if (!isObject(event)) return false;
  const { type, choices, item } = event;
  const delta = inner(list(choices)[0]?.['delta']);
  return (
    /_call|tool/.test(typeof type === 'string' ? type : '') ||
    String(inner(item)['type']).endsWith('_call') ||
    (Array.isArray(delta['tool_calls']) && delta['tool_calls'].length > 0)
  );
}
