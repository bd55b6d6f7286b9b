// The contracts others implement: where a log is kept, who answers, what can be done, who may stop it.
import type { Event, Fact, Note, DecisionSource, UsageTotals, StopReason, Verdict } from './fact.ts';
import type { Json, JsonObject } from './json.ts';
import type { FilePart, FinishReason, Message, ToolChoice, ToolSpec, Usage } from './message.ts';
import type { ToolCall, RunState } from './state.ts';
import type { PersistentList } from './persistent-list.ts';

/** How facts are to be added. */
export type AppendOptions = {
  /** Return only once the facts are safe from a power cut. Without it they are safe from the death of the process alone. */
  readonly durable?: boolean;
  /** Follow this event instead of the last one: the beginning of a branch. */
  readonly parent?: string;
};

/** A session's events. One fenced writer: `append` fails unless `after` is the seq of the last event. */
export interface Log {
  /** The events from the root to an event (the last one unless named), oldest first, in batches; from the last self-contained epoch on if asked. */
  read(options?: { readonly at?: string; readonly from?: 'root' | 'epoch' }): AsyncIterable<readonly Event[]>;
  /** Adds facts that belong together, and gives them their places. */
  append(after: number, facts: readonly Fact[], options?: AppendOptions): Promise<readonly Event[]>;
  /** Every event in the order written, all branches, from a seq on; waits for more until the signal aborts. */
  follow(from: number, signal: AbortSignal): AsyncIterable<Event>;
  /** Lets go of the writer's place. */
  close(): Promise<void>;
}

/** A pure fold over events; O(1) amortised per event. */
export interface View<S> {
  readonly initial: S;
  on(state: S, event: Event): S;
}

/** A view that an agent carries along, so that rules, gates, stops and screens can look at it in any state. */
export interface NamedView<S> extends View<S> {
  /** What it is called in the log, where an epoch keeps it; one a view. */
  readonly name: string;
  /** Its state as JSON, for an epoch that a fold may start from; bounded in size. Without it, it begins anew there. */
  serialize?(state: S): Json;
  /** The state that `keep` made JSON of; nothing where it is something else. */
  restore?(kept: Json): S | undefined;
}

/** How a model is to answer; what is absent is the provider's default. */
export type ModelSettings = {
  readonly maxOutputTokens?: number;
  readonly temperature?: number;
  readonly topP?: number;
  readonly seed?: number;
  readonly stop?: readonly string[];
  readonly reasoning?: 'none' | 'low' | 'medium' | 'high';
};

/** What a model is asked. Within an epoch every request extends the one before it, byte for byte. */
export type ModelRequest = {
  readonly system: string;
  readonly tools: readonly ToolSpec[];
  readonly messages: PersistentList<Message>;
  readonly toolChoice: ToolChoice;
  readonly settings: ModelSettings;
  readonly outputSchema?: JsonObject;
  readonly session?: string;
};

/** US dollars per million tokens; an absent cache price is the input price. */
export type Price = {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
};

/** A piece of an answer as it arrives. Provisional until `end`; `restarted` takes back everything since the start. */
export type Chunk =
  | { readonly type: 'part-started'; readonly index: number; readonly part: 'text' | 'reasoning' }
  | {
      readonly type: 'part-started';
      readonly index: number;
      readonly part: 'tool-call';
      readonly id: string;
      readonly tool: string;
    }
  | { readonly type: 'part-delta'; readonly index: number; readonly text: string }
  | { readonly type: 'part-ended'; readonly index: number }
  | { readonly type: 'restarted'; readonly attempt: number; readonly why: string }
  | {
      readonly type: 'end';
      readonly message: Message;
      readonly finishReason: FinishReason;
      /** The finish reason in the provider's own word. */
      readonly rawFinishReason?: string;
      readonly usage: Usage;
      /** The model that answered. */
      readonly model: string;
      /** What it cost; absent when unknown. */
      readonly usd?: number;
    };

/** A model. Always streams; exactly one `end`, or throws a FairleadError. */
export interface Provider {
  /** The family whose opaque metadata it understands, for example `anthropic`. */
  readonly family: string;
  /** The model's name as the provider knows it. */
  readonly model: string;
  /** Its price; absent when unknown, which is not free. */
  readonly price?: Price;
  /** Tokens one request and its answer may hold together; absent when unknown. */
  readonly contextWindow?: number;
  /** Whether it sees pictures; absent when unknown. */
  readonly supportsImages?: boolean;
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<Chunk>;
}

/** What a tool is handed beside its input. */
export type ToolContext = {
  readonly signal: AbortSignal;
  /** The same for every attempt at this one call: hand it to services that can refuse a repetition. */
  readonly key: string;
  readonly call: ToolCall;
  /** Whose call this is: a tool that starts a child run narrows it from here. */
  readonly agent: ResolvedAgent;
  readonly state: RunState;
  /** Shows what the tool has to say while it is at work; nothing of it is kept. */
  readonly progress?: (text: string) => void;
  /** Calls back for each event of this session once it is written, after the call too: for what a tool leaves going on beside the run. */
  readonly subscribe?: (seen: (event: Event, state: RunState) => void) => () => void;
};

/** The mark of an output. No JSON can carry it, so what a tool merely passes on from outside can never pose as one. */
export const TOOL_OUTPUT: unique symbol = Symbol.for('fairlead.output');

/** A tool's answer with several renderings: text for the model, data for programs, notes to attach. Made by `output`. */
export type ToolOutput = {
  readonly [TOOL_OUTPUT]: true;
  readonly text: string;
  readonly data?: Json;
  /** Pictures for a model that sees: base64, bounded by the tool. */
  readonly files?: readonly FilePart[];
  readonly failed?: boolean;
  /** It may or may not have happened: the outcome is unknown, whatever `failed` says. */
  readonly outcomeUnknown?: boolean;
  readonly notes?: readonly Note[];
  /** Hidden tools that may be used from now on. */
  readonly loadsTools?: readonly string[];
  /** The task is complete: the run ends once this answer's calls are settled. */
  readonly endsRun?: boolean;
  /** What a child run used up, charged to this run. */
  readonly spent?: Partial<UsageTotals>;
};

/** Something the model may do. What `run` throws becomes a failed result for the model; what it returns, if not an `Output`, becomes JSON text. */
export interface Tool extends ToolSpec {
  /** `read` may be repeated and run beside others; `write` changes what we own; `external` changes the world. */
  readonly effect: 'read' | 'write' | 'external';
  /** A second attempt with the same key does no harm. */
  readonly idempotent?: boolean;
  /** Not shown to the model and not callable until a tool output loads it. */
  readonly deferred?: boolean;
  readonly timeoutMs?: number;
  /** Whoever asked makes its calls, elsewhere: one is written down as begun and stays open, with these words as its question, until somebody brings what came of it. */
  readonly clientSideQuestion?: string;
  /** Why this input does not fit the schema, or nothing. Where it throws, nothing is run. */
  validate?(input: Json): string | undefined;
  execute(input: Json, context: ToolContext): unknown;
  /** What came of an attempt with this key that a crash cut off: what `run` would have given where it happened, `false` where it did not, nothing where that cannot be told. Changes nothing. */
  checkOutcome?(input: Json, context: ToolContext): unknown;
}

/** Pure: sees what just happened, may leave notes for the model; what it has to remember is a view. One that throws leaves a note that says so. */
export type Rule = (event: Event, state: RunState) => readonly Note[];

/** Writes a tool's output down for the model in another way; nothing leaves it as it is, and so does one that throws. */
export type Renderer = (output: Omit<ToolOutput, typeof TOOL_OUTPUT>, about: RendererContext) => string | undefined;

/** What a renderer may go by. */
export type RendererContext = { readonly tool: string; readonly input: Json; readonly model: string };

/** Called before each turn; its text is shown at the tail. One that throws is skipped and remarked on. */
export type Reminder = (turn: number, maxTurns: number, state: RunState) => string | null | undefined;

/** What a gate decides about a call. */
export type Decision =
  | { readonly type: 'allow' }
  | { readonly type: 'ask'; readonly question: string; readonly by?: DecisionSource }
  | { readonly type: 'deny'; readonly reason: string; readonly by?: DecisionSource }
  | { readonly type: 'rewrite'; readonly input: Json };

/** The only place that may stop an act; every path passes it; one that throws, or says nothing clear, denies. */
export type Gate = (call: ToolCall, state: RunState) => Decision | Promise<Decision>;

/** Ends a run from its state alone; one that throws ends it too. */
export type Stop = (state: RunState) => { readonly reason: StopReason; readonly detail?: string } | undefined;

/** Looks at a finished answer: a run is not done because the model says so. One that throws, or gives no verdict, has failed. */
export interface Check {
  readonly name: string;
  run(state: RunState, signal: AbortSignal): Verdict | Promise<Verdict>;
}

/** The schema an answer is held to, and how to tell. */
export type OutputSchema = { readonly schema: JsonObject; validate(text: string): string | undefined };

/** What a compactor is handed beside the state, whose open calls it sees as interrupted. */
export type CompactionContext = {
  readonly agent: ResolvedAgent;
  readonly signal: AbortSignal;
  /** What a person asks it to keep in mind. */
  readonly focus?: string;
};

/** What a compactor made. Without messages it could not; `detail` says how, or why not, and `spent` is charged either way. */
export type CompactionResult = {
  readonly messages?: readonly Message[];
  readonly detail?: string;
  readonly spent?: Partial<UsageTotals>;
};

/** Makes a shorter history. What it throws, and a history that is illegal, not shorter or lacks an open call, is a refusal: the old one stays. */
export interface Compactor {
  /** The share of the window from which on it is asked; without it only where the next request does not fit. */
  readonly threshold?: number;
  run(state: RunState, context: CompactionContext): Promise<CompactionResult>;
}

/** The parts of an agent, all a loop needs to know of it. */
export type ResolvedAgent = {
  readonly system: string;
  /** The working directory, recorded at the start of each epoch. */
  readonly cwd?: string;
  readonly provider: Provider;
  readonly tools: ReadonlyMap<string, Tool>;
  /** The name of the tool that is meant by a call whose name no tool has. Gates, checks and the log see that one. */
  readonly resolveToolName?: (call: Pick<ToolCall, 'tool' | 'input'>) => string | undefined;
  readonly rules: readonly Rule[];
  /** What rules, gates and stops look at beside the state. */
  readonly views?: readonly NamedView<unknown>[];
  /** The first that says something writes an output down. */
  readonly renderers?: readonly Renderer[];
  readonly reminders: readonly Reminder[];
  /** Tokens of notes that one turn may show, safety apart; 2,000 unless given. What did not fit waits for the next. */
  readonly maxNoteTokens?: number;
  readonly gates: readonly Gate[];
  readonly stops: readonly Stop[];
  readonly checks: readonly Check[];
  readonly settings: ModelSettings;
  readonly outputSchema?: OutputSchema;
  readonly compactor?: Compactor;
  /** Whether an effect that may have happened in a crash is put to a person, or told to the model; told unless given. */
  readonly onUnknownOutcome?: 'ask' | 'tell';
};
