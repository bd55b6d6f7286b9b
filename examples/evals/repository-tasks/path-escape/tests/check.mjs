import assert from 'node:assert/strict';
import path from 'node:path';
import { resolveUpload } from './upload.mjs';

assert.equal(resolveUpload('/data', 'a/b.txt'), path.join('/data', 'a', 'b.txt'));
for (const name of ['../x', 'a/../../x', '..', '/etc/hosts', '../data-other/x', ''])
  assert.throws(() => resolveUpload('/data', name), undefined, JSON.stringify(name));
