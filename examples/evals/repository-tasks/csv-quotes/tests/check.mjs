import assert from 'node:assert/strict';
import { parseRow } from './csv.mjs';

assert.deepEqual(parseRow('a,b,c'), ['a', 'b', 'c']);
assert.deepEqual(parseRow('a,"b, c",d'), ['a', 'b, c', 'd']);
assert.deepEqual(parseRow('"say ""hi""",2'), ['say "hi"', '2']);
assert.deepEqual(parseRow('a,,'), ['a', '', '']);
