// The SQLite file for partial text: private, created on demand, cleaned up, and never an obstacle for the store.
import assert from 'node:assert/strict';
import { chmodSync, existsSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import test, { type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { executeSql, countRows, openSqliteStore, createSqlitePath } from '../../../test/support/sqlite-store.ts';
import type { FleetStore } from '../../core/index.ts';

const partialText = (text: string) => ({ turn: 1, since: 1, text });

async function waitUntil(holds: () => boolean): Promise<void> {
  for (const end = Date.now() + 20_000; !holds(); await pause(5)) assert.ok(Date.now() < end, 'not in 20 seconds');
}

test('[A93] the file is created by a subscriber, for its owner only, and old text is deleted', async (t) => {
  const file = createSqlitePath(t);
  const [here, there] = [await openSqliteStore(t, file), await openSqliteStore(t, file)];
  here.partialText.publish('s', partialText('unheard '));
  await pause(100);
  assert.ok(!existsSync(`${file}-live`));
  let text = '';
  there.partialText.subscribe('s', (piece) => void (text += piece.text));
  await waitUntil(() => text === 'unheard ');
  assert.equal(statSync(`${file}-live`).mode & 0o777, 0o600);
  executeSql(`${file}-live`, `UPDATE letters SET time = time - 60000`);
  const [mine, other] = [await openSqliteStore(t, file), await openSqliteStore(t, file)];
  let late = '';
  other.partialText.subscribe('t', (piece) => void (late += piece.text));
  mine.partialText.publish('t', partialText('new'));
  await waitUntil(() => late === 'new');
  assert.ok(countRows(`${file}-live`, 'letters WHERE time < 1000 * unixepoch() - 30000') === 0);
});

/** Publishes a text in one of two processes, and returns what each has received after a while. */
async function publishBetween(
  t: TestContext,
  file: string,
): Promise<{ readonly here: FleetStore; readonly heard: readonly string[] }> {
  const [here, there] = [await openSqliteStore(t, file), await openSqliteStore(t, file)];
  let [near, far] = ['', ''];
  here.partialText.subscribe('s', (piece) => void (near += piece.text));
  there.partialText.subscribe('s', (piece) => void (far += piece.text));
  here.partialText.publish('s', partialText('words'));
  await pause(200);
  return { here, heard: [near, far] };
}

test('[A93] a file that cannot be used costs the partial text and nothing else', async (t) => {
  const file = createSqlitePath(t);
  writeFileSync(`${file}-live`, 'something that is not a database at all, and long enough to be looked at twice');
  const { here, heard: received } = await publishBetween(t, file);
  assert.deepEqual(received, ['words', '']);
  const log = await here.sessions.open('s');
  await log.append(0, [{ type: 'annotation-added', key: 'k', value: 1 }]);
  await log.close();
});

test('messages to a process are deleted from the file when it closes', async (t) => {
  const file = createSqlitePath(t);
  const [here, there] = [await openSqliteStore(t, file), await openSqliteStore(t, file)];
  let text = '';
  there.partialText.subscribe('s', (piece) => void (text += piece.text));
  here.partialText.publish('s', partialText('not for ever'));
  await waitUntil(() => text === 'not for ever');
  await here.close();
  assert.ok(countRows(`${file}-live`, "letters WHERE text LIKE '%not for ever%'") > 0);
  await there.close();
  assert.ok(!readFileSync(`${file}-live`, 'latin1').includes('not for ever'));
});

for (const [name, plant] of [
  ['a link', (at: string, elsewhere: string) => symlinkSync(elsewhere, at)],
  ['a file that more users can read than the store', (at: string) => (writeFileSync(at, ''), chmodSync(at, 0o644))],
] as const)
  test(
    `text is not written to a prepared file: ${name}`,
    { skip: process.platform === 'win32' && 'files have no such rights here' },
    async (t) => {
      const [file, elsewhere] = [createSqlitePath(t), createSqlitePath(t)];
      writeFileSync(elsewhere, '');
      plant(`${file}-live`, elsewhere);
      const { heard: received } = await publishBetween(t, file);
      assert.deepEqual([...received, readFileSync(`${file}-live`, 'utf8')], ['words', '', '']);
    },
  );
