// Prepares the state of a session for a decision, with pauses: indexes texts that were added, and searches them for private data, so that the program can do other work.
import { setImmediate } from 'node:timers/promises';
import type { FlowState } from './flow-state.ts';
import { searchTexts } from './private-texts.ts';
import type { ToolDeclaration } from './types.ts';

/** So much text is read without a pause, by the decision that needs it. */
const maxCharsAtOnce = 1 << 17;
/** A pause is made after so many milliseconds. */
const maxSliceMs = 5;

/** Indexes and searches all texts that a state has. Text that is added meanwhile belongs to a later state. */
export async function prepareState(state: FlowState, tools: ReadonlyMap<string, ToolDeclaration>): Promise<void> {
  if (state.unindexedChars <= maxCharsAtOnce && state.unsearchedChars <= maxCharsAtOnce) return;
  let began = performance.now();
  const pause = async (): Promise<void> => {
    if (performance.now() - began < maxSliceMs) return;
    await setImmediate();
    began = performance.now();
  };
  while (state.unindexedChars > 0) {
    state.indexPiece();
    await pause();
  }
  for (const _ of searchTexts(state, tools)) await pause();
}
