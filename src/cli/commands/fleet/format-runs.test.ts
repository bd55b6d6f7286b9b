// The line of an outcome says whether it has all of the answer.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { FleetRun } from '../../../core/index.ts';
import { isOutcomeCut } from './format-runs.ts';

test('an answer of several lines, or a long one, is known to be cut', () => {
  const isCut = (text: string): boolean => isOutcomeCut({ reason: 'answered', text } as FleetRun['outcome']);
  assert.deepEqual([isCut('Done.\n'), isCut('Done.\nAll 3 files.'), isCut('a'.repeat(71))], [false, true, true]);
  assert.equal(isOutcomeCut(undefined), false);
});
