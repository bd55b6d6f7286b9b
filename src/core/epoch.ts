// Epochs: the only way a prefix may end and another begin, and each says why.
import type { EpochReason, Fact } from './fact.ts';
import type { RunContext } from './loop.ts';
import type { Message } from './message.ts';
import type { AgentParts } from './ports.ts';
import type { RunState } from './state.ts';

/** The fact that begins a new epoch: with a history of its own it holds all a fold needs, so a reader may start here. */
export function newEpoch(state: RunState, reason: EpochReason, messages?: readonly Message[]): Fact {
  const { session, epoch, system, tools, model, turn, loaded, queue, total } = state;
  const fact: Fact = { type: 'epoch-started', epoch: epoch + 1, reason, system, tools, model };
  return messages ? { ...fact, baseline: { session, messages, turn, loaded, queue, total } } : fact;
}

/** Makes the history shorter, or ends the run if that cannot be done. */
export async function compact(agent: AgentParts, { head, signal }: RunContext): Promise<void> {
  const messages = await agent.compact?.(head.state, signal);
  const fact: Fact = messages
    ? newEpoch(head.state, 'compacted', messages)
    : {
        type: 'run-ended',
        reason: 'token-budget',
        detail: 'The conversation no longer fits the model and could not be made shorter.',
      };
  await head.record([fact], { settle: true });
}
