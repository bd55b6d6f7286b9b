// The PostgreSQL store keeps what the ports promise, against a real PostgreSQL.
import assert from 'node:assert/strict';
import test, { after, type TestContext } from 'node:test';
import type { FleetStore } from '../src/core/index.ts';
import { openPostgres } from '../src/stores/postgres/store.ts';
import { lossyLine } from './support/lossy-line.ts';
import { freshPostgres } from './support/postgres-place.ts';
import { processPromises } from './support/process-promises.ts';
import { storePromises } from './support/store-promises.ts';

const postgres = await freshPostgres();
after(() => postgres.close());
const { fresh, skip } = postgres;
const options = skip === undefined ? {} : { skip };

async function freshStore(t: TestContext): Promise<() => Promise<FleetStore>> {
  const url = await fresh();
  return async () => {
    const store = await openPostgres(url, { retryMs: 1 });
    t.after(() => store.close());
    return store;
  };
}

storePromises('postgres', freshStore, options);

processPromises('postgres', fresh, options);

test(
  'postgres: [A53, A116] an append whose answer was lost is there once, and refused to whom others have taken the session from',
  options,
  async (t) => {
    const where = await fresh();
    const line = await lossyLine(t, where);
    const [mine, other] = [await openPostgres(line.url), await openPostgres(where)];
    t.after(() => Promise.all([mine.close(), other.close()]));
    const log = await mine.sessions.open('one');
    const append = async (after: number, meanwhile: () => Promise<void>): ReturnType<typeof log.append> => {
      const lost = line.lose(`words ${after}`);
      const done = log.append(after, [{ type: 'remark-made', key: 'k', value: `words ${after}` }], { settle: true });
      done.catch(() => {});
      await lost;
      await meanwhile();
      line.mend();
      return done;
    };
    assert.equal((await append(0, async () => {}))[0]?.seq, 1);
    const taken = append(1, async () => (await other.sessions.open('one', { force: true })).close());
    await assert.rejects(taken, { code: 'store/fenced' });
    const [first] = await other.sessions.list();
    assert.equal(first?.events, 2, 'what was written is there for who has the session now');
    await mine.close();
  },
);
