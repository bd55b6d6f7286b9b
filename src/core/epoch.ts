// Creates the `epoch-started` fact, the only way to start a new prompt prefix. Each epoch records its reason.
import type { Baseline, EpochReason, Fact } from './fact.ts';
import type { Message } from './message.ts';
import { serializeViews } from './projections.ts';
import type { RunState } from './state.ts';

type EpochStarted = Fact & { readonly type: 'epoch-started' };

/** Creates an `epoch-started` fact. With messages it carries a baseline, so that a fold can start here. */
export function epochStartedFact(state: RunState, reason: EpochReason, messages?: readonly Message[]): EpochStarted {
  const { epoch, system, tools, model, modelOrigin, cwd } = state;
  const fact: EpochStarted = {
    type: 'epoch-started',
    epoch: epoch + 1,
    reason,
    ...modelOrigin,
    system,
    tools,
    model,
    ...(cwd === undefined ? {} : { cwd }),
  };
  return messages ? { ...fact, baseline: baselineOf(state, reason, messages) } : fact;
}

/** An edit goes back to before the run and a fork never had it, so neither carries the active run. */
function baselineOf(state: RunState, reason: EpochReason, messages: readonly Message[]): Baseline {
  const { session, turn, loaded, queue, total, pending, calls, files, unknownCalls } = state;
  const base = {
    session,
    messages,
    turn,
    loaded,
    total,
    ...(files.length ? { files } : {}),
    ...(unknownCalls?.length ? { unknownCalls } : {}),
    ...serializeViews(state.viewStates),
    ...(state.nonce ? { nonce: state.nonce } : {}),
  };
  if (reason === 'edited') return { ...base, queue: [] };
  if (reason === 'started') return { ...base, queue };
  const baseline = { ...base, queue, pending, ...(calls.length ? { calls } : {}) };
  const { run, limits, choice, spent, failures, answerRetries, compactions, callBatches, needsTurn, verified, inTurn } =
    state;
  if (run === undefined || !limits) return baseline;
  const activeRun = {
    run,
    limits,
    choice,
    spent,
    failures,
    answerRetries,
    compactions,
    callBatches,
    needsTurn,
    verified,
    inTurn,
  };
  return { ...baseline, activeRun };
}
