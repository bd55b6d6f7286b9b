// Tests of idempotent enqueueing: the same request is the same run, also while the run rests.
import assert from 'node:assert/strict';
import test from 'node:test';
import { createFleetRun } from '../../test/support/run-fixture.ts';
import { findRunDifference } from './enqueue-once.ts';

const requested = { id: 'r', prompt: 'Go.' };
const known = createFleetRun({ id: 'r', prompt: 'Go.', kind: 'run', status: 'queued' });
const notBefore = '2090-01-01T00:00:00.000Z';

test('a repeated request is the same run while the run rests until its provider accepts requests', () => {
  assert.equal(findRunDifference({ ...known, started: '2026-01-01T00:00:01.000Z', notBefore }, requested), undefined);
  const started = { ...known, started: '2026-01-01T00:00:01.000Z' };
  assert.deepEqual(findRunDifference(started, { ...requested, prompt: 'Stop.' })?.[0], 'prompt');
});

test('a request for another time is another run until the run has started', () => {
  assert.equal(findRunDifference({ ...known, notBefore }, requested)?.[0], 'notBefore');
  assert.equal(findRunDifference({ ...known, notBefore }, { ...requested, notBefore }), undefined);
});
