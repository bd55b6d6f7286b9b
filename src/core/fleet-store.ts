// The contracts of a fleet: where queued runs are kept, who works on them, who may stop them, what they may spend.
import type { Failure } from './errors.ts';
import type { UsageTotals, StopReason } from './fact.ts';
import type { Json, JsonObject } from './json.ts';
import type { PartialTextChannel } from './partial-text.ts';
import type { SessionStore } from './sessions.ts';

/** What a run is to do, as the queue keeps it. */
export type NewRun = {
  /** Its id; a second run of the same id is the first one. A new id unless given. */
  readonly id?: string;
  /** What is asked. */
  readonly prompt: string;
  /** Which driver works on it: `run` (an agent's loop) unless given. */
  readonly kind?: string;
  /** How the agent is to be made: model, folder, limits and so on, read by who makes it. */
  readonly settings?: JsonObject;
  /** The session it goes on with; one of its own, named like the run, unless given. */
  readonly session?: string;
  /** Whose money and words these are; `default` unless given. */
  readonly tenant?: string;
  /** The higher, the sooner; 0 unless given. */
  readonly priority?: number;
  /** Not before this time. */
  readonly notBefore?: string;
  /** The run that is woken with a letter once this one has ended. */
  readonly parent?: string;
};

/** Where a run stands. `resting`: it waits for a person, or for runs of its own, and costs nothing. */
export type RunStatus = 'queued' | 'running' | 'waiting' | 'ended';

/** What a person is asked. About `outcome`: whether an effect that was under way in a crash has happened. */
export type ApprovalQuestion = {
  readonly call: string;
  readonly tool: string;
  readonly question: string;
  readonly kind?: 'unknown-outcome' | 'client-tool';
};

/** A call that whoever asked is to make: the run has ended with it, and goes on in another one that brings the result. */
export type ClientToolCall = { readonly id: string; readonly tool: string; readonly input: Json };

/** How a run came out. */
export type RunOutcome = {
  readonly reason: StopReason;
  readonly detail?: string;
  /** The answer; empty where there is none. */
  readonly text: string;
  readonly error?: Failure;
  readonly spent: UsageTotals;
  /** The calls that were handed out, where it ended for them. */
  readonly clientToolCalls?: readonly ClientToolCall[];
};

/** A run as the queue knows it. */
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
  /** How often a worker took it. */
  readonly attempts: number;
  readonly queued: string;
  readonly started?: string;
  readonly ended?: string;
  readonly notBefore?: string;
  /** The worker that has it, or had it last. */
  readonly worker?: string;
  /** The version of the program that began it: another one does not take it. */
  readonly version?: string;
  /** What it waits for. */
  readonly pendingApprovals: readonly ApprovalQuestion[];
  readonly outcome?: RunOutcome;
};

/** What came of working on a run. `left`: it goes back into the queue as it is; `resting`: until it is woken. */
export type RunSettlement =
  /** A run that was woken for words it has not read goes back instead, to read them. */
  | { readonly type: 'completed'; readonly outcome: RunOutcome }
  | { readonly type: 'waiting'; readonly pendingApprovals: readonly ApprovalQuestion[] }
  | { readonly type: 'released' };

/** How a worker works. */
export type WorkOptions = {
  /** Its id, which no other has. */
  readonly worker: string;
  /** Runs at a time. */
  readonly concurrency: number;
  /** Takes only runs of this version, and those that nobody has begun; without one, runs of all. */
  readonly version?: string;
  /** No run is taken once it aborts; `work` returns when those under way are settled. */
  readonly signal: AbortSignal;
  /** Returns once nothing is left that could be begun now and nothing is under way, instead of waiting for more. */
  readonly drain?: boolean;
  /** Works on a run. The signal aborts when the run is no longer this worker's. What it throws puts the run back, after a while that grows. */
  handle(run: FleetRun, signal: AbortSignal): Promise<RunSettlement>;
};

/** Which runs a list shows. */
export type RunFilter = {
  readonly status?: RunStatus;
  readonly tenant?: string;
  readonly parent?: string;
  readonly session?: string;
  readonly limit?: number;
  /** Older than this run. */
  readonly before?: string;
};

/** What waits and what is under way. */
export type QueueDepth = {
  readonly queued: number;
  readonly running: number;
  readonly waiting: number;
  /** Since when the oldest queued run waits: from when it could have been begun. None where all are to begin later. */
  readonly oldest?: string;
};

/** A bound on how fast runs are taken, over all workers; an absent one does not bind. */
export type QueueLimits = {
  readonly concurrency?: number;
  readonly tenantConcurrency?: number;
  /** At most so many runs begun in so many milliseconds. */
  readonly rate?: { readonly runs: number; readonly ms: number };
};

/** A run that comes again by the clock. */
export type Schedule = {
  readonly name: string;
  /** Five fields, in UTC. */
  readonly cron: string;
  readonly run: Omit<NewRun, 'id'>;
};

/** The runs of a fleet: kept, handed out to one worker at a time, taken back from the dead. */
export interface RunQueue {
  /** Adds runs, each once: one whose id is known is given back as it stands. */
  enqueue(runs: readonly NewRun[]): Promise<readonly FleetRun[]>;
  /** Puts a resting run back into the queue; any other is left alone. */
  wake(run: string): Promise<void>;
  /** Ends a run that nobody works on, and the runs it has begun; those under way are told by a letter. */
  cancel(run: string, detail: string): Promise<FleetRun | undefined>;
  run(id: string): Promise<FleetRun | undefined>;
  /** Runs, the latest first. */
  list(filter?: RunFilter): Promise<readonly FleetRun[]>;
  depth(): Promise<QueueDepth>;
  /** Works until told to stop. */
  work(work: WorkOptions): Promise<void>;
  limits(): Promise<QueueLimits>;
  setLimits(limits: QueueLimits): Promise<void>;
  schedules(): Promise<readonly Schedule[]>;
  /** Adds a schedule, or changes the one of that name; nothing in place of a cron takes it away. */
  setSchedule(schedule: Schedule | { readonly name: string; readonly cron?: undefined }): Promise<void>;
  /** Ended runs in stretches of time, oldest first. */
  stats(from: string, to: string, bucketMs: number): Promise<readonly RunStats[]>;
}

/** What ended within a stretch of time. */
export type RunStats = {
  readonly from: string;
  readonly ended: number;
  /** How many ended for each reason. */
  readonly reasons: Readonly<Partial<Record<StopReason, number>>>;
  readonly usd: number;
  readonly tokens: number;
  /** Milliseconds from when it could have been begun until it was, and from then to its end: the 50th, 95th and 99th percentile. */
  readonly queueMs: DurationPercentiles;
  readonly durationMs: DurationPercentiles;
};

/** Percentiles of some durations in milliseconds; none where nothing was measured. */
export type DurationPercentiles = readonly [p50: number, p95: number, p99: number] | undefined;

/** What somebody says to a run from outside the process that works on it. */
export type InboxMessage =
  | { readonly type: 'prompt' | 'steer' | 'follow-up'; readonly text: string; readonly by?: string }
  | {
      readonly type: 'answer';
      readonly call: string;
      /** What was asked, in the words that were answered: to other words it is no answer. */
      readonly question?: string;
      readonly allowed: boolean;
      /** Of an effect whose outcome is unknown: it has happened. */
      readonly happened?: boolean;
      readonly by?: string;
    }
  /** Without a run, whichever is in the session. */
  | { readonly type: 'cancel'; readonly run?: string; readonly by?: string }
  | { readonly type: 'ended'; readonly run: string };

/** A letter in its place: `place` grows, so that the log can keep up to where they were read. */
export type InboxDelivery = { readonly position: number; readonly message: InboxMessage };

/** Letters to sessions. Only who holds a session reads them into its log. */
export interface Inbox {
  send(session: string, letter: InboxMessage): Promise<number>;
  /** The letters after a place. */
  read(session: string, after: number): Promise<readonly InboxDelivery[]>;
  /** Forgets letters up to a place: they are in the log. */
  clear(session: string, upTo: number): Promise<void>;
  /** Says which session has a new letter, until the signal aborts; late by a quarter of a second at most. */
  watch(signal: AbortSignal): AsyncIterable<string>;
}

/** Whether work may go on. What cannot be read is `stopped`. */
export type KillSwitchState = {
  readonly stopped: boolean;
  readonly reason?: string;
  readonly by?: string;
  readonly since?: string;
};

/** The kill-switch: kept, and heeded by every worker. */
export interface KillSwitch {
  status(): Promise<KillSwitchState>;
  stop(why: string, by: string): Promise<KillSwitchState>;
  resume(by: string): Promise<KillSwitchState>;
}

/** What a tenant may spend in a period; an absent bound does not bind. */
export type TenantBudget = {
  readonly tenant: string;
  readonly period: 'day' | 'month' | 'ever';
  readonly usd?: number;
  readonly tokens?: number;
};

/** An amount of money and tokens. */
export type BudgetAmount = { readonly usd: number; readonly tokens: number };

/** What the tenants may spend and have spent, over the whole fleet. */
export interface BudgetLedger {
  budgets(): Promise<readonly (TenantBudget & { readonly spent: BudgetAmount; readonly reserved: BudgetAmount })[]>;
  /** Sets an allowance, or takes it away where it binds nothing. */
  setBudget(allowance: TenantBudget): Promise<void>;
  /** Holds an amount back before a call; a sentence says why not. The same id again holds once. */
  reserve(tenant: string, id: string, amount: BudgetAmount): Promise<string | undefined>;
  /** What was held is spent, in the amount it turned out to be; a hold that is never settled stays spent as it was held. */
  commit(tenant: string, id: string, amount: BudgetAmount): Promise<void>;
}

/** A worker as others see it. */
export type WorkerInfo = {
  readonly worker: string;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  readonly startedAt: string;
  /** Its last sign of life. */
  readonly lastSeenAt: string;
  readonly running: number;
  /** Whatever else it tells of itself: breakers, memory. */
  readonly info: JsonObject;
};

/** Who is at work. */
export interface WorkerRegistry {
  /** A sign of life. */
  heartbeat(worker: Omit<WorkerInfo, 'lastSeenAt'>): Promise<void>;
  deregister(worker: string): Promise<void>;
  list(): Promise<readonly WorkerInfo[]>;
}

/** A store that a fleet shares. What is settled in any part of it takes along all that was written before. */
export interface FleetStore {
  /** What it is, without secrets, for people to read: `sqlite fleet.sqlite`. */
  readonly description: string;
  readonly sessions: SessionStore;
  readonly queue: RunQueue;
  readonly inbox: Inbox;
  readonly partialText: PartialTextChannel;
  readonly killSwitch: KillSwitch;
  readonly ledger: BudgetLedger;
  readonly workers: WorkerRegistry;
  /** Forgets runs that ended before a time, with sessions that nobody has gone on with since, and answers how many; what a run has begun stays for as long as that run. */
  prune(before: string): Promise<number>;
  /** Fails where it cannot be reached. */
  ping(): Promise<void>;
  close(): Promise<void>;
}
