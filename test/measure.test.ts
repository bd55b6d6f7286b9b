// What tests count for the scorecard: each claim that says so is counted by a test, and no test counts for a claim that is none.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { parseMeasuredIds, parseMeasurement } from '../scripts/measure/diagnostic.ts';
import { scorecardClaims } from '../src/fleet/health/scorecard.ts';

const root = path.resolve(import.meta.dirname, '..');

test('[A96] every claim that tests are to count is counted by one, and none counts for a claim that is none', () => {
  const sources = globSync(['src/**/*.test.ts', 'test/**/*.test.ts'], { cwd: root });
  const counted = new Set(sources.flatMap((file) => parseMeasuredIds(readFileSync(path.join(root, file), 'utf8'))));
  const wanted = scorecardClaims.filter(({ command }) => command === 'npm run measure').map(({ id }) => id);
  assert.deepEqual([...counted].toSorted(), wanted.toSorted());
});

test('[A96] every command that a claim names is one', () => {
  const { scripts } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { scripts: object };
  for (const { id, command } of scorecardClaims) {
    const script = /^npm run (\w+)/.exec(command)?.[1];
    assert.ok(script === undefined ? command === 'fairlead eval' : script in scripts, `${id}: ${command}`);
  }
});

test('[A96] a remark is a measurement only in full', () => {
  assert.deepEqual(parseMeasurement('measured prefix-kept 12/13'), { id: 'prefix-kept', good: 12, total: 13 });
  for (const other of [
    'measured prefix-kept',
    'measured x 1 of 2',
    ' measured x 1/2',
    'measured x -1/2',
    'prefix-kept 1/2',
  ])
    assert.equal(parseMeasurement(other), undefined, other);
});
