import assert from 'node:assert/strict';
import { capitalize, slugify } from './text.mjs';

assert.equal(slugify('Crème Brûlée!'), 'creme-brulee');
assert.equal(slugify('  A -- b  '), 'a-b');
assert.equal(slugify('!!!'), '');
assert.equal(capitalize('word'), 'Word');
