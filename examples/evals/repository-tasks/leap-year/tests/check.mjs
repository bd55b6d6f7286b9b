import assert from 'node:assert/strict';
import { isLeapYear } from './leap-year.mjs';

for (const year of [2000, 2024, 1600]) assert.equal(isLeapYear(year), true, String(year));
for (const year of [1900, 2023, 2100]) assert.equal(isLeapYear(year), false, String(year));
