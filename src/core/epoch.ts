// Epochs: the only way a prefix may end and another begin, and each says why.
import { unlessAborted } from './abort.ts';
import { ending } from './ending.ts';
import { messageOf } from './errors.ts';
import type { Baseline, EpochReason, Fact } from './fact.ts';
import { illegal } from './legal.ts';
import type { RunContext } from './loop.ts';
import type { Message } from './message.ts';
import type { AgentParts } from './ports.ts';
import type { RunState } from './state.ts';

/** The fact that begins a new epoch: with a history of its own it holds all a fold needs, so a reader may start here. */
export function newEpoch(state: RunState, reason: EpochReason, messages?: readonly Message[]): Fact {
  const { epoch, system, tools, model } = state;
  const fact: Fact = { type: 'epoch-started', epoch: epoch + 1, reason, system, tools, model };
  return messages ? { ...fact, baseline: baselineOf(state, reason, messages) } : fact;
}

/** An edit goes back to before the run, and a new session never had it: neither takes it along. */
function baselineOf(state: RunState, reason: EpochReason, messages: readonly Message[]): Baseline {
  const { session, turn, loaded, queue, total, pending } = state;
  const base = { session, messages, turn, loaded, total };
  if (reason === 'edited') return { ...base, queue: [] };
  if (reason === 'started') return { ...base, queue };
  const { run, limits, choice, spent, failures, reasks, compactions, rounds, due, verified, inTurn } = state;
  if (run === undefined || !limits) return { ...base, queue, pending };
  const going = { run, limits, choice, spent, failures, reasks, compactions, rounds, due, verified, inTurn };
  return { ...base, queue, pending, going };
}

/** Makes the history shorter, or ends the run if that cannot be done. */
export async function compact(agent: AgentParts, { head, signal }: RunContext): Promise<void> {
  const made = await shorter(agent, head.state, signal);
  if (signal.aborted) return;
  const detail = `The conversation no longer fits the model and could not be made shorter${made.why}.`;
  await head.record(
    (state) =>
      made.messages
        ? [newEpoch(state, 'compacted', made.messages)]
        : ending(state, { type: 'end', reason: 'token-budget', detail }),
    { settle: true },
  );
}

type Made = { readonly messages?: readonly Message[]; readonly why: string };

async function shorter(agent: AgentParts, state: RunState, signal: AbortSignal): Promise<Made> {
  try {
    const messages = await unlessAborted(signal, () => agent.compact?.(state, signal));
    if (!messages?.length) return { why: '' };
    const wrong = illegal(messages);
    return wrong === undefined ? { messages, why: '' } : { why: `: ${wrong.slice(0, -1)}` };
  } catch (error) {
    return { why: `: ${messageOf(error)}` };
  }
}
