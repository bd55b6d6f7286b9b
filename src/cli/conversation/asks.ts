// What a run is at: the questions it waits with, and what it does.
import type { Call, RunState } from '../../core/index.ts';

/** The calls a person has to answer for. */
export const openAsks = (state: RunState): readonly Call[] =>
  state.calls.filter((call) => call.ask && call.ask.allowed === undefined);

/** Whether a run rests because a person has to answer. */
export const waits = (state: RunState): boolean => state.run !== undefined && openAsks(state).length > 0;

/** What is being done, in a word or two. */
export function doing({ calls, inTurn }: RunState): string {
  const tools = calls.filter((call) => call.key !== undefined && !call.result).map((call) => call.tool);
  if (tools.length) return `running ${[...new Set(tools)].join(', ')}`;
  return inTurn ? 'thinking' : 'working';
}
