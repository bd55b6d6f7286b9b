// Guides whatever the AI SDK does with a model: a middleware for `wrapLanguageModel`.
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
} from '@ai-sdk/provider';
import type { Conversations, Talk } from '../conversations/conversations.ts';
import { stopWords, type Stopping } from '../dialects/dialect.ts';
import { conversationsOf, looksAtAnswers, nameOf, type BridgeOptions } from '../frameworks/conversations.ts';
import { exchange, wholeExchange } from '../frameworks/exchange.ts';
import { answeredOf, askedOf, withAdditions } from './prompt.ts';
import { joining, streamReader } from './stream.ts';

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

/** A middleware that adds notes, refuses calls and stops. A conversation is known by its beginning, or by `providerOptions.fairlead.conversation`. */
export function fairleadMiddleware(options: BridgeOptions = {}): FairleadMiddleware {
  const talks = conversationsOf(options);
  const held = looksAtAnswers(options);
  return {
    specificationVersion: 'v4',
    // The SDK's own types are not part of our declarations: who does not use it need not have it.
    wrapGenerate: (call) => generate(talks, call as unknown as Wrapped) as Promise<never>,
    wrapStream: (call) => stream(talks, call as unknown as Wrapped, held) as Promise<never>,
  };
}

type Wrapped = { readonly params: LanguageModelV4CallOptions; readonly model: LanguageModelV4 };

/** A caller who knows which conversation this is can say so. */
function asking(talks: Conversations, { params, model }: Wrapped): () => Promise<Talk> {
  const told = params.providerOptions?.['fairlead']?.['conversation'];
  return () => talks.ask(askedOf(params, model.modelId), nameOf(told));
}

const generate = (talks: Conversations, call: Wrapped): Promise<LanguageModelV4GenerateResult> =>
  wholeExchange<LanguageModelV4GenerateResult>({
    ask: asking(talks, call),
    send: (additions) =>
      call.model.doGenerate({ ...call.params, prompt: withAdditions(call.params.prompt, additions) }),
    read: ({ content, finishReason, usage }) => answeredOf(content, finishReason, usage),
    stopped: (stop) => ({ content: [{ type: 'text', text: stopWords(stop) }], warnings: [], ...ending(stop) }),
  });

async function stream(talks: Conversations, call: Wrapped, held: boolean): Promise<LanguageModelV4StreamResult> {
  // What the SDK wants to know of a request before its first part.
  const first = Promise.withResolvers<Omit<LanguageModelV4StreamResult, 'stream'>>();
  let begun = false;
  const leaving = new AbortController();
  const abortSignal = AbortSignal.any([leaving.signal, ...(call.params.abortSignal ? [call.params.abortSignal] : [])]);
  const parts = exchange<LanguageModelV4StreamPart>({
    ask: asking(talks, call),
    held,
    async send(additions, attempt) {
      const prompt = withAdditions(call.params.prompt, additions);
      const { stream: sent, ...about } = await call.model.doStream({ ...call.params, prompt, abortSignal });
      begun = true;
      first.resolve(about);
      return attempt === 0 ? sent : sent.pipeThrough(joining());
    },
    reader: streamReader,
    stopped: (stop) => [...(begun ? [] : [{ type: 'stream-start' as const, warnings: [] }]), ...stoppedParts(stop)],
  });
  const next = parts.next();
  next.then(() => first.resolve({}), first.reject);
  const about = await first.promise;
  return { ...about, stream: streamOf(next, parts, () => leaving.abort()) };
}

/** Parts as a stream of the SDK; the first was asked for before. They are taken in whether they are read or not: an answer that nobody reads must not hold its conversation. */
function streamOf<E>(
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

const ending = (stop: Stopping) => ({
  finishReason: { unified: 'stop' as const, raw: `fairlead: ${stop.reason}` },
  usage: {
    inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 0, text: 0, reasoning: 0 },
  },
  providerMetadata: { fairlead: { stop: { reason: stop.reason, detail: stop.detail } } },
});

function stoppedParts(stop: Stopping): readonly LanguageModelV4StreamPart[] {
  const id = 'fairlead-stop';
  return [
    { type: 'text-start', id },
    { type: 'text-delta', id, delta: stopWords(stop) },
    { type: 'text-end', id },
    { type: 'finish', ...ending(stop) },
  ];
}
