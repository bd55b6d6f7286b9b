// Races work against an AbortSignal. Work that ignores the signal is abandoned.
import { FairleadError, toFailure, type Failure } from './errors.ts';
import type { StopReason } from './fact.ts';
import type { RunContext } from './loop.ts';

/** Returns the result of the work, or rejects as soon as the signal aborts. Work does not start if the signal is already aborted. */
export async function raceAbort<T>(signal: AbortSignal, work: () => T | Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = (): void =>
    reject(new FairleadError('run/cancelled', 'The run was cancelled.', { blame: 'user', cause: signal.reason }));
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await (signal.aborted ? promise : Promise.race([Promise.resolve().then(work), promise]));
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

const stopReasonsByCode: ReadonlyMap<string, StopReason> = new Map([
  ['run/cancelled', 'cancelled'],
  ['run/time', 'time'],
  ['run/kill-switch', 'kill-switch'],
  ['run/money-budget', 'money-budget'],
  ['run/token-budget', 'token-budget'],
]);

/** The error code of an abort that detaches from a run: the run stays open and any process can resume it later. The code is public and keeps its first name. */
const DETACHED_CODE = 'run/left';

/** Returns true if the caller is detaching from the run, after the current step or at once. The run does not end. */
export const isDetached = ({ signal, detachSignal }: Pick<RunContext, 'signal' | 'detachSignal'>): boolean =>
  detachSignal?.aborted === true || (signal.aborted && abortCode(signal.reason) === DETACHED_CODE);

/** Returns true if this failure only says that the caller detached. It does not count as a failure. */
export const wasDetached = (failure: Failure): boolean => failure.code === DETACHED_CODE;

const abortCode = (reason: unknown): string | undefined => (reason instanceof FairleadError ? reason.code : undefined);

/** Converts an abort reason to a failure: cancelled, timed out, stopped by the kill switch, or detached. */
export function abortFailure(signal: AbortSignal): Failure {
  const { reason } = signal as { readonly reason: unknown };
  if (!(reason instanceof FairleadError))
    return { code: 'run/cancelled', message: 'The run was cancelled.', blame: 'user', retry: false };
  const code = stopReasonsByCode.has(reason.code) || reason.code === DETACHED_CODE ? reason.code : 'run/cancelled';
  return { ...toFailure(reason), code, retry: code === DETACHED_CODE };
}

/** Returns the stop reason if the failure is an abort or a tenant budget refusal; otherwise undefined. */
export const stopReasonOfFailure = (failure: Failure): StopReason | undefined => stopReasonsByCode.get(failure.code);
