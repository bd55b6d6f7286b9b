// The table of attacks: complete, honest about what was seen, and in step with the catalogue it is held to.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { attacks, parseAttackObservation } from '../scripts/attacks/catalogue.ts';
import { createReportRow } from '../scripts/attacks/report-row.ts';

const range = (from: number, to: number): readonly number[] =>
  Array.from({ length: to - from + 1 }, (_, at) => from + at);

test('every attack that we are held to is in the table', () => {
  assert.deepEqual(Object.keys(attacks).map(Number), [...range(1, 51), ...range(70, 87)]);
});

test('a row tells what was seen, and is right only where that may be', () => {
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

test('a remark of a test is read as it was meant, and any other is none', () => {
  assert.deepEqual(parseAttackObservation('attack 24 saw blocked, asked (0 escapes of 10,000)'), {
    attack: 24,
    saw: ['blocked', 'asked'],
    figure: '0 escapes of 10,000',
  });
  assert.deepEqual(parseAttackObservation('attack 3 saw done'), { attack: 3, saw: ['done'] });
  assert.equal(parseAttackObservation('something else'), undefined);
});

const catalogue = path.resolve(import.meta.dirname, '../../shared/catalogue/attacks.md');
const absent = existsSync(catalogue) ? false : 'the catalogue of attacks is not here';
const catalogueOutcomes = { D: 'blocked', A: 'asked', S: 'contained' } as const;

test('what may become of an attack is no more than its line in the catalogue allows', { skip: absent }, () => {
  for (const line of readFileSync(catalogue, 'utf8').split('\n')) {
    const [, id, wanted = ''] = /^(\d+)\. .* -> (.*)$/.exec(line) ?? [];
    const [, ...may] = attacks[Number(id)] ?? [];
    const [, first] = /^([DAS](?:\/[DAS])?)(?=$|[ ;:,.])/.exec(wanted) ?? [];
    if (id === undefined || may.length === 0 || first === undefined) continue;
    const allowed = first.split('/').map((letter) => catalogueOutcomes[letter as keyof typeof catalogueOutcomes]);
    assert.ok(
      may.some((each) => allowed.some((one) => one === each)),
      `attack ${id}: ${may.join(', ')} for ${wanted}`,
    );
  }
});
