// What is outside the fleet and cannot be undone: effects of tools and money spent at the model. The invariants are about this record.

/** An effect of a tool. */
export type Effect = {
  readonly run: string;
  readonly tool: string;
  readonly call: string;
  readonly key: string;
  readonly at: number;
  readonly worker: string;
};

/** A request that the model answered. */
export type ModelCall = {
  readonly run: string;
  readonly tenant: string;
  readonly usd: number;
  readonly at: number;
  readonly worker: string;
};

/** A message that a user sent, and whether the store accepted it for a run. */
export type SentMessage = { readonly session: string; readonly text: string; accepted: boolean };

/** What a broken invariant is called, and what was seen. */
export type Violation = { readonly invariant: Invariant; readonly detail: string };

/** The invariants. */
export const invariants = [
  'effect-once',
  'effect-not-lost',
  'run-once',
  'fences',
  'budget',
  'not-stuck',
  'approval-once',
  'message-once',
  'plan-order',
  'kill-switch',
] as const;

/** The name of an invariant. */
export type Invariant = (typeof invariants)[number];

/** The record of a schedule. */
export type World = {
  readonly effects: Effect[];
  readonly modelCalls: ModelCall[];
  readonly messages: SentMessage[];
  readonly violations: Violation[];
  readonly report: (invariant: Invariant, detail: string) => void;
  /** The calls that users have rejected. */
  readonly rejected: Set<string>;
  /** Since when the kill switch is on for certain; undefined while it is off, or about to be. */
  stoppedSince: number | undefined;
  /** The time at which each process last continued after it was suspended. */
  readonly resumedAt: Map<string, number>;
  /** The largest clock error that was injected. */
  maxLeadMs: number;
};

/** Creates an empty record. */
export function createWorld(): World {
  const violations: Violation[] = [];
  return {
    effects: [],
    modelCalls: [],
    messages: [],
    violations,
    report: (invariant, detail) => void violations.push({ invariant, detail }),
    rejected: new Set(),
    stoppedSince: undefined,
    resumedAt: new Map(),
    maxLeadMs: 0,
  };
}

/** A worker may act on a kill switch that it read this long ago, in milliseconds. */
const maxStaleMs = 2000;
/** From the last check of the kill switch to the effect: an append that is not slow. */
const maxReactionMs = 1500;

/** Reports work that begins although the fleet is stopped for longer than a worker may go without reading the kill switch. */
export function checkKillSwitch(world: World, what: string, worker: string, now: number): void {
  if (world.stoppedSince === undefined) return;
  const since = Math.max(world.stoppedSince, world.resumedAt.get(worker) ?? 0);
  const ms = now - since;
  if (ms > maxStaleMs + maxReactionMs)
    world.report('kill-switch', `${what} of ${worker} began ${Math.round(ms)} ms after the fleet was stopped`);
}
