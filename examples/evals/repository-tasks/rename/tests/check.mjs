import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { report } from './src/report.mjs';
import { sum } from './src/sum.mjs';

assert.equal(sum([1, 2, 3]), 6);
assert.equal(report([1, 2, 3]), '6 in all, 2 on average');
for (const name of readdirSync('src')) assert.ok(!readFileSync(`src/${name}`, 'utf8').includes('calc'), name);
