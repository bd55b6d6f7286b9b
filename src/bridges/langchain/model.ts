// Wraps a LangChain chat model: intercepts invoke, stream and bound calls.
import { FairleadError, isObject } from '../../core/index.ts';
import type { ConversationTracker } from '../conversation-tracking/tracker.ts';
import { formatStopMessage, type StopAction } from '../interceptor/stop-action.ts';
import { resolveTracker, hasChecks, type BridgeOptions } from '../model-intercept/options.ts';
import {
  interceptModelStream,
  interceptModelCall,
  type ModelStreamReader,
} from '../model-intercept/intercept-model.ts';
import {
  hasToolCalls,
  createMessage,
  parseLangChainRequest,
  parseLangChainResponse,
  insertIntoMessages,
  type LangChainMessage,
  type MessageClasses,
} from './messages.ts';

/** Options of the LangChain bridge. */
export type LangChainOptions = BridgeOptions & {
  /** The caller's own classes of messages: `import * as messages from '@langchain/core/messages'`. */
  readonly messages: MessageClasses;
};

/** A chunk or a whole response of a chat model. */
type Generation = {
  readonly text: string;
  readonly message: LangChainMessage;
  readonly generationInfo?: unknown;
  concat?(next: Generation): Generation;
};

type RunManager = {
  handleLLMNewToken(
    token: string,
    at: object,
    run?: undefined,
    parent?: undefined,
    tags?: undefined,
    fields?: object,
  ): Promise<void>;
};

/** The methods that subclasses of a LangChain chat model implement. */
type ChatModel = {
  readonly model?: unknown;
  readonly modelName?: unknown;
  readonly streaming?: boolean;
  readonly bound?: ChatModel;
  _generate(
    messages: readonly LangChainMessage[],
    options: CallOptions,
    run?: RunManager,
  ): Promise<{ readonly generations: readonly Generation[] }>;
  _streamResponseChunks(
    messages: readonly LangChainMessage[],
    options: CallOptions,
    run?: RunManager,
  ): AsyncIterable<Generation>;
  bindTools(...given: readonly unknown[]): ChatModel;
  withConfig(...given: readonly unknown[]): ChatModel;
};

type CallOptions = { readonly tools?: unknown };

/** The conversations that intercept a model. */
export type ModelWrapContext = {
  readonly tracker: ConversationTracker;
  readonly messageClasses: MessageClasses;
  readonly held: boolean;
  readonly conversation?: string | undefined;
};

/** Resolves the options. */
export const createWrapContext = (options: LangChainOptions): ModelWrapContext => ({
  tracker: resolveTracker(options),
  messageClasses: options.messages,
  held: hasChecks(options),
});

/** Wraps a chat model. The result can be invoked, streamed, bound to tools and used in a graph. */
export const wrapChatModel = <M extends object>(model: M, options: LangChainOptions): M =>
  wrapChatModelWith(model, createWrapContext(options));

/** Wraps a model or a binding; everything but the model calls is delegated. */
export function wrapChatModelWith<M extends object>(given: M, way: ModelWrapContext): M {
  const model = given as unknown as ChatModel;
  if (isObject(model.bound)) {
    const binding = Object.assign(Object.create(Object.getPrototypeOf(given) as object) as object, given);
    return Object.assign(binding, { bound: wrapChatModelWith(model.bound, way) });
  }
  if (typeof model._generate !== 'function' || '_getModelInstance' in model)
    throw new FairleadError('bridge/no-chat-model', 'This is not a chat model of LangChain that can be intercepted.', {
      blame: 'user',
      hint: 'Give the chat model itself, such as a ChatOpenAI, before anything is made of it.',
    });
  const whole: ChatModel['_generate'] = (messages, options) => generate(model, messages, options, way);
  const streams: ChatModel['_streamResponseChunks'] = (messages, options, run) =>
    notifyCallbacks(stream(model, messages, options, way), run);
  const can = model._streamResponseChunks !== findBaseMethod(model, '_streamResponseChunks');
  const own: Partial<Record<string, unknown>> = {
    _generate: can && model.streaming ? generateFromStream(streams) : whole,
    bindTools: (...args: readonly unknown[]) => wrapChatModelWith(model.bindTools(...args), way),
    withConfig: (...args: readonly unknown[]) => wrapChatModelWith(model.withConfig(...args), way),
    ...(can ? { _streamResponseChunks: streams } : {}),
    // Some models emit events themselves; the base class emits them from chunks.
    _streamChatModelEvents: findBaseMethod(model, '_streamChatModelEvents'),
  };
  return Object.assign(Object.create(given) as M, own);
}

/** Returns the base class implementation of a method. */
function findBaseMethod(model: object, name: string): unknown {
  let found: unknown;
  for (let at: object | null = model; at; at = Object.getPrototypeOf(at) as object | null)
    if (Object.hasOwn(at, name)) found = (at as Readonly<Record<string, unknown>>)[name];
  return found;
}

function createExchangeFields(
  model: ChatModel,
  messages: readonly LangChainMessage[],
  { tools }: CallOptions,
  way: ModelWrapContext,
) {
  const name = [model.model, model.modelName].find((each) => typeof each === 'string') ?? '';
  return {
    held: way.held,
    oneText: true,
    ask: () => way.tracker.trackRequest(parseLangChainRequest(messages, tools, name), { session: way.conversation }),
  };
}

async function generate(
  model: ChatModel,
  messages: readonly LangChainMessage[],
  options: CallOptions,
  way: ModelWrapContext,
) {
  return interceptModelCall<{ readonly generations: readonly Generation[] }>({
    ...createExchangeFields(model, messages, options, way),
    send: (additions) => model._generate(insertIntoMessages(messages, additions, way.messageClasses), options),
    read: ({ generations }) => parseLangChainResponse(generations[0]?.message ?? { type: 'ai', content: '' }),
    stopped: (stop) => ({ generations: [createStopGeneration(stop, way.messageClasses.AIMessage)] }),
  });
}

const stream = (model: ChatModel, messages: readonly LangChainMessage[], options: CallOptions, way: ModelWrapContext) =>
  interceptModelStream<Generation>({
    ...createExchangeFields(model, messages, options, way),
    // Without the callbacks of the run: they get only what passes, not retried requests.
    send: (additions) =>
      model._streamResponseChunks(insertIntoMessages(messages, additions, way.messageClasses), options),
    reader: createChunkReader,
    stopped: (stop) => [createStopGeneration(stop, way.messageClasses.AIMessageChunk)],
  });

function createChunkReader(): ModelStreamReader<Generation> {
  let all: Generation | undefined;
  let shown: string | undefined;
  return {
    push(chunk) {
      if (hasToolCalls(chunk.message)) shown ??= all?.text ?? '';
      all = all?.concat ? all.concat(chunk) : chunk;
      return shown !== undefined;
    },
    response: () => (all ? parseLangChainResponse(all.message) : new Error('The answer ended before it was complete.')),
    shownText: () => [shown ?? all?.text ?? ''].filter(Boolean),
    closingEvents: () => [],
  };
}

/** Passes tokens to the callbacks of a run. */
async function* notifyCallbacks(
  chunks: AsyncIterable<Generation>,
  run: RunManager | undefined,
): AsyncGenerator<Generation> {
  for await (const chunk of chunks) {
    yield chunk;
    const at = { prompt: 0, completion: 0 };
    await run?.handleLLMNewToken(chunk.text, at, undefined, undefined, undefined, { chunk });
  }
}

/** A model with streaming enabled is streamed even for invoke, so that callbacks get every token. */
const generateFromStream =
  (streams: ChatModel['_streamResponseChunks']): ChatModel['_generate'] =>
  async (messages, options, run) => {
    let all: Generation | undefined;
    for await (const chunk of streams(messages, options, run)) all = all?.concat ? all.concat(chunk) : chunk;
    return { generations: all ? [all] : [] };
  };

function createStopGeneration(stop: StopAction, type: MessageClasses['AIMessage']): Generation {
  const text = formatStopMessage(stop);
  const about = { fairlead: { stop: { reason: stop.reason, detail: stop.detail } } };
  return { text, message: createMessage(type, { content: text, response_metadata: about }), generationInfo: {} };
}
