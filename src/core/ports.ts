// The interfaces that other modules implement: log, view, provider, tool, rule, gate, stop condition, check, compactor.
import type { Compactor } from './compactor-port.ts';
import type { Event, Fact, Limits, Note, UsageTotals, StopReason, Verdict } from './fact.ts';
import type { FlowLabels, ToolHints } from './flow-labels.ts';
import type { Json, JsonObject } from './json.ts';
import type { FilePart, FinishReason, Message, RendererContext, ToolChoice, ToolSpec, Usage } from './message.ts';
import type { Spotlight } from './spotlight.ts';
import type { ToolCall, RunState } from './state.ts';
import type { ApprovalHandler } from './pending-approvals.ts';
import type { Gate } from './gate-port.ts';
import type { TraceContext } from './trace-context.ts';
import type { TracePort } from './trace-port.ts';
import type { PersistentList } from './persistent-list.ts';
export type { Decision, Gate, GateAnnotation } from './gate-port.ts';
export type { CompactionContext, CompactionResult, Compactor } from './compactor-port.ts';

/** Options of an append. */
export type AppendOptions = {
  /** Return only after an fsync. Without it the facts survive a process crash but not a power failure. */
  readonly durable?: boolean;
  /** Append after this event instead of the last one: starts a branch. */
  readonly parent?: string;
};

/** A session's events. One fenced writer: `append` fails unless `after` is the seq of the last event. */
export interface Log {
  /** The events from the root to an event (the last one unless named), oldest first, in batches; from the last self-contained epoch on if asked. */
  read(options?: { readonly at?: string; readonly from?: 'root' | 'epoch' }): AsyncIterable<readonly Event[]>;
  /** Appends facts atomically and returns them as events. */
  append(after: number, facts: readonly Fact[], options?: AppendOptions): Promise<readonly Event[]>;
  /** Every event in the order written, all branches, from a seq on; waits for more until the signal aborts. */
  follow(from: number, signal: AbortSignal): AsyncIterable<Event>;
  /** Releases the writer lock. */
  close(): Promise<void>;
}

/** A pure fold over events; O(1) amortised per event. */
export interface View<S> {
  readonly initial: S;
  on(state: S, event: Event): S;
}

/** A view that is part of an agent, so that rules, gates, stop conditions and UIs can read it from any state. */
export interface NamedView<S> extends View<S> {
  /** The unique name under which an epoch stores it. */
  readonly name: string;
  /** Serializes the state for a baseline; must be bounded in size. Without it the view starts empty at the epoch. */
  serialize?(state: S): Json;
  /** Whether the log of a sub-agent begins with the serialized state of its parent, as an annotation with the name of the view. */
  readonly isInherited?: boolean;
  /** Restores a serialized state; returns undefined if the JSON is not valid. */
  restore?(stored: Json): S | undefined;
}

/** Model settings; an absent setting means the provider's default. */
export type ModelSettings = {
  /** Maximum tokens of one answer. */
  readonly maxOutputTokens?: number;
  /** Randomness; 0 is the least. */
  readonly temperature?: number;
  /** Share of the probability mass that is sampled from. */
  readonly topP?: number;
  /** Makes sampling repeatable where the provider supports it. */
  readonly seed?: number;
  /** Texts that end an answer. */
  readonly stop?: readonly string[];
  /** Reasoning effort. */
  readonly reasoning?: 'none' | 'low' | 'medium' | 'high';
  /** Whether the API is asked for a stream; false asks for one complete response, for servers whose streams are broken. Default true. */
  readonly stream?: boolean;
};

/** A model request. Within an epoch every request extends the previous one, byte for byte. */
export type ModelRequest = {
  readonly system: string;
  readonly tools: readonly ToolSpec[];
  readonly messages: PersistentList<Message>;
  readonly toolChoice: ToolChoice;
  readonly settings: ModelSettings;
  readonly outputSchema?: JsonObject;
  readonly session?: string;
  /** The trace that the request belongs to; sent as headers, and no part of the body. */
  readonly trace?: TraceContext;
};

/** US dollars per million tokens; an absent cache price is the input price. */
export type Price = {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
};

/** A failed attempt at a model, and the attempt that follows it; or a wait for a rate limit before an attempt. */
export type RetryNotice = {
  /** The number of the attempt that follows, from 2; from 1 if `held`. */
  readonly attempt: number;
  /** Nothing failed: a rate limit of this process delays the request. */
  readonly held?: true;
  /** The number of attempts at this model before the request fails; absent if another model follows. */
  readonly maxAttempts?: number;
  /** Milliseconds until the attempt starts. */
  readonly waitMs?: number;
  /** The error code of the failed attempt, such as `provider/rate-limited`. */
  readonly code?: string;
  /** The provider that failed, such as `ollama`. */
  readonly provider?: string;
  /** The message of the failed attempt. */
  readonly why: string;
};

/** A streamed piece of a response. Provisional until `end`; `restarted` discards everything since the start. */
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
  | ({ readonly type: 'restarted' } & RetryNotice)
  | {
      readonly type: 'end';
      readonly message: Message;
      readonly finishReason: FinishReason;
      /** The finish reason as the provider sent it. */
      readonly rawFinishReason?: string;
      readonly usage: Usage;
      /** The model that responded. */
      readonly model: string;
      /** The cost; absent if unknown. */
      readonly usd?: number;
      readonly annotations?: readonly { readonly key: string; readonly value: Json }[];
    };

/** A model. Always streams; exactly one `end`, or throws a FairleadError. */
export interface Provider {
  /** The family whose opaque metadata it understands, for example `anthropic`. */
  readonly family: string;
  /** The model's name as the provider knows it. */
  readonly model: string;
  /** The price; absent if unknown, which does not mean free. */
  readonly price?: Price;
  /** Context window in tokens, request and response together; absent if unknown. */
  readonly contextWindow?: number;
  /** Whether it accepts images; absent if unknown. */
  readonly supportsImages?: boolean;
  /** Whether a server of the user applies the chat template: control tokens in tool results are then escaped. */
  readonly usesChatTemplate?: boolean;
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<Chunk>;
}

/** What a tool receives besides its input. */
export type ToolContext = {
  /** Aborts when the run is stopped or the time of the tool is over. */
  readonly signal: AbortSignal;
  /** Idempotency key: the same for every attempt of this call. Pass it to services that detect duplicates. */
  readonly key: string;
  /** The call of the model. */
  readonly call: ToolCall;
  /** The calling agent. A tool that starts a sub-agent derives its configuration from this one. */
  readonly agent: ResolvedAgent;
  /** The state of the session. */
  readonly state: RunState;
  /** Reports progress; it is shown and not stored. */
  readonly progress?: (text: string) => void;
  /** Subscribes to events of this session, also after the call has ended: for tools with background work. */
  readonly subscribe?: (listener: (event: Event, state: RunState) => void) => () => void;
};

/** Marks a tool output. JSON cannot carry a symbol, so untrusted data can never pose as an output. */
export const TOOL_OUTPUT: unique symbol = Symbol.for('fairlead.output');

/** A tool result with several representations: text for the model, data for programs, notes. Created by `toolOutput`. */
export type ToolOutput = {
  readonly [TOOL_OUTPUT]: true;
  /** What the model reads. */
  readonly text: string;
  /** What programs and screens read. */
  readonly data?: Json;
  /** Labels of information flow control that came with the result. */
  readonly labels?: FlowLabels;
  /** Text that is recorded, and that no request of the model that acts contains: the text of a quarantined result. */
  readonly withheld?: string;
  /** Images as base64; the tool limits their size. */
  readonly files?: readonly FilePart[];
  /** The call failed; the model reads the text as an error. */
  readonly failed?: boolean;
  /** The effect may or may not have happened; overrides `failed`. */
  readonly outcomeUnknown?: boolean;
  /** Notes for the model that are shown with the result. */
  readonly notes?: readonly Note[];
  /** Deferred tools that may be called from now on. */
  readonly loadsTools?: readonly string[];
  /** The task is complete: the run ends after the calls of this response. */
  readonly endsRun?: boolean;
  /** Usage of a sub-agent, charged to this run. */
  readonly spent?: Partial<UsageTotals>;
};

/** A tool. If `execute` throws, the model gets a failed result; a return value other than a tool output becomes JSON text. */
export interface Tool extends ToolSpec {
  /** `read` may be repeated and run concurrently; `write` changes the workspace; `external` changes the outside world. */
  readonly effect: 'read' | 'write' | 'external';
  /** A second attempt with the same idempotency key is safe. */
  readonly idempotent?: boolean;
  /** Not shown to the model, and not callable until a tool output loads it. */
  readonly deferred?: boolean;
  /** `false` keeps the tool out of every request and every list; a call that names it runs, after the gates. */
  readonly visible?: boolean;
  readonly timeoutMs?: number;
  /** The output contains text from files, programs or networks, which may contain instructions of an attacker. It is marked for the model. */
  readonly untrustedOutput?: boolean;
  readonly hints?: ToolHints;
  /** The client runs this tool: a call is recorded as started and waits, with this text as its question, until the client sends the result. */
  readonly clientSideQuestion?: string;
  /** Returns why the input is invalid, or undefined. If it throws, the tool does not run. */
  validate?(input: Json): string | undefined;
  /** Whether the user must approve this call before it runs; anything but `false` asks. A text is shown in the question, which then no earlier approval answers. */
  needsApproval?(input: Json, state: RunState): boolean | string | Promise<boolean | string>;
  execute(input: Json, context: ToolContext): unknown;
  /** Finds out whether an attempt that a crash interrupted took effect: returns its result if it did, `false` if it did not, undefined if that cannot be known. Must have no effect. */
  checkOutcome?(input: Json, context: ToolContext): unknown;
}

/** A pure function of an event and the state that returns notes for the model. State it needs belongs in a view. If it throws, a note reports that. */
export type Rule = (event: Event, state: RunState) => readonly Note[];

/** Formats a tool output for the model; undefined, or an error, leaves it unchanged. */
export type Renderer = (output: Omit<ToolOutput, typeof TOOL_OUTPUT>, context: RendererContext) => string | undefined;

/** Called before each turn; its text is appended to the request. One that throws is skipped and reported. */
export type Reminder = (turn: number, maxTurns: number, state: RunState) => string | null | undefined;

/** A stop condition: ends a run from its state alone. If it throws, the run ends. */
export type Stop = (state: RunState) => { readonly reason: StopReason; readonly detail?: string } | undefined;

/** Checks a finished answer before the run may end. If it throws, or returns no verdict, it has failed. */
export interface Check {
  readonly name: string;
  /** The views that it reads; the agent gets them with the check. */
  readonly views?: readonly NamedView<unknown>[];
  /** Whether it also checks the answers of sub-agents; default false. */
  readonly isInherited?: boolean;
  /** Whether the last answer needs this check. Pure and cheap: with no check to run, a run ends without a verdict. If it throws, or without it, the check runs. */
  appliesTo?(state: RunState): boolean;
  run(state: RunState, signal: AbortSignal): Verdict | Promise<Verdict>;
}

/** The schema of the final answer and its validator. */
export type OutputSchema = {
  /** The JSON Schema in the request; absent if the library of the schema has none, then only `validate` checks the answer. */
  readonly schema?: JsonObject;
  validate(text: string): string | undefined;
  /** The value of an answer that `validate` accepts; `JSON.parse` of the text if absent. */
  parse?(text: string): unknown;
};

/** A fully resolved agent: everything the loop needs. */
export type ResolvedAgent = {
  /** The system prompt. */
  readonly system: string;
  /** The working directory, recorded at the start of each epoch. */
  readonly cwd?: string;
  /** The name under which the provider of the model is opened, recorded at the start of an epoch. */
  readonly modelProvider?: string;
  /** The host that the provider is at; absent if the model runs in this process. */
  readonly modelHost?: string;
  /** The name under which the provider opens the model, if it is another than that of the model. */
  readonly modelName?: string;
  /** The model. */
  readonly provider: Provider;
  readonly tools: ReadonlyMap<string, Tool>;
  /** Resolves a tool name that no tool has, such as an alias. Gates, checks and the log see the resolved name. */
  readonly resolveToolName?: (call: Pick<ToolCall, 'tool' | 'input'>) => string | undefined;
  /** Functions of an event and the state that return notes for the model. */
  readonly rules: readonly Rule[];
  /** Views that rules, gates and stop conditions read besides the state. */
  readonly views?: readonly NamedView<unknown>[];
  /** The first renderer that returns text formats an output. */
  readonly renderers?: readonly Renderer[];
  /** How text of tools with `untrustedOutput` is marked for the model besides its tags; default `delimiters`, tags alone. */
  readonly spotlight?: Spotlight;
  readonly reminders: readonly Reminder[];
  /** Max tokens of notes per turn, safety notes excluded; default 2,000. Other notes wait for the next turn. */
  readonly maxNoteTokens?: number;
  /** Decide about each call before it runs. */
  readonly gates: readonly Gate[];
  /** The hashes of the policies that the gates are created from, by name; recorded at the start of each run. */
  readonly policies?: Readonly<Record<string, string>>;
  /** Stop conditions: end a run from its state. */
  readonly stops: readonly Stop[];
  /** Verify an answer before the run ends. */
  readonly checks: readonly Check[];
  /** Model settings such as temperature and reasoning effort. */
  readonly settings: ModelSettings;
  /** Limits of each run unless the run sets its own. */
  readonly limits?: Partial<Limits>;
  /** Decides about calls that need approval, in runs that name no handler. */
  readonly onApproval?: ApprovalHandler;
  /** Called with the text of each input before it is recorded. Returns notes for the model; throws to refuse the input. */
  readonly onInput?: (text: string, state: RunState) => Promise<readonly string[]>;
  /** Called with each event of a run after it is recorded. */
  readonly onEvent?: (event: Event, state: RunState) => void;
  /** Observes the sessions of the agent and of its sub-agents. */
  readonly trace?: TracePort;
  /** The schema that every answer must match. */
  readonly outputSchema?: OutputSchema;
  /** Shortens a conversation that no longer fits. */
  readonly compactor?: Compactor;
  /** Whether the user or the model is informed of an effect that may have happened before a crash; default: the model. */
  readonly onUnknownOutcome?: 'ask' | 'tell';
};
