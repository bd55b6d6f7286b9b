// Guides whatever LangChain or LangGraph does with a chat model: the same model, asked and answered through a guide.
import { FairleadError, isObject } from '../../core/index.ts';
import type { Conversations } from '../conversations/conversations.ts';
import { stopWords, type Stopping } from '../dialects/dialect.ts';
import { conversationsOf, looksAtAnswers, type BridgeOptions } from '../frameworks/conversations.ts';
import { exchange, wholeExchange, type Reader } from '../frameworks/exchange.ts';
import { hasCalls, made, readingOf, toldOf, withAdditions, type AnyMessage, type MessageClasses } from './messages.ts';

/** What a bridge of LangChain goes by. */
export type LangChainOptions = BridgeOptions & {
  /** The caller's own classes of messages: `import * as messages from '@langchain/core/messages'`. */
  readonly messages: MessageClasses;
};

/** A piece of an answer, or a whole one, as a chat model's own methods give it. */
type Generation = {
  readonly text: string;
  readonly message: AnyMessage;
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

/** The methods that every chat model of LangChain has for its subclasses to fill in. */
type ChatModel = {
  readonly model?: unknown;
  readonly modelName?: unknown;
  readonly streaming?: boolean;
  readonly bound?: ChatModel;
  _generate(
    messages: readonly AnyMessage[],
    options: CallOptions,
    run?: RunManager,
  ): Promise<{ readonly generations: readonly Generation[] }>;
  _streamResponseChunks(
    messages: readonly AnyMessage[],
    options: CallOptions,
    run?: RunManager,
  ): AsyncIterable<Generation>;
  bindTools(...given: readonly unknown[]): ChatModel;
  withConfig(...given: readonly unknown[]): ChatModel;
};

type CallOptions = { readonly tools?: unknown };

/** Through which conversations a model is asked. */
export type Way = {
  readonly talks: Conversations;
  readonly classes: MessageClasses;
  readonly held: boolean;
  readonly conversation?: string | undefined;
};

/** The way that these options describe. */
export const wayOf = (options: LangChainOptions): Way => ({
  talks: conversationsOf(options),
  classes: options.messages,
  held: looksAtAnswers(options),
});

/** A chat model whose conversations are guided: invoke it, stream it, bind tools to it, put it into a graph. */
export const guideModel = <M extends object>(model: M, options: LangChainOptions): M => guided(model, wayOf(options));

/** The same model, or the same binding of one, with a guide in front. Everything but asking is the given one's. */
export function guided<M extends object>(given: M, way: Way): M {
  const model = given as unknown as ChatModel;
  if (isObject(model.bound)) {
    const binding = Object.assign(Object.create(Object.getPrototypeOf(given) as object) as object, given);
    return Object.assign(binding, { bound: guided(model.bound, way) });
  }
  if (typeof model._generate !== 'function' || '_getModelInstance' in model)
    throw new FairleadError('bridge/no-chat-model', 'This is no chat model of LangChain that can be guided.', {
      blame: 'user',
      hint: 'Give the chat model itself, such as a ChatOpenAI, before anything is made of it.',
    });
  const whole: ChatModel['_generate'] = (messages, options) => generate(model, messages, options, way);
  const streams: ChatModel['_streamResponseChunks'] = (messages, options, run) =>
    told(stream(model, messages, options, way), run);
  const can = model._streamResponseChunks !== inherited(model, '_streamResponseChunks');
  const own: Partial<Record<string, unknown>> = {
    _generate: can && model.streaming ? drained(streams) : whole,
    bindTools: (...args: readonly unknown[]) => guided(model.bindTools(...args), way),
    withConfig: (...args: readonly unknown[]) => guided(model.withConfig(...args), way),
    ...(can ? { _streamResponseChunks: streams } : {}),
    // Some models make their events themselves, past the method above; the first of all makes them from its chunks.
    _streamChatModelEvents: inherited(model, '_streamChatModelEvents'),
  };
  return Object.assign(Object.create(given) as M, own);
}

/** A method as the first class of all has it. */
function inherited(model: object, name: string): unknown {
  let found: unknown;
  for (let at: object | null = model; at; at = Object.getPrototypeOf(at) as object | null)
    if (Object.hasOwn(at, name)) found = (at as Readonly<Record<string, unknown>>)[name];
  return found;
}

function asking(model: ChatModel, messages: readonly AnyMessage[], { tools }: CallOptions, way: Way) {
  const name = [model.model, model.modelName].find((each) => typeof each === 'string') ?? '';
  return {
    held: way.held,
    oneText: true,
    ask: () => way.talks.ask(readingOf(messages, tools, name), way.conversation),
  };
}

async function generate(model: ChatModel, messages: readonly AnyMessage[], options: CallOptions, way: Way) {
  return wholeExchange<{ readonly generations: readonly Generation[] }>({
    ...asking(model, messages, options, way),
    send: (additions) => model._generate(withAdditions(messages, additions, way.classes), options),
    read: ({ generations }) => toldOf(generations[0]?.message ?? { type: 'ai', content: '' }),
    stopped: (stop) => ({ generations: [stopped(stop, way.classes.AIMessage)] }),
  });
}

const stream = (model: ChatModel, messages: readonly AnyMessage[], options: CallOptions, way: Way) =>
  exchange<Generation>({
    ...asking(model, messages, options, way),
    // Without the run's callbacks: they are told of what passes, not of what is asked behind it.
    send: (additions) => model._streamResponseChunks(withAdditions(messages, additions, way.classes), options),
    reader: chunkReader,
    stopped: (stop) => [stopped(stop, way.classes.AIMessageChunk)],
  });

function chunkReader(): Reader<Generation> {
  let all: Generation | undefined;
  let shown: string | undefined;
  return {
    waits(chunk) {
      if (hasCalls(chunk.message)) shown ??= all?.text ?? '';
      all = all?.concat ? all.concat(chunk) : chunk;
      return shown !== undefined;
    },
    answer: () => (all ? toldOf(all.message) : new Error('The answer broke off before its end.')),
    shown: () => [shown ?? all?.text ?? ''].filter(Boolean),
    closing: () => [],
  };
}

/** Tells the callbacks of a run what passes. */
async function* told(chunks: AsyncIterable<Generation>, run: RunManager | undefined): AsyncGenerator<Generation> {
  for await (const chunk of chunks) {
    yield chunk;
    const at = { prompt: 0, completion: 0 };
    await run?.handleLLMNewToken(chunk.text, at, undefined, undefined, undefined, { chunk });
  }
}

/** A model that streams always is asked so where a whole answer is wanted, so that its callbacks hear of every word. */
const drained =
  (streams: ChatModel['_streamResponseChunks']): ChatModel['_generate'] =>
  async (messages, options, run) => {
    let all: Generation | undefined;
    for await (const chunk of streams(messages, options, run)) all = all?.concat ? all.concat(chunk) : chunk;
    return { generations: all ? [all] : [] };
  };

function stopped(stop: Stopping, type: MessageClasses['AIMessage']): Generation {
  const text = stopWords(stop);
  const about = { fairlead: { stop: { reason: stop.reason, detail: stop.detail } } };
  return { text, message: made(type, { content: text, response_metadata: about }), generationInfo: {} };
}
