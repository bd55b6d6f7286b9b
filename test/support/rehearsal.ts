// A rehearsal for tests of the core: a model that says its lines, a log in memory, and a run to be looked at.
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
import { bare, begun } from './bare-agent.ts';

/** One answer of the model: how its stream goes. */
export type Line = (request: ModelRequest, signal: AbortSignal) => AsyncIterable<Chunk>;

type End = Chunk & { readonly type: 'end' };

/** The last chunk of an answer. */
export const endOf = (parts: readonly MessagePart[], more: Partial<End> = {}): End => ({
  type: 'end',
  message: { role: 'assistant', parts },
  finishReason: parts.some((part) => part.type === 'tool-call') ? 'tool-calls' : 'stop',
  usage: { input: 10, output: 5 },
  model: 'test',
  ...more,
});

/** An answer that is only its end. */
export const ends = (parts: readonly MessagePart[], more: Partial<End> = {}): Line =>
  async function* () {
    yield endOf(parts, more);
  };

/** An answer in words. */
export const says = (text: string, finish: FinishReason = 'stop'): Line =>
  ends([{ type: 'text', text }], { finishReason: finish });

/** A part that calls a tool. */
export const callOf = (tool: string, input: Json = {}, id = 'wire'): ToolCallPart => ({
  type: 'tool-call',
  id,
  tool,
  input,
});

/** An answer that calls tools, by name or by name and input. */
export const calls = (...made: readonly (string | readonly [string, Json])[]): Line =>
  ends(
    made.map((each, i) => (typeof each === 'string' ? callOf(each, {}, `w${i}`) : callOf(each[0], each[1], `w${i}`))),
  );

/** Pieces of text as they stream in. */
export const pieces = (...texts: readonly string[]): readonly Chunk[] => [
  { type: 'part-started', index: 0, part: 'text' },
  ...texts.map((text): Chunk => ({ type: 'part-delta', index: 0, text })),
];

/** An answer that breaks with an error, perhaps after some words. */
export const breaks = (error: unknown, ...texts: readonly string[]): Line =>
  async function* () {
    if (texts.length) yield* pieces(...texts);
    throw error as Error;
  };

/** An answer that never comes, perhaps after some words, from a provider that does not hear its signal. */
export const hangs = (...texts: readonly string[]): Line =>
  async function* () {
    if (texts.length) yield* pieces(...texts);
    await forever();
  };

/** Never settles. */
export const forever = (): Promise<never> => new Promise(() => {});

/** A provider that says these lines in order, and `done` after the last. */
export function providerOf(lines: readonly Line[], requests: ModelRequest[] = []): Provider {
  return {
    family: 'test',
    model: 'test',
    price: { input: 1, output: 1 },
    stream(request, signal) {
      const line = lines[requests.length] ?? says('done');
      requests.push(request);
      return line(request, signal);
    },
  };
}

/** A tool that does this. */
export const toolOf = (name: string, effect: Tool['effect'], act: Tool['execute'], more: Partial<Tool> = {}): Tool => ({
  name,
  description: `The ${name} tool.`,
  input: { type: 'object' },
  effect,
  ...more,
  execute: act,
});

/** Limits that do not bind in a short test. */
export const roomy: Limits = { turns: 20, errors: 5, maxRetriesPerAnswer: 2, stuckAfter: 0, outputChars: 10_000 };

/** What a stage is set with. */
export type Setting = Omit<Partial<ResolvedAgent>, 'tools'> & {
  readonly lines?: readonly Line[];
  readonly tools?: readonly Tool[];
  readonly limits?: Partial<Limits>;
  readonly choice?: ToolChoice;
  readonly log?: Log;
};

/** A session about to run, and everything there is to see of it. */
export type Stage = {
  readonly agent: ResolvedAgent;
  readonly head: SessionWriter;
  readonly log: MemoryLog;
  readonly requests: readonly ModelRequest[];
  /** Goes on until there is nothing to do. */
  readonly go: (signal?: AbortSignal, live?: (chunk: Chunk) => void) => Promise<RunState>;
  /** Adds an input of the user. */
  readonly say: (how: InputMode, text: string) => Promise<unknown>;
  /** Begins another run. */
  readonly again: (text: string, limits?: Partial<Limits>) => Promise<unknown>;
  /** The events of one type, in order. */
  readonly all: <T extends Event['type']>(type: T) => readonly (Event & { readonly type: T })[];
  /** The history as lines `role: text`. */
  readonly told: () => readonly string[];
};

/** Sets a stage with one prompt, `go`, and a run that has not begun to act. */
export async function stage({
  lines = [],
  tools = [],
  limits = {},
  choice,
  log,
  ...more
}: Setting = {}): Promise<Stage> {
  const requests: ModelRequest[] = [];
  const agent: ResolvedAgent = {
    system: 'You are a test.',
    provider: providerOf(lines, requests),
    tools: new Map(tools.map((tool) => [tool.name, tool])),
    ...bare,
    ...more,
  };
  const memory = memoryLog();
  const head = await openSessionWriter(log ?? memory, runStateView(agent.rules, agent.views));
  const bounds = { ...roomy, ...limits };
  await head.record(opening(agent, bounds, choice));
  let inputs = 1;
  const say = (how: InputMode, text: string): Promise<unknown> =>
    head.record([{ type: 'input-received', input: `i${++inputs}`, how, parts: [{ type: 'text', text }] }]);
  return {
    agent,
    head,
    log: memory,
    requests,
    go: (signal = new AbortController().signal, live = () => {}) =>
      runLoop(agent, { writer: head, signal, onChunk: live, clock: () => performance.now() }),
    say,
    async again(text, other = {}) {
      await say('prompt', text);
      await head.record([{ type: 'run-started', run: `r${inputs}`, limits: { ...bounds, ...other } }]);
    },
    all: <T extends Event['type']>(type: T) =>
      memory.events.filter((event): event is Event & { readonly type: T } => event.type === type),
    told: () => toArray(head.state.messages).map((message) => `${message.role}: ${spoken(message)}`),
  };
}

/** What a message says, its calls and results included. */
export const spoken = (message: Message): string =>
  [
    messageText(message),
    ...message.parts.flatMap((part) =>
      part.type === 'tool-call' ? [`${part.tool}()`] : part.type === 'tool-result' ? [part.text] : [],
    ),
  ]
    .filter((text) => text !== '')
    .join(' | ');

/** The facts a session begins with. */
export const opening = (agent: ResolvedAgent, limits: Limits, choice?: ToolChoice): readonly Fact[] => [
  ...begun(agent),
  { type: 'input-received', input: 'i1', how: 'prompt', parts: [{ type: 'text', text: 'go' }] },
  { type: 'run-started', run: 'r1', limits, ...(choice === undefined ? {} : { choice }) },
];

/** Waits until an event of this type is written; the events before it do not count. */
export function until(head: SessionWriter, type: Event['type'], times = 1): Promise<Event> {
  const { promise, resolve } = Promise.withResolvers<Event>();
  let left = times;
  const leave = head.subscribe((event) => {
    if (event.type !== type || --left > 0) return;
    leave();
    resolve(event);
  });
  return promise;
}
