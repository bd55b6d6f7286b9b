// A look at the ends of a session file costs the same whatever its length, and never fails for what it finds.
import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import type { Fact } from '../../core/index.ts';
import { glimpse, openJsonl, realDisk, sessionIn, type Disk } from '../index.ts';

function place(t: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-glimpse-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return path.join(folder, 'a.jsonl');
}

const remark = (value: string): Fact => ({ type: 'annotation-added', key: 'k', value });

/** The disk, and how many bytes were read from it. */
function counting(): { readonly disk: Disk; readonly read: () => number } {
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

async function long(file: string, more: readonly Fact[] = []): Promise<void> {
  const log = await openJsonl(file, { session: 'one' });
  await log.append(0, [
    { type: 'session-started', session: 'one' },
    remark('x'.repeat(3_000_000)),
    remark('y'.repeat(40_000)),
    ...more,
  ]);
  await log.close();
}

test('[J93] the id, the last event and both ends of a long file are seen without reading what lies between', async (t) => {
  const file = place(t);
  await long(file, [remark('last')]);
  const { disk, read } = counting();
  const seen = glimpse(file, disk);
  assert.deepEqual([seen.session, seen.events], ['one', 4]);
  assert.ok(seen.size > 3_000_000);
  assert.match(seen.time ?? '', /^\d{4}-.*Z$/);
  assert.equal(seen.first('session-started')?.seq, 1);
  assert.equal(seen.last('annotation-added')?.seq, 4);
  assert.equal(seen.last('run-ended'), undefined);
  assert.ok(read() <= 100 * 1024, `${read()} bytes were read`);
});

test('a last line that is longer than an end is still found; one far longer is given up', async (t) => {
  const file = place(t);
  await long(file);
  assert.equal(glimpse(file).events, 3);
  const log = await openJsonl(file);
  await log.append(3, [remark('z'.repeat(5_000_000))]);
  await log.close();
  const { disk, read } = counting();
  assert.equal(glimpse(file, disk).events, undefined);
  assert.ok(read() < 5_000_000);
});

test('first lines that are long are seen too, and the id costs next to nothing', async (t) => {
  const file = place(t);
  const log = await openJsonl(file, { session: 'one' });
  const parts = [{ type: 'text', text: 'hello' }] as const;
  await log.append(0, [
    remark('x'.repeat(40_000)),
    { type: 'input-received', input: 'i', how: 'prompt', parts },
    remark('y'.repeat(90_000)),
  ]);
  await log.close();
  assert.equal(glimpse(file).first('input-received')?.seq, 2);
  const { disk, read } = counting();
  assert.equal(sessionIn(file, disk), 'one');
  assert.ok(read() <= 1024);
});

test('where lines are short, no more than the two ends is read', async (t) => {
  const file = place(t);
  const log = await openJsonl(file, { session: 'one' });
  for (let n = 0; n < 100; n++) await log.append(n, [remark('x'.repeat(1000))]);
  await log.close();
  const { disk, read } = counting();
  assert.equal(glimpse(file, disk).events, 100);
  assert.ok(read() <= 32 * 1024);
});

test('a torn end, a file without a header and an empty one are looked at without an error', async (t) => {
  const file = place(t);
  await long(file, [remark('last')]);
  appendFileSync(file, '{"seq":5,"id":"torn');
  assert.equal(glimpse(file).events, 4);
  writeFileSync(file, 'something else\nentirely\n');
  assert.deepEqual([glimpse(file).session, glimpse(file).events], ['', 0]);
  truncateSync(file);
  assert.deepEqual([glimpse(file).size, glimpse(file).events], [0, 0]);
  assert.throws(() => glimpse(`${file}.none`), { code: 'store/gone' });
});
