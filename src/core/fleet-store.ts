// Interfaces of a fleet store: run queue, inbox, kill switch, budget ledger and worker registry.
import type { ApprovalPreview, ApprovalScope } from './approval-preview.ts';
import type { Failure } from './errors.ts';
import type { UsageTotals, StopReason } from './fact.ts';
import type { Json, JsonObject } from './json.ts';
import type { PartialTextChannel } from './partial-text.ts';
import type { FleetSessionStore } from './sessions.ts';

/** The tenant of a run that names none. */
export const defaultTenant = 'default';

/** A run to be queued. */
export type NewRun = {
  /** Its id; a random one by default. A run whose id is known is not added again. */
  readonly id?: string;
  /** The first user message. */
  readonly prompt: string;
  /** The kind of handler that handles it; `run` (an agent loop) by default. */
  readonly kind?: string;
  /** How the handler creates the agent: model, directory, limits and so on. */
  readonly settings?: JsonObject;
  /** The session that it continues; by default a new session with the id of the run. */
  readonly session?: string;
  /** The tenant that pays for it; `default` by default. */
  readonly tenant?: string;
  /** A run with a higher priority is claimed first; 0 by default. */
  readonly priority?: number;
  /** The earliest time at which it is claimed. */
  readonly notBefore?: string;
  /** The run that gets a message and is woken when this one has ended. */
  readonly parent?: string;
};

/** The status of a run. `waiting`: for an approval of the user, or for its child runs; no worker handles it. */
export type RunStatus = 'queued' | 'running' | 'waiting' | 'ended';

/** A question to the user. `unknown-outcome`: whether a call that a crash interrupted took effect. */
export type ApprovalQuestion = {
  readonly call: string;
  readonly tool: string;
  readonly question: string;
  readonly kind?: 'unknown-outcome' | 'client-tool';
  /** What the call would do, for a view. */
  readonly preview?: ApprovalPreview;
  /** What the user can allow; absent if only this call can be allowed. */
  readonly scopes?: readonly ApprovalScope[];
};

/** A call that the client must execute: the run has ended, and another run with the result continues its session. */
export type ClientToolCall = { readonly id: string; readonly tool: string; readonly input: Json };

/** The outcome of a run. */
export type RunOutcome = {
  readonly reason: StopReason;
  readonly detail?: string;
  /** The answer; empty if there is none. */
  readonly text: string;
  /** The answer as the model wrote it, if a check replaced it. */
  readonly originalText?: string;
  readonly error?: Failure;
  readonly spent: UsageTotals;
  /** The calls that the client must execute, if the run ended for them. */
  readonly clientToolCalls?: readonly ClientToolCall[];
  /** The id of the release that the run ran on, if it ran on one. */
  readonly release?: string;
};

/** A run in the queue. */
export type FleetRun = {
  readonly id: string;
  readonly prompt: string;
  readonly kind: string;
  readonly settings: JsonObject;
  readonly session: string;
  readonly tenant: string;
  readonly priority: number;
  readonly parent?: string;
  readonly status: RunStatus;
  /** How often a worker claimed it. */
  readonly attempts: number;
  readonly queued: string;
  readonly started?: string;
  readonly ended?: string;
  /** The earliest time at which it is claimed; of a started run, the end of its rest. */
  readonly notBefore?: string;
  /** The worker that handles it, or handled it last. */
  readonly worker?: string;
  /** The version of the program that started it: a worker of another version does not claim it. */
  readonly version?: string;
  /** The questions that it waits for. */
  readonly pendingApprovals: readonly ApprovalQuestion[];
  readonly outcome?: RunOutcome;
};

/** The result of handling a run. `released`: it is queued again as it is, from a time on if there is one; `waiting`: until it is woken. */
export type RunSettlement =
  /** A run that was woken by a message it has not read is queued again instead, to read it. */
  | { readonly type: 'completed'; readonly outcome: RunOutcome }
  | { readonly type: 'waiting'; readonly pendingApprovals: readonly ApprovalQuestion[] }
  /** `notBefore`: a run that was woken meanwhile is queued at once instead, to read its messages. */
  | { readonly type: 'released'; readonly notBefore?: string };

/** Options of a worker loop. */
export type WorkOptions = {
  /** The unique id of the worker. */
  readonly worker: string;
  /** The maximum number of runs at a time. */
  readonly concurrency: number;
  /** Claims only runs of this version and runs that no version has started; without it, runs of all versions. */
  readonly version?: string;
  /** After an abort no run is claimed; `work` returns when the active runs are settled. */
  readonly signal: AbortSignal;
  /** Returns when no run can be claimed now and none is active, instead of waiting for more. */
  readonly drain?: boolean;
  /** Handles a run. The signal aborts when another worker takes the run over. If it throws, the run is queued again with a delay that grows. */
  readonly handle: (run: FleetRun, signal: AbortSignal) => Promise<RunSettlement>;
};

/** A filter of a list of runs. */
export type RunFilter = {
  readonly status?: RunStatus;
  readonly tenant?: string;
  readonly parent?: string;
  readonly session?: string;
  /** Only runs whose settings contain `auto: true`, at the top or in a nested object. */
  readonly mentionsAuto?: true;
  readonly limit?: number;
  /** Only runs older than this one. */
  readonly before?: string;
};

/** The number of runs by status. */
export type QueueDepth = {
  readonly queued: number;
  readonly running: number;
  readonly waiting: number;
  /** The time from which the oldest queued run could have been started; undefined if all are due later. */
  readonly oldest?: string;
};

/** Limits of the queue over all workers; an absent limit does not apply. */
export type QueueLimits = {
  readonly concurrency?: number;
  readonly tenantConcurrency?: number;
  /** At most so many runs are started in so many milliseconds. */
  readonly rate?: { readonly runs: number; readonly ms: number };
};

/** A run that is queued repeatedly, by a cron expression. */
export type Schedule = {
  readonly name: string;
  /** Five fields, in UTC. */
  readonly cron: string;
  readonly run: Omit<NewRun, 'id'>;
};

/** The run queue of a fleet: each run is claimed by one worker at a time, and queued again if its worker is lost. */
export interface RunQueue {
  /** Adds runs, each once: a run whose id is known is returned as it is. */
  enqueue(runs: readonly NewRun[]): Promise<readonly FleetRun[]>;
  /** Queues a waiting run again. A running one is queued again when it waits. */
  wake(run: string): Promise<void>;
  /** Ends a run that no worker handles, and its child runs; active ones get a message. */
  cancel(run: string, detail: string): Promise<FleetRun | undefined>;
  run(id: string): Promise<FleetRun | undefined>;
  /** Runs, latest first. */
  list(filter?: RunFilter): Promise<readonly FleetRun[]>;
  /** The number of runs by status, of one tenant or of all. */
  depth(tenant?: string): Promise<QueueDepth>;
  /** The bytes of the prompts and settings of the runs of a tenant that have not ended, and a kilobyte for each run. */
  openBytes(tenant: string): Promise<number>;
  /** Runs a worker loop until the signal aborts. */
  work(work: WorkOptions): Promise<void>;
  limits(): Promise<QueueLimits>;
  setLimits(limits: QueueLimits): Promise<void>;
  schedules(): Promise<readonly Schedule[]>;
  /** Adds or replaces a schedule; without `cron` it is removed. */
  setSchedule(schedule: Schedule | { readonly name: string; readonly cron?: undefined }): Promise<void>;
  /** Statistics of ended runs in time buckets, oldest first, of one tenant or of all. */
  stats(from: string, to: string, bucketMs: number, tenant?: string): Promise<readonly RunStats[]>;
}

/** Statistics of the runs that ended in a time bucket. */
export type RunStats = {
  readonly from: string;
  readonly ended: number;
  /** How many ended for each reason. */
  readonly reasons: Readonly<Partial<Record<StopReason, number>>>;
  readonly usd: number;
  readonly tokens: number;
  /** Milliseconds from the time at which a run could be started until it was, and from then to its end: the 50th, 95th and 99th percentile. */
  readonly queueMs: DurationPercentiles;
  readonly durationMs: DurationPercentiles;
};

/** Percentiles of durations in milliseconds; undefined if nothing was measured. */
export type DurationPercentiles = readonly [p50: number, p95: number, p99: number] | undefined;

/** A message to a run from outside the process that handles it. */
export type InboxMessage =
  | {
      readonly type: 'prompt' | 'steer' | 'follow-up';
      readonly text: string;
      readonly by?: string;
      /** The run that the message is for, and the step if it is a plan: another run of the session ignores it. */
      readonly run?: string;
      readonly step?: string;
    }
  | {
      readonly type: 'answer';
      /** The run that the answer is for: another run of the session ignores it. */
      readonly run?: string;
      readonly call: string;
      /** The question as the user saw it: the answer is ignored if the question is another one now. */
      readonly question?: string;
      readonly allowed: boolean;
      /** Of a call whose outcome is unknown: it took effect. */
      readonly happened?: boolean;
      /** The offered scope that the user allowed; only this call by default. */
      readonly scope?: string;
      /** Why the user denied the call; the model reads it. */
      readonly reason?: string;
      readonly by?: string;
    }
  /** Without `run`: the run that is active in the session. With `step`: only this step of a plan. */
  | { readonly type: 'cancel'; readonly run?: string; readonly step?: string; readonly by?: string }
  | { readonly type: 'ended'; readonly run: string };

/** A message with its position. Positions grow, so that the log can record up to which one it has read. */
export type InboxDelivery = { readonly position: number; readonly message: InboxMessage };

/** Messages to sessions. Only the writer of a session moves them into its log. */
export interface Inbox {
  /** Adds a message and returns its position. */
  send(session: string, message: InboxMessage): Promise<number>;
  /** The messages after a position. */
  read(session: string, after: number): Promise<readonly InboxDelivery[]>;
  /** Deletes messages up to a position: they are in the log. */
  clear(session: string, upTo: number): Promise<void>;
  /** Yields the sessions that get a message, until the signal aborts; at most a quarter of a second late. */
  watch(signal: AbortSignal): AsyncIterable<string>;
}

/** The state of the kill switch. A state that cannot be read counts as stopped. */
export type KillSwitchState = {
  readonly stopped: boolean;
  readonly reason?: string;
  readonly by?: string;
  readonly since?: string;
};

/** The kill switch: stored, and obeyed by every worker. */
export interface KillSwitch {
  status(): Promise<KillSwitchState>;
  stop(reason: string, by: string): Promise<KillSwitchState>;
  resume(by: string): Promise<KillSwitchState>;
}

/** What a tenant may spend in a period; an absent limit does not apply. */
export type TenantBudget = {
  readonly tenant: string;
  readonly period: 'day' | 'month' | 'ever';
  readonly usd?: number;
  readonly tokens?: number;
};

/** An amount of money and tokens. */
export type BudgetAmount = { readonly usd: number; readonly tokens: number };

/** The budgets and the spending of all tenants, over the whole fleet. */
export interface BudgetLedger {
  budgets(): Promise<readonly (TenantBudget & { readonly spent: BudgetAmount; readonly reserved: BudgetAmount })[]>;
  /** Sets the budget of a tenant; without a limit it is removed. */
  setBudget(budget: TenantBudget): Promise<void>;
  /** Reserves an amount before a call. Returns why not, if the budget does not allow it. The same id reserves once. */
  reserve(tenant: string, id: string, amount: BudgetAmount): Promise<string | undefined>;
  /** Replaces a reservation by the amount that was spent. A reservation that is never committed counts as spent. */
  commit(tenant: string, id: string, amount: BudgetAmount): Promise<void>;
}

/** A registered worker. */
export type WorkerInfo = {
  readonly worker: string;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  readonly startedAt: string;
  /** The time of its last heartbeat. */
  readonly lastSeenAt: string;
  readonly running: number;
  /** How long the main thread of its process has not answered, in milliseconds; absent if it answers. */
  readonly blockedMs?: number;
  /** Further information, such as circuit breakers and memory. */
  readonly info: JsonObject;
};

/** The workers that are running. */
export interface WorkerRegistry {
  heartbeat(worker: Omit<WorkerInfo, 'lastSeenAt'>): Promise<void>;
  deregister(worker: string): Promise<void>;
  list(): Promise<readonly WorkerInfo[]>;
}

/** A store that a fleet shares. A durable write in any part of it makes all writes before it durable. */
export interface FleetStore {
  /** Its kind and location without secrets, such as `sqlite fleet.sqlite`. */
  readonly description: string;
  readonly sessions: FleetSessionStore;
  readonly queue: RunQueue;
  readonly inbox: Inbox;
  readonly partialText: PartialTextChannel;
  readonly killSwitch: KillSwitch;
  readonly ledger: BudgetLedger;
  readonly workers: WorkerRegistry;
  /** Deletes runs that ended before a time, with sessions that were not changed since, and returns how many. Child runs stay as long as their parent. */
  prune(before: string): Promise<number>;
  /** Throws if the store cannot be reached. */
  ping(): Promise<void>;
  close(): Promise<void>;
}
