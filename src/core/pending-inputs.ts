// Selects the pending inputs that the next turn delivers, and estimates the size of the next request.
import type { PendingInput } from './fact.ts';
import { renderNotes } from './notes.ts';
import type { RunState } from './state.ts';
import { partTokens } from './tokens.ts';

/** Prompts and steering inputs are delivered together; a follow-up is delivered alone, when no other turn is needed. */
export function deliverableInputs(state: RunState): readonly PendingInput[] {
  const immediate = state.pending.filter((input) => input.how !== 'follow-up');
  return immediate.length || state.needsTurn ? immediate : state.pending.slice(0, 1);
}

/** Estimates the tokens of the next request, including the inputs and notes that the turn adds. */
export const nextRequestTokens = (state: RunState): number =>
  state.context +
  partTokens([...deliverableInputs(state).flatMap((input) => input.parts), ...renderNotes(state.queue)]);
