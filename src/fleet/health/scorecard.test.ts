// Tests of the scorecard: it shows measured results only, whatever files its folder contains.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { getMeasurementsDir, readMeasurements, saveMeasurement, type Measurement } from './measurements.ts';
import { scorecardClaims, createScorecard } from './scorecard.ts';

function folderFor(t: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-measured-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return getMeasurementsDir(folder);
}

const attacks: Measurement = {
  id: 'attacks-refused',
  good: 60,
  total: 60,
  when: '2030-01-02T03:04:05.678Z',
  how: 'npm run attacks -- --save',
};

test('[A96] without measurements every row is marked as not measured, and none has a figure', (t) => {
  const rows = createScorecard(readMeasurements(folderFor(t)));
  assert.ok(rows.length >= 8);
  assert.deepEqual(
    rows,
    scorecardClaims.map((claim) => ({ ...claim, measured: false })),
  );
});

test('[A96] a measurement is shown with its counts, interval, time and command', (t) => {
  const folder = folderFor(t);
  saveMeasurement(folder, { ...attacks, good: 1 });
  saveMeasurement(folder, attacks);
  assert.deepEqual(readdirSync(folder), ['attacks-refused.json'], 'one file per claim, and no temporary file');
  const rows = createScorecard(readMeasurements(folder));
  const row = rows.find(({ id }) => id === attacks.id);
  const others = rows.filter(({ id }) => id !== attacks.id);
  assert.ok(row?.measured);
  assert.deepEqual([row.good, row.total, row.when, row.how], [60, 60, attacks.when, attacks.how]);
  assert.deepEqual(
    row.interval.map((end) => end.toFixed(4)),
    ['0.9398', '1.0000'],
    'the interval of 60 of 60 is not exactly 100 %',
  );
  assert.ok(others.every(({ measured }) => !measured));
});

test('[A96] of two measurements of one claim the later one counts', () => {
  const earlier = { ...attacks, good: 1, when: '2029-01-01T00:00:00Z' };
  for (const both of [
    [attacks, earlier],
    [earlier, attacks],
  ]) {
    const row = createScorecard(both).find(({ id }) => id === attacks.id);
    assert.ok(row?.measured && row.good === 60);
  }
});

test('[A96] a damaged, unrelated or implausible file counts as not measured', (t) => {
  const folder = folderFor(t);
  mkdirSync(path.join(folder, 'effects-once.json'), { recursive: true });
  const whole = { format: 1, ...attacks };
  const bad: Readonly<Record<string, unknown>> = {
    'cut short': '{"format":1,"id":"attacks-ref',
    'no object': '[]',
    'another format': { ...whole, format: 2 },
    'more good than there are': { ...whole, good: 61 },
    'of nothing': { ...whole, good: 0, total: 0 },
    'a fraction': { ...whole, good: 0.5 },
    'less than nothing': { ...whole, good: -1 },
    'no time': { ...whole, when: 'yesterday' },
    'no such month': { ...whole, when: '2030-13-01T00:00:00Z' },
    'no command': { ...whole, how: '' },
    'about a number': { ...whole, about: 7 },
    'the id of another': { ...whole, id: 'prefix-kept' },
    'too long': `${JSON.stringify(whole)}${' '.repeat(200_000)}`,
  };
  for (const [why, value] of Object.entries(bad)) {
    writeFileSync(path.join(folder, 'attacks-refused.json'), typeof value === 'string' ? value : JSON.stringify(value));
    assert.deepEqual(readMeasurements(folder), [], why);
  }
  writeFileSync(path.join(folder, 'attacks-refused.json'), JSON.stringify(whole));
  assert.equal(readMeasurements(folder).length, 1);
  assert.throws(() => saveMeasurement(folder, { ...attacks, id: '../elsewhere' }), /Invalid measurement/);
  assert.throws(() => saveMeasurement(folder, { ...attacks, total: 0 }), /Invalid measurement/);
});
