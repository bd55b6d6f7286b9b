// Waiting that an abort ends: whoever does not hear its signal is left behind.
import { FairleadError, toFailure, type Failure } from './errors.ts';
import type { StopReason } from './fact.ts';

/** What the work gives, or a rejection at the moment of the abort; work that has not begun by then never begins. */
export async function unlessAborted<T>(signal: AbortSignal, work: () => T | Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const quit = (): void =>
    reject(new FairleadError('run/cancelled', 'The run was cancelled.', { blame: 'user', cause: signal.reason }));
  if (signal.aborted) quit();
  signal.addEventListener('abort', quit, { once: true });
  try {
    return await (signal.aborted ? promise : Promise.race([Promise.resolve().then(work), promise]));
  } finally {
    signal.removeEventListener('abort', quit);
  }
}

const reasons: ReadonlyMap<string, StopReason> = new Map([
  ['run/cancelled', 'cancelled'],
  ['run/time', 'time'],
  ['run/kill-switch', 'kill-switch'],
]);

/** Why a run was told to stop, as a failure: cancelled, unless by its time or by the kill-switch. */
export function stopped(signal: AbortSignal): Failure {
  const { reason } = signal as { readonly reason: unknown };
  if (!(reason instanceof FairleadError))
    return { code: 'run/cancelled', message: 'The run was cancelled.', blame: 'user', retry: false };
  const code = reasons.has(reason.code) ? reason.code : 'run/cancelled';
  return { ...toFailure(reason), code, retry: false };
}

/** The reason a run ends for when it was told to stop; nothing if the failure is of another kind. */
export const toldToStop = (failure: Failure): StopReason | undefined => reasons.get(failure.code);
