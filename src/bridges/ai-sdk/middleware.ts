// AI SDK middleware for `wrapLanguageModel`: intercepts every model request and response.
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
} from '@ai-sdk/provider';
import type { ConversationTracker, TrackedRequest } from '../conversation-tracking/tracker.ts';
import { formatStopMessage, type StopAction } from '../interceptor/stop-action.ts';
import { resolveTracker, hasChecks, toConversationId, type BridgeOptions } from '../model-intercept/options.ts';
import { interceptModelStream, interceptModelCall } from '../model-intercept/intercept-model.ts';
import { parseAiSdkResponse, parseAiSdkRequest, insertIntoPrompt } from './prompt.ts';
import { dropStreamStart, createAiSdkStreamReader } from './stream.ts';

/** A middleware of the AI SDK, for `wrapLanguageModel({ model, middleware })`. */
export type FairleadMiddleware = {
  readonly specificationVersion: 'v4';
  wrapGenerate<Result>(call: {
    readonly params: object;
    readonly model: object;
    doGenerate(): PromiseLike<Result>;
  }): Promise<Result>;
  wrapStream<Result>(call: {
    readonly params: object;
    readonly model: object;
    doStream(): PromiseLike<Result>;
  }): Promise<Result>;
};

/** Creates a middleware that adds notes, denies calls and stops runs. A conversation is recognized by its prefix, or by `providerOptions.fairlead.conversation`. */
export function fairleadMiddleware(options: BridgeOptions = {}): FairleadMiddleware {
  const talks = resolveTracker(options);
  const held = hasChecks(options);
  return {
    specificationVersion: 'v4',
    // The SDK's types are not part of our declarations, so the SDK is not required at type-check time.
    wrapGenerate: (call) => generate(talks, call as unknown as WrappedCall) as Promise<never>,
    wrapStream: (call) => stream(talks, call as unknown as WrappedCall, held) as Promise<never>,
  };
}

type WrappedCall = { readonly params: LanguageModelV4CallOptions; readonly model: LanguageModelV4 };

/** The caller can name the conversation. */
function createTrackRequest(talks: ConversationTracker, { params, model }: WrappedCall): () => Promise<TrackedRequest> {
  const told = params.providerOptions?.['fairlead']?.['conversation'];
  return () => talks.trackRequest(parseAiSdkRequest(params, model.modelId), { session: toConversationId(told) });
}

const generate = (talks: ConversationTracker, call: WrappedCall): Promise<LanguageModelV4GenerateResult> =>
  interceptModelCall<LanguageModelV4GenerateResult>({
    ask: createTrackRequest(talks, call),
    send: (additions) =>
      call.model.doGenerate({ ...call.params, prompt: insertIntoPrompt(call.params.prompt, additions) }),
    read: ({ content, finishReason, usage }) => parseAiSdkResponse(content, finishReason, usage),
    stopped: (stop) => ({
      content: [{ type: 'text', text: formatStopMessage(stop) }],
      warnings: [],
      ...createStopFields(stop),
    }),
  });

async function stream(
  talks: ConversationTracker,
  call: WrappedCall,
  held: boolean,
): Promise<LanguageModelV4StreamResult> {
  // The SDK needs the request metadata before the first part.
  const first = Promise.withResolvers<Omit<LanguageModelV4StreamResult, 'stream'>>();
  let hasStarted = false;
  const leaving = new AbortController();
  const abortSignal = AbortSignal.any([leaving.signal, ...(call.params.abortSignal ? [call.params.abortSignal] : [])]);
  const parts = interceptModelStream<LanguageModelV4StreamPart>({
    ask: createTrackRequest(talks, call),
    held,
    async send(additions, attempt) {
      const prompt = insertIntoPrompt(call.params.prompt, additions);
      const { stream: sent, ...about } = await call.model.doStream({ ...call.params, prompt, abortSignal });
      hasStarted = true;
      first.resolve(about);
      return attempt === 0 ? sent : sent.pipeThrough(dropStreamStart());
    },
    reader: createAiSdkStreamReader,
    stopped: (stop) => [
      ...(hasStarted ? [] : [{ type: 'stream-start' as const, warnings: [] }]),
      ...createStopParts(stop),
    ],
  });
  const next = parts.next();
  next.then(() => first.resolve({}), first.reject);
  const about = await first.promise;
  return { ...about, stream: toReadableStream(next, parts, () => leaving.abort()) };
}

/** Converts parts to an SDK stream; the first part is already read. All parts are consumed even if the caller does not read them: an unread response must not block its conversation. */
function toReadableStream<E>(
  first: Promise<IteratorResult<E, void>>,
  rest: AsyncGenerator<E, void>,
  leave: () => void,
): ReadableStream<E> {
  return new ReadableStream<E>({
    start(controller) {
      void (async () => {
        try {
          for (let next = await first; !next.done; next = await rest.next()) controller.enqueue(next.value);
          controller.close();
        } catch (error) {
          controller.error(error);
        } finally {
          await rest.return();
        }
      })();
    },
    cancel: leave,
  });
}

const createStopFields = (stop: StopAction) => ({
  finishReason: { unified: 'stop' as const, raw: `fairlead: ${stop.reason}` },
  usage: {
    inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 0, text: 0, reasoning: 0 },
  },
  providerMetadata: { fairlead: { stop: { reason: stop.reason, detail: stop.detail } } },
});

function createStopParts(stop: StopAction): readonly LanguageModelV4StreamPart[] {
  const id = 'fairlead-stop';
  return [
    { type: 'text-start', id },
    { type: 'text-delta', id, delta: formatStopMessage(stop) },
    { type: 'text-end', id },
    { type: 'finish', ...createStopFields(stop) },
  ];
}
