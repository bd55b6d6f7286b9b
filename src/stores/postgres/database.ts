// A few connections to a database: statements are prepared once, sent again while that is safe, and given up in one clear error.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool, PoolConfig } from 'pg';
import { endPool, trackClients } from './timeouts.ts';
import { storeClosedError, isUnreachable, isSerializationConflict, toPostgresError } from './errors.ts';

/** What may stand for a value in a statement. */
export type SqlValue =
  | string
  | number
  | boolean
  | null
  | readonly string[]
  | readonly boolean[]
  | readonly (number | null)[]
  | readonly (string | null)[];

/** How long a statement may be tried again. */
export type QueryRetryOptions = { readonly retryForMs?: number };

/** A database that is open. */
export type PostgresDatabase = {
  /** Where it is, without secrets. */
  readonly description: string;
  readonly url: string;
  readonly pool: Pool;
  /**
   * The rows that a statement gives. It is sent again while the database is out of reach, so it must do no harm when it is done twice.
   * The tables say what a row is.
   */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters
  all<Row>(sql: string, values?: readonly SqlValue[], patience?: QueryRetryOptions): Promise<readonly Row[]>;
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters
  one<Row>(sql: string, values?: readonly SqlValue[], patience?: QueryRetryOptions): Promise<Row | undefined>;
  readonly isClosed: boolean;
  close(): Promise<void>;
};

/** So long a statement is tried again; then the caller is told. */
const defaultRetryForMs = 15_000;

/** PostgreSQL's number for whole numbers of eight bytes. */
const bigintOid = '20';

/** A pool of connections that reads whole numbers as numbers. */
export async function openPool(url: string, more: PoolConfig): Promise<Pool> {
  const { default: pg } = await import('pg');
  const pool = new pg.Pool({
    connectionString: url,
    application_name: 'fairlead',
    connectionTimeoutMillis: 5000,
    query_timeout: 60_000,
    keepAlive: true,
    types: { getTypeParser: (oid, format) => (`${oid}` === bigintOid ? Number : pg.types.getTypeParser(oid, format)) },
    ...more,
  });
  // A connection that is lost while nobody uses it is replaced when somebody needs one.
  pool.on('error', () => {});
  return trackClients(pool);
}

/** Names where a database is, for people: no password, no settings. */
export function describeUrl(url: string): string {
  try {
    const { hostname, port, pathname } = new URL(url);
    return `postgres ${hostname}${port ? `:${port}` : ''}${pathname}`;
  } catch {
    return 'postgres';
  }
}

/** Opens a database; nothing is sent yet. */
export async function openPostgresDatabase(url: string): Promise<PostgresDatabase> {
  const about = describeUrl(url);
  // Plans are kept: one that is made while a table is small must be right for when it is big.
  const pool = await openPool(url, { max: 6, options: '-c enable_seqscan=off -c jit=off' });
  const names = new Map<string, string>();
  let closed = false;

  function nameOf(sql: string): string {
    const known = names.get(sql);
    if (known !== undefined) return known;
    const name = `fairlead_${names.size}`;
    names.set(sql, name);
    return name;
  }

  async function all<Row>(
    sql: string,
    values: readonly SqlValue[] = [],
    patience: QueryRetryOptions = {},
  ): Promise<readonly Row[]> {
    const end = performance.now() + (patience.retryForMs ?? defaultRetryForMs);
    for (let wait = 20; ; wait = Math.min(500, wait * 2)) {
      if (closed) throw storeClosedError(about);
      try {
        return (await pool.query({ name: nameOf(sql), text: sql, values: [...values] })).rows as Row[];
      } catch (error) {
        if (!(isUnreachable(error) || isSerializationConflict(error)) || performance.now() + wait > end)
          throw toPostgresError(error, about);
        await sleep(wait * (0.5 + Math.random()));
      }
    }
  }

  return {
    description: about,
    url,
    pool,
    all,
    one: async <Row>(sql: string, values?: readonly SqlValue[], patience?: QueryRetryOptions) =>
      (await all<Row>(sql, values, patience))[0],
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
