// Inputs and notes on their way to the model: which the next turn delivers, and how much that adds to its request.
import type { PendingInput } from './fact.ts';
import { renderNotes } from './notes.ts';
import type { RunState } from './state.ts';
import { partTokens } from './tokens.ts';

/** Steering and prompts go in together; a follow-up waits until nothing else is due, and goes in alone. */
export function deliverableInputs(state: RunState): readonly PendingInput[] {
  const now = state.pending.filter((input) => input.how !== 'follow-up');
  return now.length || state.due ? now : state.pending.slice(0, 1);
}

/** Tokens the next request is expected to hold, with what its turn will add. */
export const nextRequestTokens = (state: RunState): number =>
  state.context +
  partTokens([...deliverableInputs(state).flatMap((input) => input.parts), ...renderNotes(state.queue)]);
