// Types of the response about a plan.
import type { FleetRun } from '../../../src/core/index.ts';

/** A step of a plan with its state. */
export type PlanStep = {
  readonly id: string;
  readonly task: string;
  readonly after: readonly string[];
  readonly depth: number;
  readonly status: string;
  readonly attempt: number;
  readonly why?: string;
  readonly run?: string;
  readonly cost: { readonly usd: number; readonly tokens: number };
};

/** A plan: its caps, its estimate, and its steps. */
export type Plan = {
  readonly stage: string;
  readonly revision: number;
  readonly start?: {
    readonly caps: { readonly steps: number; readonly depth: number; readonly parallel: number };
    readonly limits: { readonly usd?: number };
    readonly attempts: number;
    readonly replans: number;
    readonly model?: string;
    readonly verifier?: string;
  };
  readonly estimate?: { readonly requests: number; readonly tokens: number; readonly usd?: number };
  readonly consent?: string;
  readonly steps: readonly PlanStep[];
};

/** The response of GET /api/orchestrate/{id}. */
export type PlanStatus = { readonly run: FleetRun; readonly plan?: Plan };
