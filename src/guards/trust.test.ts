import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { fileTrust, memoryTrust } from './trust.ts';

function createTrustFile(t: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'trust-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return path.join(folder, 'state', 'trust.json');
}

test('an item counts as approved only with the hash that was approved last', (t) => {
  for (const trust of [memoryTrust(), fileTrust(createTrustFile(t))]) {
    const item = { subject: 'server a', hash: '1' };
    assert.equal(trust.check(item), 'new');
    trust.approve([item]);
    assert.equal(trust.check(item), 'approved');
    assert.equal(trust.check({ ...item, hash: '2' }), 'changed');
    trust.approve([{ ...item, hash: '2' }]);
    assert.equal(trust.check(item), 'changed');
    assert.deepEqual(trust.list(), [{ subject: 'server a', hash: '2' }]);
    assert.equal(trust.revoke('server a'), true);
    assert.equal(trust.revoke('server a'), false);
    assert.equal(trust.check({ ...item, hash: '2' }), 'new');
  }
});

test('a subject with a name such as constructor is not approved by default', (t) => {
  const trust = fileTrust(createTrustFile(t));
  assert.equal(trust.check({ subject: 'constructor', hash: '1' }), 'new');
  trust.approve([{ subject: '__proto__', hash: '1' }]);
  assert.equal(trust.check({ subject: '__proto__', hash: '1' }), 'approved');
  assert.equal(trust.check({ subject: 'toString', hash: '1' }), 'new');
});

test('approvals are stored in a file that only its owner can read', (t) => {
  const file = createTrustFile(t);
  fileTrust(file).approve([{ subject: 'a', hash: '1' }]);
  fileTrust(file).approve([{ subject: 'b', hash: '2' }]);
  assert.equal(fileTrust(file).check({ subject: 'a', hash: '1' }), 'approved');
  if (process.platform !== 'win32') assert.equal(statSync(file).mode & 0o777, 0o600);
});

test('an approvals file that is writable by others, a link or broken approves nothing and is reported', (t) => {
  const file = createTrustFile(t);
  const trust = fileTrust(file);
  trust.approve([{ subject: 'a', hash: '1' }]);
  const judge = (): unknown => trust.check({ subject: 'a', hash: '1' });
  if (process.platform !== 'win32') {
    chmodSync(file, 0o620);
    assert.throws(judge, { code: 'trust/unsafe' });
    chmodSync(file, 0o600);
  }
  writeFileSync(file, '{"approved": {"a": 1}}');
  assert.throws(judge, { code: 'trust/broken' });
  writeFileSync(file, '{');
  assert.throws(judge, { code: 'trust/broken' });
  rmSync(file);
  writeFileSync(`${file}.other`, '{"approved": {"a": "1"}}', { mode: 0o600 });
  symlinkSync(`${file}.other`, file);
  assert.throws(judge, { code: 'trust/unsafe' });
});
