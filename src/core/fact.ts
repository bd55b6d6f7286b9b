// Event payloads of the session log. A fact is plain JSON, named in the past tense, never edited, never removed.
import type { ApprovalPreview } from './approval-preview.ts';
import type { Failure } from './errors.ts';
import type { FlowLabels } from './flow-labels.ts';
import type { DecisionSource } from './gate-port.ts';
import type { Json } from './json.ts';
import type { FilePart, FinishReason, Message, MessagePart, ToolChoice, ToolSpec, Usage } from './message.ts';
import type { Spotlight } from './spotlight.ts';
import type { ToolCall } from './state.ts';
import type { TraceContext } from './trace-context.ts';
import type { UnconfirmedClaim } from './unconfirmed-claims.ts';

export type { DecisionSource } from './gate-port.ts';

/** Why a run ended: a closed union, decided from the state alone. */
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

/** The limits of one run. An absent limit does not apply. */
export type Limits = {
  /** Provider turns. */
  readonly turns: number;
  /** Input and output tokens of the run together. */
  readonly tokens?: number;
  /** Max tokens of one request: the effective context window minus room for the response. */
  readonly context?: number;
  /** Max cost in US dollars. A model without a known price is refused if this is set. */
  readonly usd?: number;
  /** Max active time in milliseconds. Time between runs and time waiting for an approval do not count. */
  readonly ms?: number;
  /** Tool calls. */
  readonly calls?: number;
  /** Max consecutive failures of turns, or of batches in which every tool call failed. */
  readonly errors: number;
  /** How often the model is asked again after a rejected answer (empty, refused, invalid, no call where one was required). */
  readonly maxRetriesPerAnswer: number;
  /** How often the same batch of calls may return the same results before the run counts as stuck; 0 disables the check. */
  readonly stuckAfter: number;
  /** Max characters of one tool result that the model sees. */
  readonly outputChars: number;
};

/** A note for the model (a system reminder), queued until a turn shows it. A newer note replaces an older one with the same key; higher priority is shown first. */
export type Note = {
  readonly key: string;
  readonly text: string;
  /** Default 0. Notes with 100 or more are about safety and ignore the token limit of notes. */
  readonly priority?: number;
  /** Notes of one group are shown together, at the position of the first. */
  readonly group?: string;
  /** The last turn that may show the note. */
  readonly until?: number;
};

/** How an input joins a run: as a new prompt, after the running tools (steer), or after the answer (follow-up). `continue` adds no message. */
export type InputMode = 'prompt' | 'steer' | 'follow-up' | 'continue';

/** What added an input that the user did not write. */
export type InputSource = 'hook' | 'program' | 'agent';

/** The verdict of a check. A check that lets an answer pass can name statements that it could not confirm. `text` replaces the answer in the result of the run, for example with claims struck out. */
export type Verdict =
  | { readonly type: 'passed'; readonly claims?: readonly UnconfirmedClaim[]; readonly text?: string }
  | { readonly type: 'failed'; readonly why: string; readonly claims?: readonly UnconfirmedClaim[] }
  | { readonly type: 'abstained'; readonly why: string; readonly text?: string };

/** Accumulated usage. `turnsWithoutPrice` counts turns whose cost is unknown. */
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

/** Everything a fold needs to start at this epoch instead of at the first event. */
export type Baseline = {
  readonly session: string;
  readonly nonce?: string;
  readonly messages: readonly Message[];
  readonly turn: number;
  readonly loaded: readonly string[];
  readonly queue: readonly Note[];
  readonly total: UsageTotals;
  /** Inputs that no turn has delivered to the model yet. */
  readonly pending?: readonly PendingInput[];
  /** The calls of the last message that have not ended yet; they may wait for an approval. */
  readonly calls?: readonly ToolCall[];
  readonly files?: readonly TouchedFile[];
  readonly unknownCalls?: readonly UnknownCall[];
  /** The states of the agent's views, by name. */
  readonly views?: Readonly<Record<string, Json>>;
  /** The active run, so that a fold that starts here continues it. */
  readonly activeRun?: ActiveRun;
};

/** A call whose effect may or may not have happened; `sent` is its input after a gate rewrote it. */
export type UnknownCall = { readonly tool: string; readonly input: Json; readonly sent?: Json };

/** A file that tools read or changed: the last tool, and the content it saw or left. */
export type TouchedFile = {
  readonly path: string;
  readonly tool: string;
  readonly changed: boolean;
  /** The identifier of that content as the tool reported it, usually a hash. */
  readonly content?: string;
};

/** An input that no turn has delivered to the model yet. */
export type PendingInput = {
  readonly input: string;
  readonly how: 'prompt' | 'steer' | 'follow-up';
  readonly parts: readonly MessagePart[];
  readonly by?: InputSource;
};

/** The part of an active run that a baseline carries. */
export type ActiveRun = {
  readonly run: string;
  readonly limits: Limits;
  readonly choice: ToolChoice;
  readonly spent: UsageTotals;
  readonly failures: number;
  readonly answerRetries: number;
  readonly compactions: number;
  readonly callBatches: readonly number[];
  readonly needsTurn: boolean;
  readonly verified: boolean;
  readonly inTurn: boolean;
};

/** Why a new prefix began. */
export type EpochReason = 'started' | 'compacted' | 'model-changed' | 'agent-changed' | 'edited';

/** How a tool call ended. `unknown`: the process died while it ran, so its effect may or may not have happened. */
export type ToolOutcome = 'ok' | 'failed' | 'denied' | 'interrupted' | 'unknown';

/** Why an answer was not accepted. */
export type RejectionReason = 'empty' | 'refused' | 'filtered' | 'invalid' | 'no-call';

/** The payload of an event. */
export type Fact =
  | {
      readonly type: 'session-started';
      readonly session: string;
      /** A random token that marks our notes in this session; untrusted text cannot know it. */
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
      /** The name under which the provider of the model was opened, if it is known. */
      readonly modelProvider?: string;
      /** The host that the provider was at; absent if the model runs in this process. */
      readonly modelHost?: string;
      /** The name under which the provider opened the model, if it is another than `model`. */
      readonly modelName?: string;
      /** The working directory of the agent, where it has one. */
      readonly cwd?: string;
      readonly baseline?: Baseline;
      /** How the compacted history was made. */
      readonly detail?: string;
      /** The usage of the compaction; not part of the baseline yet. */
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
      /** What added the input, if it is not the user: a hook, or the program itself. */
      readonly by?: InputSource;
      /** For `continue`: the history is sent as it is, even if it ends with an answer. Not every provider accepts that. */
      readonly asIs?: true;
    }
  | {
      readonly type: 'run-started';
      readonly run: string;
      readonly limits: Limits;
      readonly choice?: ToolChoice;
      /** The trace of the request that started the run. */
      readonly trace?: TraceContext;
      /** The hashes of the policies that decide about the calls of the run, by name. */
      readonly policies?: Readonly<Record<string, string>>;
    }
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
      /** The provider sent no plausible counts: `usd` is our estimate. */
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
      /** What the call would do, for a view. */
      readonly preview?: ApprovalPreview;
    }
  | {
      readonly type: 'approval-resolved';
      readonly call: string;
      readonly allowed: boolean;
      /** The user confirmed that the effect with unknown outcome has happened. */
      readonly happened?: boolean;
      readonly by?: string;
      /** Why the user rejected the call; the model reads it. */
      readonly reason?: string;
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
      /** The text is from files, programs or networks, and is marked as such for the model. */
      readonly untrusted?: boolean;
      /** How the text is marked for the model besides its tags; absent for tags alone. */
      readonly spotlight?: Exclude<Spotlight, 'delimiters'>;
      readonly labels?: FlowLabels;
      /** Text of a quarantined result: recorded, and part of no request of the model that acts. */
      readonly withheld?: string;
      readonly files?: readonly FilePart[];
      readonly data?: Json;
      readonly notes?: readonly Note[];
      readonly loadsTools?: readonly string[];
      readonly endsRun?: boolean;
      readonly spent?: Partial<UsageTotals>;
      readonly ms: number;
      /** What denied the call, where `outcome` is `denied`. */
      readonly deniedBy?: DecisionSource;
      /** The part of `ms` that overlapped an earlier concurrent call and is counted there. */
      readonly overlappedMs?: number;
    }
  | { readonly type: 'check-ended'; readonly check: string; readonly verdict: Verdict; readonly ms?: number }
  | { readonly type: 'run-ended'; readonly reason: StopReason; readonly detail?: string; readonly error?: Failure }
  | {
      readonly type: 'annotation-added';
      readonly key: string;
      readonly value: Json;
      /** The usage of a request that is no turn, such as one for a title; it counts for the session. */
      readonly spent?: Partial<UsageTotals>;
      /** The usage counts for the run too. */
      readonly countsForRun?: true;
    };

/** A fact with its position in the log: `seq` orders the log, `id` identifies the event, `parent` is the event before it (null for the first). */
export type Event = Fact & {
  readonly seq: number;
  readonly id: string;
  readonly parent: string | null;
  readonly time: string;
};
