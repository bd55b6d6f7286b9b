// Gates and comparisons of reports: what was not measured does not pass, and only the same cases are compared.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { readBaseline, readEvalReport } from './baseline.ts';
import { compareReports } from './compare.ts';
import { checkEvalGates, toComparisonGate, type EvalGate } from './gates.ts';
import { formatJunitReport, formatMarkdownReport } from './reports/index.ts';
import { createEvalReport, type EvalReport } from './report.ts';
import { createCaseResult, type EvalTrial } from './results.ts';

const trial = (more: Partial<EvalTrial> = {}): EvalTrial => ({
  trial: 1,
  responded: true,
  right: true,
  abstained: false,
  errors: [],
  reason: 'answered',
  text: 'x',
  durationMs: 1000,
  costUsd: 0.5,
  ...more,
});

const report = (
  cases: Readonly<Record<string, readonly EvalTrial[]>>,
  more: { interrupted?: boolean } = {},
): EvalReport =>
  createEvalReport(
    { dataset: 'd', model: 'm', when: '2030-01-01T00:00:00Z', ...more },
    Object.entries(cases).map(([id, trials]) =>
      createCaseResult({ id, tags: ['t'], must: id.startsWith('must'), expect: {} }, trials),
    ),
  );

const passes = (of: EvalReport, gate: EvalGate): boolean => checkEvalGates(of, [gate])[0]?.passed === true;

test('[A48] a case that must pass fails its gate if one trial is wrong or has no response, or if the evaluation was not finished', () => {
  const must: EvalGate = { type: 'must' };
  assert.ok(passes(report({ 'must-a': [trial(), trial({ trial: 2 })], b: [trial({ right: false })] }), must));
  assert.ok(!passes(report({ 'must-a': [trial(), trial({ trial: 2, right: false })] }), must));
  assert.ok(!passes(report({ 'must-a': [trial(), trial({ trial: 2, responded: false, right: false })] }), must));
  assert.ok(!passes(report({ b: [trial()] }, { interrupted: true }), must));
});

test('[A48] limits of cost and time fail if they are exceeded or not known', () => {
  const two = report({ a: [trial()], b: [trial({ judgeUsd: 0.25 })] });
  assert.ok(passes(two, { type: 'cost', maxUsd: 1.25 }));
  assert.ok(!passes(two, { type: 'cost', maxUsd: 1.24 }));
  const { costUsd: _, ...unpriced } = trial();
  assert.ok(!passes(report({ a: [unpriced] }), { type: 'cost', maxUsd: 9 }));
  assert.ok(passes(two, { type: 'latency', maxMs: 1000 }));
  assert.ok(!passes(two, { type: 'latency', maxMs: 999 }));
  const none = report({ a: [trial({ responded: false })] });
  assert.ok(!passes(none, { type: 'latency', maxMs: 1e9 }));
  assert.ok(!passes(none, { type: 'rate', atLeast: 0, bound: 'value' }));
});

test('[A48] a minimum is a rate or the lower end of its interval, of all cases or of a tag', () => {
  const nine = report(Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`c${i}`, [trial({ right: i > 0 })]])));
  assert.ok(passes(nine, { type: 'rate', atLeast: 0.9, bound: 'value' }));
  assert.ok(!passes(nine, { type: 'rate', atLeast: 0.91, bound: 'value' }));
  assert.ok(passes(nine, { type: 'rate', atLeast: 0.59, bound: 'lower', tag: 't' }));
  assert.ok(!passes(nine, { type: 'rate', atLeast: 0.6, bound: 'lower', tag: 't' }));
  assert.ok(!passes(nine, { type: 'rate', atLeast: 0, bound: 'value', tag: 'toString' }));
});

test('[A48] only cases that both reports measured are compared; a report of format 1 is still read', (t) => {
  const before = report({ a: [trial()], b: [trial()], gone: [trial()], silent: [trial({ responded: false })] });
  const after = report({ a: [trial()], b: [trial({ right: false })], fresh: [trial()], silent: [trial()] });
  const compared = compareReports(before, after);
  assert.deepEqual(compared.worse, [{ id: 'b', before: 1, after: 0 }]);
  assert.deepEqual([compared.all.pairs, compared.unpaired.toSorted()], [2, ['fresh', 'gone', 'silent']]);
  assert.equal(compared.verdict, 'no-clear-change');
  assert.equal(compareReports(report({}), report({})).verdict, 'no-clear-change');

  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-format-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'old.json');
  const { cost: _, reliable: __, ...rest } = after;
  const cases = rest.cases.map(({ trials: ___, must: ____, ...each }) => each);
  writeFileSync(file, JSON.stringify({ ...rest, format: 1, cases }));
  assert.equal(readBaseline(file).cases.length, 4);
  assert.deepEqual(
    readEvalReport(file).cases.map(({ trials }) => trials.length),
    [1, 1, 1, 1],
  );
  writeFileSync(file, JSON.stringify({ ...rest, format: 2, cases }));
  assert.throws(() => readEvalReport(file), { code: 'eval/bad-baseline' });
  writeFileSync(file, JSON.stringify({ ...rest, format: 3, cases }));
  assert.throws(() => readBaseline(file), { code: 'eval/bad-baseline' });
});

test('[A48] every gate and every comparison is a test of JUnit with a name of its own, and names survive as they are', () => {
  const own = report({ 'a\n\tb': [trial()], 'c\u001Bd': [trial({ right: false, errors: ['Wrong.'] })] });
  const rates: readonly EvalGate[] = [
    { type: 'rate', atLeast: 0, bound: 'value' },
    { type: 'rate', atLeast: 1, bound: 'lower' },
  ];
  const gates = [...checkEvalGates(own, rates), toComparisonGate('the baseline', true), toComparisonGate('b', false)];
  const xml = formatJunitReport(own, gates);
  assert.deepEqual(
    [...xml.matchAll(/<testcase classname="gates" name="([^"]*)"(\/?)>/g)].map(([, name, passed]) => [name, passed]),
    [
      ['rate', '/'],
      ['rate, lower end of the interval', ''],
      ['comparison with the baseline', ''],
      ['comparison with b', '/'],
    ],
  );
  assert.match(xml, /tests="6" failures="3"/);
  assert.match(xml, /name="a&#10;&#9;b"/);
  const markdown = formatMarkdownReport(own, gates, compareReports(own, own));
  assert.match(markdown, /\*\*failed\*\*: Worse than the baseline, by more than chance explains\./);
  assert.match(markdown, /: \+0\.0 points .* no clear change\./);
  assert.ok(!markdown.includes('\u001B'));
});
