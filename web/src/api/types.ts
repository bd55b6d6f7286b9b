// Types of API requests and responses that core does not define.
import type { Span } from '../../../src/tracing/index.ts';
import type {
  TenantBudget,
  BudgetAmount,
  Event,
  Json,
  Message,
  ApprovalQuestion,
  QueueDepth,
  QueueLimits,
  Schedule,
  SessionInfo,
  KillSwitchState,
  WorkerInfo,
} from '../../../src/core/index.ts';

/** The roles of keys; each includes the rights of those before it. */
export type Role = 'reader' | 'runner' | 'operator';

/** The response of GET /api/me. */
export type CurrentUser = {
  readonly role: Role;
  readonly version: string;
  /** Operators without a tenant get it. */
  readonly store?: string;
  readonly stopped: boolean;
};

/** The limits of a run. */
export type RunLimits = {
  readonly turns?: number;
  readonly usd?: number;
  readonly tokens?: number;
  readonly ms?: number;
};

/** The request of a run, a plan or a verification. */
export type RunRequest = {
  readonly prompt: string;
  readonly model?: string;
  readonly folder?: string;
  readonly auto?: boolean;
  readonly tenant?: string;
  readonly priority?: number;
  readonly session?: string;
  readonly limits?: RunLimits;
  readonly answer?: string;
  readonly models?: readonly string[];
};

/** The response of GET /api/queue. */
export type QueueStatus = {
  readonly depth: QueueDepth;
  readonly limits: QueueLimits;
  readonly workers: readonly WorkerInfo[];
  readonly schedules: readonly Schedule[];
  readonly killSwitch: KillSwitchState;
};

/** A session with its events. */
export type SessionDetail = { readonly session: SessionInfo; readonly events: readonly Event[] };

/** A session in the list: of the server, or of the user's terminal. */
export type SessionEntry = SessionInfo & {
  readonly source: 'server' | 'terminal';
  readonly title?: string;
  readonly folder?: string;
  readonly model?: string;
  readonly status?: string;
  readonly reason?: string;
};

/** A page of the list of sessions. */
export type SessionPage = {
  readonly sessions: readonly SessionEntry[];
  readonly next?: { readonly before?: string; readonly beforeTerminal?: string };
};

/** What a client may choose for a run; the first model is the default. */
export type RunOptions = {
  readonly models: readonly string[];
  readonly folders: readonly string[];
  readonly terminalSessions: boolean;
};

/** The prompt cache in one turn. */
export type CacheTurn = {
  readonly turn: number;
  readonly result: 'first' | 'hit' | 'miss' | 'unreported';
  readonly input?: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  readonly breaks: readonly string[];
  readonly detail?: string;
  readonly lostTokens: number;
  readonly savedUsd?: number;
};

/** The cache ledger of a session. */
export type CacheLedger = {
  readonly turns: readonly CacheTurn[];
  readonly hits: number;
  readonly misses: number;
  readonly input: number;
  readonly cacheRead: number;
  readonly lostTokens: number;
  readonly savedUsd?: number;
  readonly lostUsd?: number;
};

/** A difference between a recording and its replay, aligned line by line. */
export type ReplayDifference = {
  readonly turn: number;
  readonly where: string;
  readonly rows: readonly (readonly [recorded: string, replayed: string])[];
  /** The numbers of equal lines that were left out. */
  readonly before: number;
  readonly after: number;
  readonly isCut: boolean;
};

/** A replay of a session, compared with its recording. */
export type SessionReplay = {
  readonly model: string;
  readonly turns: number;
  readonly identical: boolean;
  readonly differences: readonly ReplayDifference[];
  readonly totalDifferences: number;
  readonly live?: { readonly from: number; readonly model: string; readonly turns: number; readonly usd: number };
  readonly stopped?: string;
};

/** The spans of a session: the latest, or those that changed since a time. */
export type TraceSpans = { readonly spans: readonly Span[]; readonly totalSpans: number };

/** The request of a turn as the model got it. */
export type TurnRequest = {
  readonly turn: number;
  readonly model: string;
  readonly time: string;
  readonly system: string;
  readonly tools: readonly { readonly name: string; readonly description?: string; readonly input?: Json }[];
  readonly messages: readonly Message[];
  readonly toolChoice: Json;
};

/** A run that waits for approval. */
export type Approval = {
  readonly run: string;
  readonly session: string;
  readonly prompt: string;
  readonly since: string;
  readonly pendingApprovals: readonly (ApprovalQuestion & { readonly input?: Json })[];
};

/** An answer to a question about a call: what it allows, or why it denies the call. */
export type ApprovalDecision = {
  readonly allowed: boolean;
  /** One of the offered scopes; only this call by default. */
  readonly scope?: string;
  /** A text for the model; it denies the call. */
  readonly reply?: string;
  /** Of a call whose outcome is unknown: it took effect. */
  readonly happened?: boolean;
};

/** A budget with its spent and reserved amounts. */
export type BudgetStatus = TenantBudget & { readonly spent: BudgetAmount; readonly reserved: BudgetAmount };

/** A closed interval; an end is null if there is too little data to bound it. */
export type ConfidenceInterval = readonly [low: number | null, high: number | null];

/** One row of the scorecard. */
export type ScorecardRow = {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  /** The command that measures it. */
  readonly command?: string;
  /** What the measurement needs besides the program. */
  readonly needs?: string;
} & (
  | { readonly measured: false }
  | {
      readonly measured: true;
      readonly good: number;
      readonly total: number;
      readonly interval: ConfidenceInterval;
      readonly when: string;
      readonly how: string;
      /** The model, the dataset. */
      readonly about?: string;
    }
);
