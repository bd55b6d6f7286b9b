// The interface of a compactor, which makes a shorter history.
import type { UsageTotals } from './fact.ts';
import type { Message } from './message.ts';
import type { ResolvedAgent } from './ports.ts';
import type { RunState } from './state.ts';

/** What a compactor receives besides the state. Open calls appear as interrupted in that state. */
export type CompactionContext = {
  readonly agent: ResolvedAgent;
  readonly signal: AbortSignal;
  /** What the user asked to preserve. */
  readonly focus?: string;
};

/** The result of a compactor. No messages means failure; `detail` says how or why not; `spent` is charged either way. */
export type CompactionResult = {
  readonly messages?: readonly Message[];
  readonly detail?: string;
  readonly spent?: Partial<UsageTotals>;
};

/** Makes a shorter history. An error, or a history that is invalid, not shorter, or lacks an open call, counts as failure and the old history stays. */
export interface Compactor {
  /** The share of `limits.context` at which it runs; without it, only if the next request does not fit. */
  readonly threshold?: number;
  run(state: RunState, context: CompactionContext): Promise<CompactionResult>;
}
