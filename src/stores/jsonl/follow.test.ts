// Following a session file that another program changes.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { openJsonl, realDisk, type Disk } from '../index.ts';

test('following a file that is truncated under its writer does not loop', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-follow-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'a.jsonl');
  let left = 1000;
  const read: Disk['read'] = (...given) => {
    if (--left < 0) throw new Error('It reads and reads.');
    return realDisk.read(...given);
  };
  const log = await openJsonl(file, { disk: { ...realDisk, read } });
  await log.append(0, [{ type: 'annotation-added', key: 'k', value: 1 }]);
  truncateSync(file, 10);
  const stop = new AbortController();
  const next = log.follow(0, stop.signal)[Symbol.asyncIterator]().next();
  stop.abort();
  assert.equal((await next).done, true);
  await log.close().catch(() => {});
});
