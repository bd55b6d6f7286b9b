// Measurements for the scorecard: tests report counts, and `npm run measure` adds them up and saves them where the scorecard reads them.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { parseMeasurement } from '../scripts/measure/diagnostic.ts';
import { createScorecard, getMeasurementsDir, readMeasurements } from '../src/fleet/health/index.ts';

const script = path.resolve(import.meta.dirname, '../scripts/measure.ts');

/** Runs the script over a repository with these tests, in a home directory of its own. */
function measure(t: TestContext, tests: Readonly<Record<string, string>>) {
  const root = mkdtempSync(path.join(tmpdir(), 'fairlead-measure-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  mkdirSync(path.join(root, 'test'));
  writeFileSync(path.join(root, 'package.json'), '{ "type": "module" }');
  for (const [name, body] of Object.entries(tests))
    writeFileSync(path.join(root, 'test', `${name}.test.ts`), `import test from 'node:test';\n${body}\n`);
  const { NODE_TEST_CONTEXT: _, ...inherited } = process.env;
  const env = { ...inherited, HOME: root, XDG_STATE_HOME: path.join(root, 'state'), XDG_CONFIG_HOME: root };
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, '--root', root], {
    encoding: 'utf8',
    env,
    cwd: root,
  });
  const rows = createScorecard(readMeasurements(getMeasurementsDir(path.join(root, 'state/fairlead'))));
  return { status, stdout, stderr, row: (id: string) => rows.find((each) => each.id === id) };
}

test('[A96] counts of several tests are added up, saved, and shown by the scorecard with the command', (t) => {
  const report = (good: number, total: number): string =>
    `test('counts', (t) => { const n = ${good}; t.diagnostic(\`measured prefix-kept \${n}/${total}\`); });`;
  const { status, stdout, stderr, row } = measure(t, {
    a: report(10, 10),
    b: report(4, 5),
    c: `test('counts nothing', () => {});`,
  });
  assert.equal(status, 0, stderr);
  assert.match(stdout, /^prefix-kept +14 of 15$/m);
  const saved = row('prefix-kept');
  assert.deepEqual([saved?.measured, saved?.measured && saved.good, saved?.measured && saved.total], [true, 14, 15]);
});

test('[A96] a test that fails measures nothing, and an earlier figure is removed', (t) => {
  const { status, stdout, row } = measure(t, {
    a: `test('fails', (t) => { const n = 1; if (n === 1) throw new Error('no'); t.diagnostic(\`measured prefix-kept \${n}/1\`); });`,
  });
  assert.equal(status, 1);
  assert.match(stdout, /^prefix-kept +not measured$/m);
  assert.equal(row('prefix-kept')?.measured, false);
});

test('[A96] a diagnostic is a measurement only in full', () => {
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
