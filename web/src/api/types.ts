// What the server says beyond the core's own types, as its contract has it. What may be missing is marked so and drawn as "not measured".
import type {
  TenantBudget,
  BudgetAmount,
  Event,
  Json,
  ApprovalQuestion,
  QueueDepth,
  QueueLimits,
  Schedule,
  SessionInfo,
  KillSwitchState,
  WorkerInfo,
} from '../../../src/core/index.ts';

/** What a key may do; each may do what those before it may. */
export type Role = 'reader' | 'runner' | 'operator';

/** Who is asking, and of what. */
export type CurrentUser = {
  readonly role: Role;
  readonly version: string;
  readonly store: string;
  readonly stopped: boolean;
};

/** The bounds of a run, as the page sets them. */
export type RunLimits = {
  readonly turns?: number;
  readonly usd?: number;
  readonly tokens?: number;
  readonly ms?: number;
};

/** What is asked of a run, a plan or a verification. */
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

/** The fleet at a glance. */
export type QueueStatus = {
  readonly depth: QueueDepth;
  readonly limits: QueueLimits;
  readonly workers: readonly WorkerInfo[];
  readonly schedules: readonly Schedule[];
  readonly killSwitch: KillSwitchState;
};

/** A session with its events; where it stands is folded from them. */
export type SessionDetail = { readonly session: SessionInfo; readonly events: readonly Event[] };

/** A run that waits for a person. */
export type Approval = {
  readonly run: string;
  readonly session: string;
  readonly prompt: string;
  readonly since: string;
  readonly pendingApprovals: readonly (ApprovalQuestion & { readonly input?: Json })[];
};

/** An allowance with what was spent of it. */
export type BudgetStatus = TenantBudget & { readonly spent: BudgetAmount; readonly reserved: BudgetAmount };

/** From and to, both included; an end is null where too little was seen to bound it. */
export type ConfidenceInterval = readonly [low: number | null, high: number | null];

/** One row of the scorecard. */
export type ScorecardRow = {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  /** The command that measures it. */
  readonly command?: string;
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
