// Empty stores in a real PostgreSQL: one is made, and the others are copies of it, because to make one takes seconds.
import { openPostgres } from '../../src/stores/postgres/store.ts';
import { startPostgres } from './postgres.ts';

/** Where empty stores come from; with `skip`, why there can be none. */
export type PostgresStores = {
  readonly skip?: string;
  /** Makes an empty store and gives its address. */
  readonly fresh: () => Promise<string>;
  /** Makes a database without a store in it. */
  readonly empty: () => Promise<string>;
  /** Stops the server as a crash does. */
  readonly stop: () => Promise<void>;
  /** Stops the server as a crash does, and starts it again. */
  readonly restart: () => Promise<void>;
  readonly close: () => Promise<void>;
};

/** Starts the PostgreSQL of this process, where there is one. */
export async function startPostgresStores(): Promise<PostgresStores> {
  const postgres = await startPostgres();
  if (typeof postgres === 'string') {
    const none = async (): Promise<void> => {};
    return { skip: postgres, fresh: async () => '', empty: async () => '', stop: none, restart: none, close: none };
  }
  const url = await postgres.createDatabase();
  await (await openPostgres(url)).close();
  const template = new URL(url).pathname.slice(1);
  return {
    fresh: () => postgres.createDatabase(template),
    empty: () => postgres.createDatabase(),
    stop: () => postgres.stop(),
    restart: () => postgres.restart(),
    close: () => postgres.close(),
  };
}
