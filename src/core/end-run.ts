// Ends a run: by deadline, by abort, or by its own step. The log stays valid in each case.
import { abortFailure, stopReasonOfFailure } from './abort.ts';
import { FairleadError } from './errors.ts';
import type { Fact } from './fact.ts';
import type { RunContext } from './loop.ts';
import type { Step } from './next-step.ts';
import { systemPort } from './process-port.ts';
import type { RunState } from './state.ts';

/** Adds the time limit of the run to the abort signal; `release` clears the timer. */
export function withDeadline(context: RunContext): { readonly context: RunContext; readonly release: () => void } {
  const { limits, spent } = context.writer.state;
  if (limits?.ms === undefined) return { context, release: () => {} };
  const deadline = new AbortController();
  const timeoutError = new FairleadError('run/time', `Time limit (${limits.ms} ms) reached.`, { blame: 'user' });
  const remainingMs = Math.min(limits.ms - spent.ms, 2 ** 31 - 1);
  // No timer here: if no time is left, nothing may start before a timer would fire.
  if (!(remainingMs > 0)) deadline.abort(timeoutError);
  const { timer = systemPort.timer } = context;
  const release = timer(remainingMs > 0 ? remainingMs : 0, () => deadline.abort(timeoutError));
  const signal = AbortSignal.any([context.signal, deadline.signal]);
  return { context: { ...context, signal }, release };
}

/** The step that ends a run after an abort. */
export function abortStep(signal: AbortSignal): Step & { readonly type: 'end' } {
  const failure = abortFailure(signal);
  return { type: 'end', reason: stopReasonOfFailure(failure) ?? 'cancelled', detail: failure.message };
}

/** The facts that end a run; none for any other step. Open calls get results first, so that the history stays valid and can be continued. */
export function runEndedFacts(state: RunState, step: Step): readonly Fact[] {
  if (step.type !== 'end') return [];
  const text = `Not finished: ${step.detail ?? step.reason}`;
  const open = state.calls.filter((call) => !call.result);
  const endedCalls = open.map((call): Fact => {
    const outcome = call.key === undefined ? 'interrupted' : 'unknown';
    return { type: 'tool-ended', call: call.id, outcome, text, ms: 0 };
  });
  return [...endedCalls, { ...step, type: 'run-ended' }];
}
