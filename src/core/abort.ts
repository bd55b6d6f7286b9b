// Waiting that an abort ends: whoever does not hear its signal is left behind.
import { FairleadError, toFailure, type Failure } from './errors.ts';

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

/** Why a run was told to stop, as a failure: out of time, by the kill-switch, or cancelled. */
export function stopped(signal: AbortSignal): Failure {
  const { reason } = signal as { readonly reason: unknown };
  if (!(reason instanceof FairleadError))
    return { code: 'run/cancelled', message: 'The run was cancelled.', blame: 'user', retry: false };
  const known = reason.code === 'run/time' || reason.code === 'run/kill-switch';
  return { ...toFailure(reason), code: known ? reason.code : 'run/cancelled', retry: false };
}
