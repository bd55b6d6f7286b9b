import assert from 'node:assert/strict';
import { find } from './search.mjs';

for (let size = 0; size < 20; size++) {
  const list = Array.from({ length: size }, (_, i) => 2 * i);
  for (let i = 0; i < size; i++) assert.equal(find(list, 2 * i), i);
  assert.equal(find(list, 3), -1);
}
