// Reading the ends of a session file: constant cost, and no error for any content.
import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import type { Fact } from '../../core/index.ts';
import { peekSession, openJsonl, realDisk, readSessionId, type Disk } from '../index.ts';

function createFile(t: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-glimpse-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return path.join(folder, 'a.jsonl');
}

const annotation = (value: string): Fact => ({ type: 'annotation-added', key: 'k', value });

/** A disk that counts the bytes read from it. */
function createCountingDisk(): { readonly disk: Disk; readonly read: () => number } {
  let bytes = 0;
  const disk: Disk = {
    ...realDisk,
    read(...given) {
      const got = realDisk.read(...given);
      bytes += got;
      return got;
    },
  };
  return { disk, read: () => bytes };
}

async function writeLongSession(file: string, more: readonly Fact[] = []): Promise<void> {
  const log = await openJsonl(file, { session: 'one' });
  await log.append(0, [
    { type: 'session-started', session: 'one' },
    annotation('x'.repeat(3_000_000)),
    annotation('y'.repeat(40_000)),
    ...more,
  ]);
  await log.close();
}

test('[J93] the id, the last event and both ends of a long file are read without the part between them', async (t) => {
  const file = createFile(t);
  await writeLongSession(file, [annotation('last')]);
  const { disk, read } = createCountingDisk();
  const seen = peekSession(file, disk);
  assert.deepEqual([seen.session, seen.events], ['one', 4]);
  assert.ok(seen.size > 3_000_000);
  assert.match(seen.time ?? '', /^\d{4}-.*Z$/);
  assert.equal(seen.first('session-started')?.seq, 1);
  assert.equal(seen.last('annotation-added')?.seq, 4);
  assert.equal(seen.last('run-ended'), undefined);
  assert.ok(read() <= 100 * 1024, `${read()} bytes were read`);
});

test('a long last line is still found; one that is far longer is skipped', async (t) => {
  const file = createFile(t);
  await writeLongSession(file);
  assert.equal(peekSession(file).events, 3);
  const log = await openJsonl(file);
  await log.append(3, [annotation('z'.repeat(5_000_000))]);
  await log.close();
  const { disk, read } = createCountingDisk();
  assert.equal(peekSession(file, disk).events, undefined);
  assert.ok(read() < 5_000_000);
});

test('long first lines are read too, and reading the id is cheap', async (t) => {
  const file = createFile(t);
  const log = await openJsonl(file, { session: 'one' });
  const parts = [{ type: 'text', text: 'hello' }] as const;
  await log.append(0, [
    annotation('x'.repeat(40_000)),
    { type: 'input-received', input: 'i', how: 'prompt', parts },
    annotation('y'.repeat(90_000)),
  ]);
  await log.close();
  assert.equal(peekSession(file).first('input-received')?.seq, 2);
  const { disk, read } = createCountingDisk();
  assert.equal(readSessionId(file, disk), 'one');
  assert.ok(read() <= 1024);
});

test('if lines are short, only the two ends are read', async (t) => {
  const file = createFile(t);
  const log = await openJsonl(file, { session: 'one' });
  for (let n = 0; n < 100; n++) await log.append(n, [annotation('x'.repeat(1000))]);
  await log.close();
  const { disk, read } = createCountingDisk();
  assert.equal(peekSession(file, disk).events, 100);
  assert.ok(read() <= 32 * 1024);
});

test('a torn file, a file without a header and an empty one are read without an error', async (t) => {
  const file = createFile(t);
  await writeLongSession(file, [annotation('last')]);
  appendFileSync(file, '{"seq":5,"id":"torn');
  assert.equal(peekSession(file).events, 4);
  writeFileSync(file, 'something else\nentirely\n');
  assert.deepEqual([peekSession(file).session, peekSession(file).events], ['', 0]);
  truncateSync(file);
  assert.deepEqual([peekSession(file).size, peekSession(file).events], [0, 0]);
  assert.throws(() => peekSession(`${file}.none`), { code: 'store/gone' });
});
