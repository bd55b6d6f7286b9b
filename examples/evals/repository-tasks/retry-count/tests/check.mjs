import assert from 'node:assert/strict';
import { retry } from './retry.mjs';

let count = 0;
const fail = () => {
  count++;
  throw new Error(`failure ${count}`);
};
await assert.rejects(retry(fail, 3), /failure 3/);
assert.equal(count, 3);
assert.equal(await retry(async () => 7, 1), 7);
