import assert from 'node:assert/strict';
import { withTax } from './src/price.mjs';
import { formatRate, getRate } from './src/tax.mjs';

assert.equal(getRate(), 0.19);
assert.equal(withTax(100), 119);
assert.equal(formatRate(), '19 %');
