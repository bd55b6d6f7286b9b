// Finds out whether a connection goes through a pooler such as PgBouncer, which may give each transaction another connection of the server.
import type { ClientBase } from 'pg';

/** Settings of a session by name. */
export type SessionSettings = Readonly<Record<string, string>>;

/** What is known of the connections of one pool. */
export type ConnectionMode = {
  /** Whether a pooler was found. */
  readonly isPooled: boolean;
  /** Prepares a new connection: a handler for `onConnect` of a pool. */
  prepare(client: ClientBase): Promise<void>;
};

/**
 * Creates the handler of the new connections of a pool. A pooler names a process of its own to its clients, not that of the server: so it is
 * found without a setting. Settings of a session are made on direct connections only: behind a pooler they would reach other clients.
 */
export function createConnectionMode(isPooledByUrl: boolean, settings: SessionSettings): ConnectionMode {
  let isPooled = isPooledByUrl;
  const setSql = Object.entries(settings)
    .map(([name, value]) => `SET ${name} = ${value}`)
    .join('; ');
  return {
    get isPooled() {
      return isPooled;
    },
    async prepare(client) {
      if (!isPooled) {
        const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
        const told: unknown = Reflect.get(client, 'processID');
        isPooled = rows[0]?.pid !== told;
      }
      if (!isPooled && setSql !== '') await client.query(setSql);
    },
  };
}
