// Waits with an end: by a timeout, or by an abort signal.

/** How long closing a connection or releasing a lease may take, in milliseconds. */
export const closeTimeoutMs = 2000;

/** Waits until the work settles, at most so many milliseconds. Returns whether it settled. */
export async function settlesWithin(ms: number, work: Promise<unknown>): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), ms);
  const settled = (): boolean => true;
  try {
    return await Promise.race([work.then(settled, settled), promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** The result of the work, or undefined once the signal aborts. */
export async function undefinedOnAbort<T>(signal: AbortSignal, work: Promise<T>): Promise<T | undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const abort = (): void => resolve(undefined);
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
