// Waiting that an abort ends: whoever does not hear its signal is left behind.
import { FairleadError, toFailure, type Failure } from './errors.ts';
import type { StopReason } from './fact.ts';

/** What the work gives, or a rejection at the moment of the abort; work that has not begun by then never begins. */
export async function raceAbort<T>(signal: AbortSignal, work: () => T | Promise<T>): Promise<T> {
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

const stopReasonsByCode: ReadonlyMap<string, StopReason> = new Map([
  ['run/cancelled', 'cancelled'],
  ['run/time', 'time'],
  ['run/kill-switch', 'kill-switch'],
  ['run/money-budget', 'money-budget'],
  ['run/token-budget', 'token-budget'],
]);

/** The code of an abort that leaves a run as it is, to be gone on with later, here or elsewhere. */
const DETACHED_CODE = 'run/left';

/** Whether a run is being left: at the next step, or at once where its signal says so. It is not ended then. */
export const isDetached = ({
  signal,
  leave,
}: {
  readonly signal: AbortSignal;
  readonly leave?: AbortSignal;
}): boolean => leave?.aborted === true || (signal.aborted && abortCode(signal.reason) === DETACHED_CODE);

/** Whether this failure is only that a run was left: it counts as none. */
export const wasDetached = (failure: Failure): boolean => failure.code === DETACHED_CODE;

const abortCode = (reason: unknown): string | undefined => (reason instanceof FairleadError ? reason.code : undefined);

/** Why a run was told to stop, as a failure: cancelled, unless by its time, by the kill-switch, or to be left. */
export function abortFailure(signal: AbortSignal): Failure {
  const { reason } = signal as { readonly reason: unknown };
  if (!(reason instanceof FairleadError))
    return { code: 'run/cancelled', message: 'The run was cancelled.', blame: 'user', retry: false };
  const code = stopReasonsByCode.has(reason.code) || reason.code === DETACHED_CODE ? reason.code : 'run/cancelled';
  return { ...toFailure(reason), code, retry: code === DETACHED_CODE };
}

/** The reason a run ends for when it was told to stop, or a call of its model was refused for a budget beyond its own; nothing if the failure is of another kind. */
export const stopReasonOfFailure = (failure: Failure): StopReason | undefined => stopReasonsByCode.get(failure.code);
