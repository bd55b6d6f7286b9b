// Test fixture of the core: a scripted provider, a log in memory, and a run that can be inspected.
import {
  openSessionWriter,
  runLoop,
  runStateView,
  messageText,
  toArray,
  type ResolvedAgent,
  type ToolCallPart,
  type Chunk,
  type Event,
  type Fact,
  type FinishReason,
  type SessionWriter,
  type InputMode,
  type Json,
  type Limits,
  type Log,
  type Message,
  type MessagePart,
  type Provider,
  type ModelRequest,
  type RunState,
  type Tool,
  type ToolChoice,
} from '../../src/core/index.ts';
import { memoryLog, type MemoryLog } from '../../src/stores/index.ts';
import { bareAgentParts, createSessionStartFacts } from './bare-agent.ts';

/** One scripted answer of the model, as a stream. */
export type FixtureReply = (request: ModelRequest, signal: AbortSignal) => AsyncIterable<Chunk>;

type ReplyEnd = Chunk & { readonly type: 'end' };

/** The last chunk of an answer. */
export const createEndChunk = (parts: readonly MessagePart[], more: Partial<ReplyEnd> = {}): ReplyEnd => ({
  type: 'end',
  message: { role: 'assistant', parts },
  finishReason: parts.some((part) => part.type === 'tool-call') ? 'tool-calls' : 'stop',
  usage: { input: 10, output: 5 },
  model: 'test',
  ...more,
});

/** An answer with only the end chunk. */
export const replyWithParts = (parts: readonly MessagePart[], more: Partial<ReplyEnd> = {}): FixtureReply =>
  async function* () {
    yield createEndChunk(parts, more);
  };

/** A text answer. */
export const replyWithText = (text: string, finish: FinishReason = 'stop'): FixtureReply =>
  replyWithParts([{ type: 'text', text }], { finishReason: finish });

/** A part that calls a tool. */
export const createCallPart = (tool: string, input: Json = {}, id = 'wire'): ToolCallPart => ({
  type: 'tool-call',
  id,
  tool,
  input,
});

/** An answer that calls tools, by name or by name and input. */
export const replyWithCalls = (...made: readonly (string | readonly [string, Json])[]): FixtureReply =>
  replyWithParts(
    made.map((each, i) =>
      typeof each === 'string' ? createCallPart(each, {}, `w${i}`) : createCallPart(each[0], each[1], `w${i}`),
    ),
  );

/** Text chunks of a stream. */
export const createTextChunks = (...texts: readonly string[]): readonly Chunk[] => [
  { type: 'part-started', index: 0, part: 'text' },
  ...texts.map((text): Chunk => ({ type: 'part-delta', index: 0, text })),
];

/** An answer that fails with an error, optionally after some text. */
export const replyWithError = (error: unknown, ...texts: readonly string[]): FixtureReply =>
  async function* () {
    if (texts.length) yield* createTextChunks(...texts);
    throw error as Error;
  };

/** An answer that never arrives, optionally after some text, from a provider that ignores its signal. */
export const replyNever = (...texts: readonly string[]): FixtureReply =>
  async function* () {
    if (texts.length) yield* createTextChunks(...texts);
    await neverSettles();
  };

/** Never settles. */
export const neverSettles = (): Promise<never> => new Promise(() => {});

/** A provider that returns these answers in order, and `done` after the last. */
export function createReplyProvider(lines: readonly FixtureReply[], requests: ModelRequest[] = []): Provider {
  return {
    family: 'test',
    model: 'test',
    price: { input: 1, output: 1 },
    stream(request, signal) {
      const line = lines[requests.length] ?? replyWithText('done');
      requests.push(request);
      return line(request, signal);
    },
  };
}

/** Creates a tool with this implementation. */
export const createTestTool = (
  name: string,
  effect: Tool['effect'],
  act: Tool['execute'],
  more: Partial<Tool> = {},
): Tool => ({
  name,
  description: `The ${name} tool.`,
  input: { type: 'object' },
  effect,
  ...more,
  execute: act,
});

/** Limits that are not reached in a short test. */
export const roomyLimits: Limits = { turns: 20, errors: 5, maxRetriesPerAnswer: 2, stuckAfter: 0, outputChars: 10_000 };

/** The options of the fixture. */
export type CoreFixtureOptions = Omit<Partial<ResolvedAgent>, 'tools'> & {
  readonly replies?: readonly FixtureReply[];
  readonly tools?: readonly Tool[];
  readonly limits?: Partial<Limits>;
  readonly choice?: ToolChoice;
  readonly log?: Log;
};

/** A session before its run, and everything that can be inspected. */
export type CoreFixture = {
  readonly agent: ResolvedAgent;
  readonly head: SessionWriter;
  readonly log: MemoryLog;
  readonly requests: readonly ModelRequest[];
  /** Continues until there is nothing left to do. */
  readonly run: (signal?: AbortSignal, live?: (chunk: Chunk) => void) => Promise<RunState>;
  /** Adds an input of the user. */
  readonly addInput: (how: InputMode, text: string) => Promise<unknown>;
  /** Starts another run. */
  readonly startRun: (text: string, limits?: Partial<Limits>) => Promise<unknown>;
  /** The events of one type, in order. */
  readonly eventsOfType: <T extends Event['type']>(type: T) => readonly (Event & { readonly type: T })[];
  /** The history as lines `role: text`. */
  readonly transcript: () => readonly string[];
};

/** Creates the fixture with one prompt, `go`, and a run that has not started its first step. */
export async function createCoreFixture({
  replies = [],
  tools = [],
  limits = {},
  choice,
  log,
  ...more
}: CoreFixtureOptions = {}): Promise<CoreFixture> {
  const requests: ModelRequest[] = [];
  const agent: ResolvedAgent = {
    system: 'You are a test.',
    provider: createReplyProvider(replies, requests),
    tools: new Map(tools.map((tool) => [tool.name, tool])),
    ...bareAgentParts,
    ...more,
  };
  const memory = memoryLog();
  const head = await openSessionWriter(log ?? memory, runStateView(agent.rules, agent.views));
  const bounds = { ...roomyLimits, ...limits };
  await head.record(createRunStartFacts(agent, bounds, choice));
  let inputs = 1;
  const say = (how: InputMode, text: string): Promise<unknown> =>
    head.record([{ type: 'input-received', input: `i${++inputs}`, how, parts: [{ type: 'text', text }] }]);
  return {
    agent,
    head,
    log: memory,
    requests,
    run: (signal = new AbortController().signal, live = () => {}) =>
      runLoop(agent, { writer: head, signal, onChunk: live, clock: () => performance.now() }),
    addInput: say,
    async startRun(text, other = {}) {
      await say('prompt', text);
      await head.record([{ type: 'run-started', run: `r${inputs}`, limits: { ...bounds, ...other } }]);
    },
    eventsOfType: <T extends Event['type']>(type: T) =>
      memory.events.filter((event): event is Event & { readonly type: T } => event.type === type),
    transcript: () =>
      toArray(head.state.messages).map((message) => `${message.role}: ${formatTranscriptMessage(message)}`),
  };
}

/** The text of a message, including its calls and results. */
export const formatTranscriptMessage = (message: Message): string =>
  [
    messageText(message),
    ...message.parts.flatMap((part) =>
      part.type === 'tool-call' ? [`${part.tool}()`] : part.type === 'tool-result' ? [part.text] : [],
    ),
  ]
    .filter((text) => text !== '')
    .join(' | ');

/** The initial facts of a session. */
export const createRunStartFacts = (agent: ResolvedAgent, limits: Limits, choice?: ToolChoice): readonly Fact[] => [
  ...createSessionStartFacts(agent),
  { type: 'input-received', input: 'i1', how: 'prompt', parts: [{ type: 'text', text: 'go' }] },
  { type: 'run-started', run: 'r1', limits, ...(choice === undefined ? {} : { choice }) },
];

/** Waits until an event of this type is appended; earlier events do not count. */
export function waitForEvent(head: SessionWriter, type: Event['type'], times = 1): Promise<Event> {
  const { promise, resolve } = Promise.withResolvers<Event>();
  let left = times;
  const leave = head.subscribe((event) => {
    if (event.type !== type || --left > 0) return;
    leave();
    resolve(event);
  });
  return promise;
}
