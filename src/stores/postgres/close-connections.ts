// Closes PostgreSQL connections within a time limit: a dead connection or a hanging server must not keep the process running.
import type { Client, Pool, PoolClient } from 'pg';
import { closeTimeoutMs, settlesWithin } from '../timeouts.ts';

const poolClients = new WeakMap<Pool, Set<PoolClient>>();

/** Remembers the connections of a pool, so that `endPool` can destroy them. */
export function trackClients(pool: Pool): Pool {
  const clients = new Set<PoolClient>();
  poolClients.set(pool, clients);
  return pool.on('connect', (client) => void clients.add(client)).on('remove', (client) => void clients.delete(client));
}

/** Ends a pool; connections that do not close in time are destroyed. */
export async function endPool(pool: Pool): Promise<void> {
  await settlesWithin(closeTimeoutMs, pool.end());
  for (const client of poolClients.get(pool) ?? []) destroyConnection(client);
}

/** Ends a connection; destroys it if it does not close in time. */
export async function endClient(client: Client): Promise<void> {
  if (!(await settlesWithin(closeTimeoutMs, client.end()))) destroyConnection(client);
}

function destroyConnection({ connection }: { readonly connection?: unknown }): void {
  const { stream } = (connection ?? {}) as { readonly stream?: { destroy(): void } };
  stream?.destroy();
}
