// The latest effect of a session, and what completes it.
import type { FlowEntry } from './flow-state.ts';

/** The latest effect that a later call can complete. */
export type LatestEffect = {
  readonly isAllowed: boolean;
  readonly tool: string;
  /** Whether a call has completed it. */
  readonly isConfirmed: boolean;
  /** How many texts of third parties and trusted values the session had when it ended. */
  readonly untrusted: number;
  readonly trusted: number;
};

/** The latest effect after an entry, with the number of texts of third parties and trusted values before it. */
export const nextEffect = (
  latest: LatestEffect | undefined,
  { isAllowed, tool = '', isConfirm = false }: FlowEntry & { readonly type: 'effect' },
  untrusted: number,
  trusted: number,
): LatestEffect | undefined =>
  isConfirm ? latest && { ...latest, isConfirmed: true } : { isAllowed, tool, isConfirmed: false, untrusted, trusted };
