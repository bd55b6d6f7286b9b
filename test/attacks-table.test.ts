// The table of attacks: a row shows what tests observed, and passes only with an allowed outcome.
import assert from 'node:assert/strict';
import test from 'node:test';
import { parseAttackObservation } from '../scripts/attacks/catalogue.ts';
import { createReportRow } from '../scripts/attacks/report-row.ts';

test('a row shows the observed outcomes, and passes only if all of them are allowed', () => {
  const standing = { passed: 1, failed: 0, skipped: 0, saw: ['blocked', 'blocked'], figures: ['3 tried'] };
  assert.deepEqual(createReportRow(6, standing), {
    line: '| 6 | redirection into startup files | blocked | blocked (3 tried) | 1 |',
    isRight: true,
    isSkipped: false,
  });
  for (const wrong of [
    { ...standing, saw: ['blocked', 'asked'] },
    { ...standing, saw: ['done'] },
    { ...standing, saw: [] },
    { ...standing, failed: 1 },
    undefined,
  ])
    assert.equal(createReportRow(6, wrong).isRight, false);
  const skipped = createReportRow(6, { passed: 0, failed: 0, skipped: 1, saw: [], figures: [] });
  assert.match(skipped.line, /skipped here/);
  assert.deepEqual([skipped.isRight, skipped.isSkipped], [true, true]);
});

test('an observation of a test is parsed, and any other text is ignored', () => {
  assert.deepEqual(parseAttackObservation('attack 24 saw blocked, asked (0 escapes of 10,000)'), {
    attack: 24,
    saw: ['blocked', 'asked'],
    figure: '0 escapes of 10,000',
  });
  assert.deepEqual(parseAttackObservation('attack 3 saw done'), { attack: 3, saw: ['done'] });
  assert.equal(parseAttackObservation('something else'), undefined);
});
