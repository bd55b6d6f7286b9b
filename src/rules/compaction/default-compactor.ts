// The compactor of an agent that names none. It is loaded when a conversation is first compacted.
import type { Compactor } from '../../core/index.ts';

/** The part of the context window that is filled before a conversation is compacted. */
export const defaultThreshold = 0.8;

/** Summarizes as `summarizingCompactor` without options does. */
export const defaultCompactor = (): Compactor => ({
  threshold: defaultThreshold,
  run: async (state, context) => (await import('./summarize.ts')).summarizingCompactor().run(state, context),
});
