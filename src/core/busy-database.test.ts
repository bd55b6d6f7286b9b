// Tests of transactions and of new attempts while a database is locked.
import assert from 'node:assert/strict';
import test from 'node:test';
import { inTransaction, retryWhileBusy } from './busy-database.ts';

const isBusy = (error: unknown): boolean => error instanceof Error && error.message === 'busy';

test('work is tried again while the database is busy, and no longer than allowed', async () => {
  let attempts = 0;
  const work = (): number => {
    if (++attempts < 3) throw new Error('busy');
    return attempts;
  };
  assert.equal(await retryWhileBusy(work, { isBusy, maxMs: 10_000 }), 3);
  const always = (): never => {
    throw new Error('busy');
  };
  await assert.rejects(retryWhileBusy(always, { isBusy, maxMs: -1 }), /busy/);
  const broken = (): never => {
    throw new Error('broken');
  };
  await assert.rejects(retryWhileBusy(broken, { isBusy, maxMs: 10_000 }), /broken/);
});

test('a transaction is committed, or rolled back if the work throws', () => {
  const done: string[] = [];
  const db = { exec: (sql: string) => void done.push(sql), isTransaction: true };
  assert.equal(
    inTransaction(db, () => 7),
    7,
  );
  assert.throws(() =>
    inTransaction(db, () => {
      throw new Error('no');
    }),
  );
  assert.deepEqual(done, ['BEGIN IMMEDIATE', 'COMMIT', 'BEGIN IMMEDIATE', 'ROLLBACK']);
});
