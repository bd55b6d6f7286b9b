// Waits that end: a line that is dead without a word, or a server that hangs, keeps nobody from leaving.
import type { Client, Pool, PoolClient } from 'pg';

/** Milliseconds that whatever says goodbye may take. */
export const closeTimeoutMs = 2000;

/** Waits until something is over, however it ends, but no longer than so many milliseconds; says whether it was. */
export async function settlesWithin(ms: number, work: Promise<unknown>): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), ms);
  const over = (): boolean => true;
  try {
    return await Promise.race([work.then(over, over), promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Gives what comes, or nothing once the signal aborts. */
export async function undefinedOnAbort<T>(signal: AbortSignal, work: Promise<T>): Promise<T | undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const quit = (): void => resolve(undefined);
  signal.addEventListener('abort', quit, { once: true });
  if (signal.aborted) quit();
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', quit);
  }
}

const poolClients = new WeakMap<Pool, Set<PoolClient>>();

/** Keeps in mind which connections a pool has, for its end. */
export function trackClients(pool: Pool): Pool {
  const clients = new Set<PoolClient>();
  poolClients.set(pool, clients);
  return pool.on('connect', (client) => void clients.add(client)).on('remove', (client) => void clients.delete(client));
}

/** Ends a pool: connections that do not say goodbye are cut, so that nothing keeps the process. */
export async function endPool(pool: Pool): Promise<void> {
  await settlesWithin(closeTimeoutMs, pool.end());
  for (const client of poolClients.get(pool) ?? []) destroyConnection(client);
}

/** Ends a connection; one that is dead without a word is cut. */
export async function endClient(client: Client): Promise<void> {
  if (!(await settlesWithin(closeTimeoutMs, client.end()))) destroyConnection(client);
}

function destroyConnection({ connection }: { readonly connection?: unknown }): void {
  const { stream } = (connection ?? {}) as { readonly stream?: { destroy(): void } };
  stream?.destroy();
}
