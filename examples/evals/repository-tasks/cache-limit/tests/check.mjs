import assert from 'node:assert/strict';
import { createCache } from './cache.mjs';

const cache = createCache(2);
cache.set('a', 1);
cache.set('b', 2);
cache.get('a');
cache.set('c', 3);
assert.equal(cache.size(), 2);
assert.equal(cache.get('b'), undefined);
assert.equal(cache.get('a'), 1);
assert.equal(cache.get('c'), 3);
