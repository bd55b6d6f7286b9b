import assert from 'node:assert/strict';
import { sortByAge } from './people.mjs';

const people = [
  { n: 'a', age: 3 },
  { n: 'b', age: 1 },
  { n: 'c', age: 3 },
  { n: 'd', age: 1 },
];
const copy = structuredClone(people);
const names = sortByAge(people).map(({ n }) => n);
assert.deepEqual(people, copy);
assert.deepEqual(names, ['b', 'd', 'a', 'c']);
