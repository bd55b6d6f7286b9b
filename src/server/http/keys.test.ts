// Tests of API keys: creation, file permissions, roles, and that no message contains a key.
import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { loadApiKeys } from './keys.ts';

function folderFor(t: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-keys-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test('[A97] a token of 32 random bytes is created on the first start, is readable by its owner only, and is printed once', (t) => {
  const folder = path.join(folderFor(t), 'state');
  const first = loadApiKeys({ env: {}, folder });
  const made = first.newToken ?? '';
  assert.equal(Buffer.from(made, 'base64url').length, 32);
  const file = path.join(folder, 'server-token');
  if (process.platform !== 'win32') assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.equal(readFileSync(file, 'utf8').trim(), made);
  const second = loadApiKeys({ env: {}, folder });
  assert.equal(second.newToken, undefined);
  assert.equal(second.authenticate(made)?.role, 'operator');
  assert.equal(second.authenticate(`${made}x`), undefined);
  assert.equal(second.authenticate(''), undefined);
  assert.notEqual(loadApiKeys({ env: {}, folder: folderFor(t) }).newToken, made);
});

test(
  '[A97] a token file that other users can read, or that contains no token, is not used',
  { skip: process.platform === 'win32' },
  (t) => {
    const folder = folderFor(t);
    const { newToken = '' } = loadApiKeys({ env: {}, folder });
    const file = path.join(folder, 'server-token');
    chmodSync(file, 0o644);
    assert.throws(
      () => loadApiKeys({ env: {}, folder }),
      (error: Error) => /other users may read/.test(error.message) && !error.message.includes(newToken),
    );
    rmSync(file);
    writeFileSync(file, '\n', { mode: 0o600 });
    assert.throws(() => loadApiKeys({ env: {}, folder }), /contains no token/);
  },
);

test('[A97] HARNESS_API_KEY replaces the token as the operator key; more keys come from the environment and a file', (t) => {
  const folder = folderFor(t);
  const file = path.join(folder, 'keys');
  writeFileSync(file, '# who reads\nreader key-of-the-file\n\nrunner:another-key # and who runs\n');
  const keys = loadApiKeys({
    env: { HARNESS_API_KEY: 'the-own-key', HARNESS_API_KEYS: 'reader:one, runner:two\noperator:three' },
    file,
    folder,
  });
  assert.equal(keys.newToken, undefined);
  const roleOf = (key: string): string | undefined => keys.authenticate(key)?.role;
  assert.deepEqual(['the-own-key', 'one', 'two', 'three', 'key-of-the-file', 'another-key', 'four'].map(roleOf), [
    'operator',
    'reader',
    'runner',
    'operator',
    'reader',
    'runner',
    undefined,
  ]);
  const names = new Set(['one', 'two', 'three'].map((key) => keys.authenticate(key)?.name));
  assert.equal(names.size, 3);
  for (const name of names) assert.match(name ?? '', /^\w+ [0-9a-f]{8}$/);
  const readersOnly = loadApiKeys({ env: { HARNESS_API_KEYS: 'reader:one' }, folder });
  assert.ok(readersOnly.newToken, 'there must be an operator key');
  const ofTenant = loadApiKeys({ env: { HARNESS_API_KEYS: 'operator@acme:four' }, folder: folderFor(t) });
  assert.ok(ofTenant.newToken, 'an operator of one tenant is not the operator of the fleet');
});

test('[A97] an invalid key is reported by its position, never by its value', (t) => {
  const folder = folderFor(t);
  for (const entry of ['writer:hunter2-secret', 'hunter2-secret', 'reader:'])
    assert.throws(
      () => loadApiKeys({ env: { HARNESS_API_KEYS: `reader:fine,${entry}` }, folder }),
      (error: Error) => /entry 2 of HARNESS_API_KEYS/.test(error.message) && !error.message.includes('hunter2'),
    );
  assert.throws(() => loadApiKeys({ env: {}, file: path.join(folder, 'absent'), folder }), /key file cannot be read/);
});
