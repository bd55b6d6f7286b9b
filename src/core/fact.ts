// What can happen in a session, in the past tense. A fact is plain JSON, never edited, never removed.
import type { Failure } from './errors.ts';
import type { Json } from './json.ts';
import type { FilePart, FinishReason, Message, MessagePart, ToolChoice, ToolSpec, Usage } from './message.ts';
import type { ToolCall } from './state.ts';

/** Why a run ended: a closed union, decided from state alone. */
export type StopReason =
  | 'answered'
  | 'task-complete'
  | 'abstained'
  | 'truncated'
  | 'max-turns'
  | 'token-budget'
  | 'money-budget'
  | 'call-budget'
  | 'time'
  | 'error-threshold'
  | 'stuck'
  | 'rule'
  | 'kill-switch'
  | 'cancelled'
  | 'provider-error';

/** The bounds of one run; an absent one does not bind. */
export type Limits = {
  /** Provider turns. */
  readonly turns: number;
  /** Input and output tokens of the run together. */
  readonly tokens?: number;
  /** Tokens one request may hold: the model's effective context window less room for its answer. */
  readonly context?: number;
  /** US dollars; a model whose price is unknown is then refused. */
  readonly usd?: number;
  /** Milliseconds at work: time between runs and waiting for a person do not count. */
  readonly ms?: number;
  /** Tool calls. */
  readonly calls?: number;
  /** Consecutive failures, of turns or of whole rounds of tool calls. */
  readonly errors: number;
  /** How often an answer is asked for again (empty, refused, not to the schema, no call where one was forced). */
  readonly maxRetriesPerAnswer: number;
  /** How often the same round of calls may bring the same results before the run counts as stuck; 0 never. */
  readonly stuckAfter: number;
  /** Characters of one tool result that reach the model. */
  readonly outputChars: number;
};

/** A line for the model, waiting for its turn. One live note a key; a higher priority is shown first. */
export type Note = {
  readonly key: string;
  readonly text: string;
  /** 100 and more is safety, which every allowance lets pass; 0 unless given. */
  readonly priority?: number;
  /** Notes of one group are shown together, where the first of them stands. */
  readonly group?: string;
  /** The last turn at whose beginning it may be shown. */
  readonly until?: number;
};

/** How an input joins a run: at once, after the running tools, or after the answer; `continue` adds no words. */
export type InputMode = 'prompt' | 'steer' | 'follow-up' | 'continue';

/** What a check found. */
export type Verdict =
  | { readonly type: 'passed' }
  | { readonly type: 'failed'; readonly why: string }
  | { readonly type: 'abstained'; readonly why: string };

/** What was used up. `unpriced` counts turns whose cost is unknown. */
export type UsageTotals = {
  readonly turns: number;
  readonly calls: number;
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly usd: number;
  readonly turnsWithoutPrice: number;
  readonly ms: number;
};

/** Everything a fold needs to start at an epoch instead of at the first event. */
export type Baseline = {
  readonly session: string;
  readonly nonce?: string;
  readonly messages: readonly Message[];
  readonly turn: number;
  readonly loaded: readonly string[];
  readonly queue: readonly Note[];
  readonly total: UsageTotals;
  /** Inputs that no turn has delivered yet. */
  readonly pending?: readonly PendingInput[];
  /** The calls of the last message where they are not settled yet: they may be waiting for a person. */
  readonly calls?: readonly ToolCall[];
  readonly files?: readonly TouchedFile[];
  /** What the agent's views had seen, by their names. */
  readonly views?: Readonly<Record<string, Json>>;
  /** The run that was under way, so that a fold from here goes on with it. */
  readonly activeRun?: ActiveRun;
};

/** A file that tools worked on: which one last, and what is known of its content since. */
export type TouchedFile = {
  readonly path: string;
  readonly tool: string;
  readonly changed: boolean;
  /** What the tool called the content it left or read, usually a hash. */
  readonly content?: string;
};

/** An input that no turn has delivered yet. */
export type PendingInput = {
  readonly input: string;
  readonly how: 'prompt' | 'steer' | 'follow-up';
  readonly parts: readonly MessagePart[];
};

/** What a run under way takes along into an epoch that a fold may start from. */
export type ActiveRun = {
  readonly run: string;
  readonly limits: Limits;
  readonly choice: ToolChoice;
  readonly spent: UsageTotals;
  readonly failures: number;
  readonly answerRetries: number;
  readonly compactions: number;
  readonly rounds: readonly number[];
  readonly due: boolean;
  readonly verified: boolean;
  readonly inTurn: boolean;
};

/** Why a new prefix began. */
export type EpochReason = 'started' | 'compacted' | 'model-changed' | 'agent-changed' | 'edited';

/** How a tool call came out. `unknown`: it was under way when the process died, and may have happened. */
export type ToolOutcome = 'ok' | 'failed' | 'denied' | 'interrupted' | 'unknown';

/** What denied a call or asked about it: the kind of gate, and its name where it has one. */
export type DecisionSource = {
  readonly kind: 'rule' | 'hook' | 'policy' | 'permission' | 'user';
  readonly name?: string;
  /** The hook that denied the call also ended the run. */
  readonly endsRun?: boolean;
};

/** Why an answer was not accepted. */
export type RejectionReason = 'empty' | 'refused' | 'filtered' | 'invalid' | 'no-call';

/** Something that happened. */
export type Fact =
  | {
      readonly type: 'session-started';
      readonly session: string;
      /** Marks our notes in this session: nothing from outside can know it. */
      readonly nonce?: string;
      readonly name?: string;
      readonly from?: { readonly session: string; readonly event: string };
    }
  | {
      readonly type: 'epoch-started';
      readonly epoch: number;
      readonly reason: EpochReason;
      readonly system: string;
      readonly tools: readonly ToolSpec[];
      readonly model: string;
      /** The working directory of the agent, where it has one. */
      readonly cwd?: string;
      readonly baseline?: Baseline;
      /** How its history was made. */
      readonly detail?: string;
      /** What making its history used up; not yet part of the baseline. */
      readonly spent?: Partial<UsageTotals>;
    }
  | { readonly type: 'compaction-failed'; readonly why: string; readonly spent?: Partial<UsageTotals> }
  | {
      readonly type: 'branch-started';
      readonly from: string;
      readonly reason: 'edited' | 'forked' | 'rewound' | 'returned';
      readonly detail?: string;
    }
  | {
      readonly type: 'input-received';
      readonly input: string;
      readonly how: InputMode;
      readonly parts: readonly MessagePart[];
    }
  | { readonly type: 'run-started'; readonly run: string; readonly limits: Limits; readonly choice?: ToolChoice }
  | {
      readonly type: 'turn-started';
      readonly turn: number;
      readonly inputs: readonly string[];
      readonly notes: readonly Note[];
    }
  | {
      readonly type: 'turn-ended';
      readonly turn: number;
      readonly message: Message;
      readonly finishReason: FinishReason;
      readonly usage: Usage;
      readonly usd?: number;
      /** The counts did not come from the provider, or could not be true: `usd` is our estimate. */
      readonly estimated?: boolean;
      readonly model: string;
      readonly ms: number;
    }
  | {
      readonly type: 'turn-failed';
      readonly turn: number;
      readonly error: Failure;
      readonly partial?: string;
      readonly usage?: Usage;
      readonly usd?: number;
      readonly ms: number;
    }
  | { readonly type: 'answer-rejected'; readonly why: RejectionReason; readonly text: string }
  | {
      readonly type: 'approval-requested';
      readonly call: string;
      readonly question: string;
      /**
       * `unknown-outcome`: the question is whether the call has taken effect before a crash; a yes runs it again.
       * `client-tool`: the client runs this call and sends its result.
       */
      readonly kind?: 'unknown-outcome' | 'client-tool';
      /** The gate that asked. */
      readonly by?: DecisionSource;
    }
  | {
      readonly type: 'approval-resolved';
      readonly call: string;
      readonly allowed: boolean;
      /** The effect whose outcome was unknown has happened. */
      readonly happened?: boolean;
      readonly by?: string;
    }
  | {
      readonly type: 'tool-started';
      readonly call: string;
      readonly tool: string;
      readonly key: string;
      readonly input?: Json;
    }
  | {
      readonly type: 'tool-ended';
      readonly call: string;
      readonly outcome: ToolOutcome;
      readonly text: string;
      readonly files?: readonly FilePart[];
      readonly data?: Json;
      readonly notes?: readonly Note[];
      readonly loadsTools?: readonly string[];
      readonly endsRun?: boolean;
      readonly spent?: Partial<UsageTotals>;
      readonly ms: number;
      /** What denied the call, where `outcome` is `denied`. */
      readonly deniedBy?: DecisionSource;
      /** Of these, milliseconds that passed beside a call before it and are counted there. */
      readonly overlappedMs?: number;
    }
  | { readonly type: 'check-ended'; readonly check: string; readonly verdict: Verdict }
  | { readonly type: 'run-ended'; readonly reason: StopReason; readonly detail?: string; readonly error?: Failure }
  | { readonly type: 'annotation-added'; readonly key: string; readonly value: Json };

/** A fact in its place: `seq` orders the file, `id` names the event, `parent` is the event it follows (none for the first). */
export type Event = Fact & {
  readonly seq: number;
  readonly id: string;
  readonly parent: string | null;
  readonly time: string;
};
