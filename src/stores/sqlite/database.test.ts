// Opening a SQLite store in a file that is missing, valid, of another program, newer or damaged.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test from 'node:test';
import { executeSql, openSqliteStore, createSqlitePath } from '../../../test/support/sqlite-store.ts';
import { applicationId, migrations } from './migrations.ts';
import { openSqlite } from './store.ts';

test('a missing store is created with its directory, for its owner only', async (t) => {
  const file = path.join(path.dirname(createSqlitePath(t)), 'deep/er/fleet.sqlite');
  const store = await openSqliteStore(t, file);
  await store.sessions.open('one');
  assert.equal(store.description, 'sqlite fleet.sqlite');
  for (const each of [file, `${file}-wal`]) assert.equal(fs.statSync(each).mode & 0o777, 0o600);
});

test('a store that was closed leaves one file, and opens again with all that was in it', async (t) => {
  const file = createSqlitePath(t);
  const store = await openSqliteStore(t, file);
  await store.queue.enqueue([{ id: 'one', prompt: 'w' }]);
  await store.close();
  assert.deepEqual(fs.readdirSync(path.dirname(file)), ['fleet.sqlite']);
  assert.equal((await (await openSqliteStore(t, file)).queue.run('one'))?.prompt, 'w');
});

test('fault 19: the journal of a killed process is recovered, and its open transaction is rolled back', async (t) => {
  const file = createSqlitePath(t);
  const store = await openSqliteStore(t, file);
  await store.queue.enqueue([{ id: 'one', prompt: 'w' }]);
  const left = createSqlitePath(t);
  for (const end of ['', '-wal']) fs.copyFileSync(file + end, left + end);
  await store.close();
  assert.equal((await (await openSqliteStore(t, left)).queue.run('one'))?.prompt, 'w', 'from the write-ahead log');

  const db = new DatabaseSync(file);
  db.exec("PRAGMA journal_mode = DELETE; PRAGMA cache_size = 2; BEGIN; UPDATE runs SET words = 'unfinished'");
  db.exec('CREATE TABLE filler (text TEXT)');
  for (let i = 0; i < 50; i++) db.prepare('INSERT INTO filler VALUES (?)').run('x'.repeat(4000));
  const hot = createSqlitePath(t);
  for (const end of ['', '-journal']) fs.copyFileSync(file + end, hot + end);
  db.close();
  assert.ok(fs.statSync(hot).size > 100_000, 'pages were written before the commit');
  assert.equal((await (await openSqliteStore(t, hot)).queue.run('one'))?.prompt, 'w', 'from the journal');
});

// oxlint-disable-next-line typescript/unbound-method -- called with its object below
const { prepare } = DatabaseSync.prototype;

test('a store that another process creates while this one opens it is not taken for a foreign database', async (t) => {
  const schema = `${migrations.join(';')}; PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${migrations.length}`;
  for (const readsBefore of [1, 2, 3]) {
    const file = createSqlitePath(t);
    let reads = 0;
    const mock = t.mock.method(DatabaseSync.prototype, 'prepare', function (this: DatabaseSync, sql: string) {
      if (reads++ === readsBefore) executeSql(file, schema);
      return prepare.call(this, sql);
    });
    const store = await openSqliteStore(t, file);
    mock.mock.restore();
    await store.queue.enqueue([{ id: 'one', prompt: 'w' }]);
  }
});

test('a store of a later version is refused with one sentence and not changed', async (t) => {
  const file = createSqlitePath(t);
  await (await openSqliteStore(t, file)).close();
  executeSql(file, `PRAGMA user_version = ${migrations.length + 1}`);
  const before = fs.readFileSync(file);
  await assert.rejects(openSqlite(file), {
    code: 'store/newer-version',
    message: `${file} has format version ${migrations.length + 1}; this program knows versions up to ${migrations.length}.`,
  });
  assert.deepEqual(fs.readFileSync(file), before);
});

test('a database of another program is refused and not changed', async (t) => {
  const file = createSqlitePath(t);
  fs.writeFileSync(file, 'These are the notes of somebody else.\n'.repeat(200));
  const notes = fs.readFileSync(file);
  await assert.rejects(openSqlite(file), { code: 'store/not-a-store', message: /is not a SQLite database/ });
  assert.deepEqual(fs.readFileSync(file), notes);
  fs.rmSync(file);
  executeSql(file, 'CREATE TABLE recipes (name TEXT)');
  const recipes = fs.readFileSync(file);
  await assert.rejects(openSqlite(file), { code: 'store/not-a-store', message: /not a store of Fairlead/ });
  assert.deepEqual(fs.readFileSync(file), recipes);
  assert.deepEqual(fs.readdirSync(path.dirname(file)), ['fleet.sqlite']);
});

test('a damaged file is reported as damaged', async (t) => {
  const file = createSqlitePath(t);
  const store = await openSqliteStore(t, file);
  await store.queue.enqueue(Array.from({ length: 50 }, (_, i) => ({ id: `r${i}`, prompt: 'w'.repeat(500) })));
  await store.close();
  const fd = fs.openSync(file, 'r+');
  fs.writeSync(fd, Buffer.alloc(fs.statSync(file).size - 4096, 0x5a), 0, null, 4096);
  fs.closeSync(fd);
  const before = fs.readFileSync(file);
  await assert.rejects(
    async () => {
      const opened = await openSqliteStore(t, file);
      await opened.queue.list();
    },
    { code: 'store/damaged', message: new RegExp(`^Could not use ${file}: it is damaged`) },
  );
  assert.deepEqual(fs.readFileSync(file), before);
});

test('a location where no file can be created is reported', async (t) => {
  const folder = path.dirname(createSqlitePath(t));
  await assert.rejects(openSqlite(folder), { code: 'store/gone', message: new RegExp(folder) });
});
