// The questions a run waits with.
import type { Call, RunState } from '../../core/index.ts';

/** The calls a person has to answer for. */
export const openAsks = (state: RunState): readonly Call[] =>
  state.calls.filter((call) => call.ask && call.ask.allowed === undefined);

/** Whether a run rests because a person has to answer. */
export const waits = (state: RunState): boolean => state.run !== undefined && openAsks(state).length > 0;
