// How a run ends: by its deadline, by a person, or by its own step; the log is left legal each time.
import { abortFailure, stopReasonOfFailure } from './abort.ts';
import { FairleadError } from './errors.ts';
import type { Fact } from './fact.ts';
import type { RunContext } from './loop.ts';
import type { Step } from './next.ts';
import type { RunState } from './state.ts';

/** The context with the run's time limit as part of its signal; `release` stops the clock. */
export function withDeadline(context: RunContext): { readonly context: RunContext; readonly release: () => void } {
  const { limits, spent } = context.writer.state;
  if (limits?.ms === undefined) return { context, release: () => {} };
  const deadline = new AbortController();
  const late = new FairleadError('run/time', `All ${limits.ms} ms are used.`, { blame: 'user' });
  const wait = Math.min(limits.ms - spent.ms, 2 ** 31 - 1);
  // Not by a timer: with no time left, nothing may begin before it fires.
  if (!(wait > 0)) deadline.abort(late);
  const timer = setTimeout(() => deadline.abort(late), wait > 0 ? wait : 0);
  const signal = AbortSignal.any([context.signal, deadline.signal]);
  return { context: { ...context, signal }, release: () => clearTimeout(timer) };
}

/** The end that an abort calls for. */
export function abortStep(signal: AbortSignal): Step & { readonly type: 'end' } {
  const failure = abortFailure(signal);
  return { type: 'end', reason: stopReasonOfFailure(failure) ?? 'cancelled', detail: failure.message };
}

/** The facts of an end, none for any other step: calls still open are answered first, so that the log stays legal and can go on. */
export function runEndedFacts(state: RunState, step: Step): readonly Fact[] {
  if (step.type !== 'end') return [];
  const text = `Not finished: ${step.detail ?? step.reason}`;
  const open = state.calls.filter((call) => !call.result);
  const settled = open.map((call): Fact => {
    const outcome = call.key === undefined ? 'interrupted' : 'unknown';
    return { type: 'tool-ended', call: call.id, outcome, text, ms: 0 };
  });
  return [...settled, { ...step, type: 'run-ended' }];
}
