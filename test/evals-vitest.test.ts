// vitest-evals against an agent of the built library: the example runs, its report has the tool calls, and a changed expectation fails.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';

const root = path.resolve(import.meta.dirname, '..');
const example = path.join(root, 'examples/evals/vitest-evals/fairlead.eval.mjs');

/** The folder in which vitest and vitest-evals are installed. */
const installed = process.env['FAIRLEAD_TEST_VITEST_EVALS'] ?? '';
const skip = !existsSync(path.join(installed, 'node_modules/vitest-evals/package.json'))
  ? 'vitest-evals is not installed (FAIRLEAD_TEST_VITEST_EVALS)'
  : existsSync(path.join(root, 'dist/index.js'))
    ? false
    : 'the package is not built';

type VitestReport = {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly {
    readonly assertionResults: readonly { readonly title: string; readonly status: string; readonly meta?: unknown }[];
  }[];
};

/** Runs the example with one text replaced, and returns the report. */
async function runVitest(t: TestContext, from = '', to = ''): Promise<VitestReport> {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-vitest-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const modules = path.join(folder, 'node_modules');
  mkdirSync(modules);
  for (const name of ['vitest', 'vitest-evals', 'vite'])
    symlinkSync(path.join(installed, 'node_modules', name), path.join(modules, name));
  symlinkSync(root, path.join(modules, 'fairlead'));
  const file = path.join(folder, path.basename(example));
  const text = readFileSync(example, 'utf8');
  assert.ok(text.includes(from));
  writeFileSync(file, from === '' ? text : text.replace(from, to));
  const report = path.join(folder, 'report.json');
  const vitest = path.join(installed, 'node_modules/vitest/vitest.mjs');
  const reporters = ['--reporter=vitest-evals/reporter', '--reporter=json', `--outputFile.json=${report}`];
  const args = [vitest, 'run', '--root', folder, '--testTimeout=60000', ...reporters];
  writeFileSync(path.join(folder, 'vitest.config.mjs'), "export default { test: { include: ['*.eval.mjs'] } };\n");
  const output = await new Promise<string>((resolve) => {
    const options = { cwd: folder, timeout: 120_000, env: { PATH: process.env['PATH'], HOME: folder } };
    execFile(process.execPath, args, options, (_, out, err) => resolve(`${out}${err}`));
  });
  assert.ok(existsSync(report), output);
  const kept = process.env['FAIRLEAD_TEST_VITEST_EVALS_REPORTS'];
  if (kept !== undefined) {
    copyFileSync(report, path.join(kept, from === '' ? 'report.json' : 'report-changed.json'));
    writeFileSync(path.join(kept, from === '' ? 'output.txt' : 'output-changed.txt'), output);
  }
  return JSON.parse(readFileSync(report, 'utf8')) as VitestReport;
}

test('[A121] the example for vitest-evals checks answers, tool calls and a judge', () => {
  const text = readFileSync(example, 'utf8');
  for (const part of [
    'createHarness(',
    'createJudge(',
    'describeEval(',
    'toolCalls(result)',
    "from 'fairlead/coding-agent'",
  ])
    assert.ok(text.includes(part), part);
});

test(
  '[A121] vitest-evals runs an agent of the library and reports its tool calls',
  { skip, timeout: 180_000 },
  async (t) => {
    const report = await runVitest(t);
    const results = report.testResults.flatMap(({ assertionResults }) => assertionResults);
    assert.deepEqual([report.numPassedTests, report.numFailedTests], [2, 0], JSON.stringify(results).slice(0, 2000));
    assert.match(JSON.stringify(results[0]?.meta), /"name":"read_file","arguments":\{"path":"app\.ini"\}/);
    assert.match(JSON.stringify(results[0]?.meta), /BriefJudge/);
  },
);

test('[A121] vitest-evals fails for an agent that guesses', { skip, timeout: 180_000 }, async (t) => {
  const report = await runVitest(t, 'results.length === 0 ?', 'results.length > 9 ?');
  assert.deepEqual([report.numPassedTests, report.numFailedTests], [1, 1]);
});
