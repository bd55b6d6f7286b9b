// Empty stores in a real PostgreSQL: copies of one template, because creating one takes seconds.
import type { TestContext } from 'node:test';
import { openPostgres } from '../../src/stores/postgres/store.ts';
import { preparePostgresReset, resetPostgres } from './postgres-reset.ts';
import { startPostgres } from './postgres.ts';

/** Creates empty stores; `skip` is the reason if there is no PostgreSQL. */
export type PostgresStores = {
  readonly skip?: string;
  /** Creates an empty store for a test and returns its URL; a later test may get the same database, emptied. */
  readonly fresh: (t: Pick<TestContext, 'after'>) => Promise<string>;
  /** Creates a database without a store. */
  readonly empty: () => Promise<string>;
  /** Stops the server at once, as a crash does. */
  readonly stop: () => Promise<void>;
  /** Stops the server at once, and starts it again. */
  readonly restart: () => Promise<void>;
  readonly close: () => Promise<void>;
};

/** Starts the PostgreSQL of this process, if there is one. */
export async function startPostgresStores(): Promise<PostgresStores> {
  const postgres = await startPostgres();
  if (typeof postgres === 'string') {
    const doNothing = async (): Promise<void> => {};
    return {
      skip: postgres,
      fresh: async () => '',
      empty: async () => '',
      stop: doNothing,
      restart: doNothing,
      close: doNothing,
    };
  }
  const url = await postgres.createDatabase();
  await (await openPostgres(url)).close();
  await preparePostgresReset(url);
  const template = new URL(url).pathname.slice(1);
  /** The databases of tests that have ended. */
  const unused: string[] = [];
  const takeUnused = async (): Promise<string | undefined> => {
    const left = unused.pop();
    return left === undefined || (await resetPostgres(left)) ? left : undefined;
  };
  return {
    async fresh(t) {
      const location = (await takeUnused()) ?? (await postgres.createDatabase(template));
      t.after(() => void unused.push(location));
      return location;
    },
    empty: () => postgres.createDatabase(),
    stop: () => postgres.stop(),
    restart: () => postgres.restart(),
    close: () => postgres.close(),
  };
}
