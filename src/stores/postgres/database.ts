// Connection pool of a PostgreSQL store: prepares statements once, and sends them again while the database is unreachable.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool, PoolConfig } from 'pg';
import { closedError } from '../store-errors.ts';
import { endPool, trackClients } from './close-connections.ts';
import { isUnreachable, isSerializationConflict, toPostgresError } from './errors.ts';
import { parsePostgresLocation } from './location.ts';
import { createConnectionMode, type ConnectionMode, type SessionSettings } from './pooler.ts';

/** A value that a statement takes. */
export type SqlValue =
  | string
  | number
  | boolean
  | null
  | readonly string[]
  | readonly boolean[]
  | readonly (number | null)[]
  | readonly (string | null)[];

/** How long a statement is tried again, in milliseconds. */
export type QueryRetryOptions = { readonly retryForMs?: number };

/** An open database. */
export type PostgresDatabase = {
  /** Its location, without secrets. */
  readonly description: string;
  readonly location: string;
  readonly pool: Pool;
  /**
   * The rows that a statement returns. It is sent again while the database is unreachable, so it must be idempotent.
   * `Row` is not checked: the tables define it.
   */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters
  all<Row>(sql: string, values?: readonly SqlValue[], options?: QueryRetryOptions): Promise<readonly Row[]>;
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters
  one<Row>(sql: string, values?: readonly SqlValue[], options?: QueryRetryOptions): Promise<Row | undefined>;
  /** The URL at which notifications can be received; undefined behind a pooler without a direct address. */
  notificationUrl(): Promise<string | undefined>;
  readonly isClosed: boolean;
  close(): Promise<void>;
};

const defaultRetryForMs = 15_000;

/** PostgreSQL's type number of bigint. */
const bigintOid = '20';

/** An open connection pool. */
type OpenPool = { readonly pool: Pool; readonly mode: ConnectionMode };

/** Creates a connection pool that reads bigint as a number. Direct connections get the settings; those of a pooler do not. */
export async function openPool(location: string, max: number, settings: SessionSettings = {}): Promise<OpenPool> {
  const { default: pg } = await import('pg');
  const { url, directUrl } = parsePostgresLocation(location);
  const mode = createConnectionMode(directUrl !== undefined, settings);
  const config: PoolConfig = {
    connectionString: url,
    application_name: 'fairlead',
    connectionTimeoutMillis: 5000,
    query_timeout: 60_000,
    keepAlive: true,
    max,
    types: { getTypeParser: (oid, format) => (`${oid}` === bigintOid ? Number : pg.types.getTypeParser(oid, format)) },
    // oxlint-disable-next-line typescript/no-misused-promises -- the pool waits for the promise; its types do not say so.
    onConnect: (client) => mode.prepare(client),
  };
  const pool = new pg.Pool(config);
  // The pool replaces an idle connection that was lost.
  pool.on('error', () => {});
  return { pool: trackClients(pool), mode };
}

/** The location of a database without user, password and options, for messages. */
export function describeUrl(url: string): string {
  try {
    const { hostname, port, pathname } = new URL(url);
    return `postgres ${hostname}${port ? `:${port}` : ''}${pathname}`;
  } catch {
    return 'postgres';
  }
}

/** Plans of named statements are cached: a plan made while a table is small must also fit when it is large. */
const planSettings: SessionSettings = { enable_seqscan: 'off', jit: 'off' };

/** Creates the database; connects when the first statement is sent. */
export async function openPostgresDatabase(location: string): Promise<PostgresDatabase> {
  const description = describeUrl(location);
  const { pool, mode } = await openPool(location, 6, planSettings);
  const names = new Map<string, string>();
  let isConnected = false;
  let closed = false;

  /** Whether a pooler was found; connects if no connection was made so far. */
  async function isPooled(): Promise<boolean> {
    if (!isConnected) (await pool.connect()).release();
    isConnected = true;
    return mode.isPooled;
  }

  function statementName(sql: string): string {
    const known = names.get(sql);
    if (known !== undefined) return known;
    const name = `fairlead_${names.size}`;
    names.set(sql, name);
    return name;
  }

  async function all<Row>(
    sql: string,
    values: readonly SqlValue[] = [],
    options: QueryRetryOptions = {},
  ): Promise<readonly Row[]> {
    const end = performance.now() + (options.retryForMs ?? defaultRetryForMs);
    for (let delay = 20; ; delay = Math.min(500, delay * 2)) {
      if (closed) throw closedError(`The store in ${description}`);
      try {
        // The next transaction of a pooler may use another connection, where a named statement is not prepared.
        const name = (await isPooled()) ? {} : { name: statementName(sql) };
        return (await pool.query({ ...name, text: sql, values: [...values] })).rows as Row[];
      } catch (error) {
        if (!(isUnreachable(error) || isSerializationConflict(error)) || performance.now() + delay > end)
          throw toPostgresError(error, description);
        await sleep(delay * (0.5 + Math.random()));
      }
    }
  }

  return {
    description,
    location,
    pool,
    all,
    one: async <Row>(sql: string, values?: readonly SqlValue[], options?: QueryRetryOptions) =>
      (await all<Row>(sql, values, options))[0],
    async notificationUrl() {
      const { url, directUrl } = parsePostgresLocation(location);
      return directUrl ?? ((await isPooled()) ? undefined : url);
    },
    get isClosed() {
      return closed;
    },
    async close() {
      if (closed) return;
      closed = true;
      await endPool(pool);
    },
  };
}
