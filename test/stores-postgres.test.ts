// The PostgreSQL store keeps what the ports promise, against a real PostgreSQL.
import type { TestContext } from 'node:test';
import { after } from 'node:test';
import type { FleetStore } from '../src/core/index.ts';
import { openPostgres } from '../src/stores/postgres/store.ts';
import { startPostgres } from './support/postgres.ts';
import { processPromises } from './support/process-promises.ts';
import { storePromises } from './support/store-promises.ts';

const postgres = await startPostgres();
const skip = typeof postgres === 'string' ? { skip: postgres } : {};
if (typeof postgres !== 'string') after(() => postgres.close());

/** A store that was made once; each test gets a copy, because to make one takes seconds. */
async function makeTemplate(): Promise<string> {
  if (typeof postgres === 'string') return '';
  const url = await postgres.database();
  await (await openPostgres(url)).close();
  return new URL(url).pathname.slice(1);
}
const template = await makeTemplate();

async function freshUrl(): Promise<string> {
  return typeof postgres === 'string' ? '' : postgres.database(template);
}

async function freshStore(t: TestContext): Promise<() => Promise<FleetStore>> {
  const url = await freshUrl();
  return async () => {
    const store = await openPostgres(url, { retryMs: 1 });
    t.after(() => store.close());
    return store;
  };
}

storePromises('postgres', freshStore, skip);

processPromises('postgres', freshUrl, skip);
