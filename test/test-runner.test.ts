// The test runner counts correctly, lists skipped tests with their reasons, and fails when anything is wrong.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { orderTestFiles } from '../scripts/test-order.ts';
import { maxFilesAtOnce, minFilesAtOnce, runQueue } from '../scripts/test-queue.ts';
import { eventually } from './support/eventually.ts';

const runner = path.resolve(import.meta.dirname, '../scripts/test.ts');

function runTests(t: test.TestContext, files: Readonly<Record<string, string>>, ...args: string[]) {
  const root = mkdtempSync(path.join(tmpdir(), 'fairlead-runner-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  writeFileSync(path.join(root, 'package.json'), '{ "type": "module" }');
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(root, name.includes('/') ? '' : 'test', `${name}.test.ts`);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, `import test, { describe, before } from 'node:test';\n${text}\n`);
  }
  // Without this the inner runner treats itself as a test file of the outer one and runs nothing.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const { status, stdout } = spawnSync(process.execPath, [runner, '--root', root, ...args], { encoding: 'utf8', env });
  return { status, stdout, lastLine: stdout.trimEnd().split('\n').at(-1) };
}

test('passing and skipped tests: exit code 0, the skip by name with its reason, the counts last', (t) => {
  const ended = runTests(t, { a: `test('adds', () => {});\ntest('stores', { skip: 'needs PostgreSQL' }, () => {});` });
  assert.equal(ended.lastLine, '1 passed, 0 failed, 1 skipped');
  assert.match(ended.stdout, /^skipped: stores \(test\/a\.test\.ts:3\): needs PostgreSQL$/m);
  assert.equal(ended.status, 0);
});

const failureCases: Readonly<Record<string, readonly [text: string, said: RegExp]>> = {
  'a test throws': [
    `test('adds', () => { throw new Error('boom'); });`,
    /failed: adds\n {2}at \S+\.test\.ts:2\n {2}Error: boom/,
  ],
  'a test in a suite throws': [
    `describe('sums', () => { test('adds', () => { throw new Error('boom'); }); });`,
    /failed: sums > adds/,
  ],
  'a hook throws': [
    `describe('sums', () => { before(() => { throw new Error('boom'); }); });`,
    /failed: sums\n.*\n.*boom/,
  ],
  'a skip has no reason': [`test.skip('adds', () => {});`, /failed: adds\n.*\n.*skipped without a reason/],
  'a file does not load': [`import './absent.ts';`, /ended before its tests did\n.*\n.*Cannot find module/s],
  'a file has no test': [``, /failed: the file is empty/],
  'a file exits early': [`test('adds', () => { process.exit(0); });`, /failed: /],
};
test(`the run fails when ${Object.keys(failureCases).join(', ')}`, (t) => {
  const cases = Object.values(failureCases).map(([text, said], i) => ({
    name: String.fromCharCode(97 + i),
    text,
    said,
  }));
  const ended = runTests(t, Object.fromEntries(cases.map(({ name, text }) => [name, text])));
  for (const { name, said } of cases) assertFailure(ended.stdout, `test/${name}`, said);
  assert.equal(ended.lastLine, `0 passed, ${cases.length} failed, 0 skipped`);
  assert.equal(ended.status, 1);
});

test(`in a process that several files share, the run fails when ${Object.keys(failureCases).join(', ')}`, (t) => {
  const cases = Object.values(failureCases).map(([text, said], i) => ({ name: `src/sums${i}/a`, text, said }));
  const files = cases.map(({ name, text }) => ({
    [name]: text.replace('process.exit', 'process["exit"]'),
    [name.replace(/a$/, 'b')]: `test('subtracts', () => {});`,
  }));
  const ended = runTests(t, Object.assign({}, ...files) as Readonly<Record<string, string>>);
  for (const { name, said } of cases) assertFailure(ended.stdout, name, said);
  assert.equal(ended.lastLine, `${cases.length} passed, ${cases.length} failed, 0 skipped`);
  assert.equal(ended.status, 1);
});

test('a file that fails again when it is run alone is a failure', (t) => {
  const ended = runTests(t, { a: `test('adds', () => { throw new Error('boom'); });` });
  assertFailure(ended.stdout, 'test/a', /failed: adds/);
  assert.equal(ended.lastLine, '0 passed, 1 failed, 0 skipped');
  assert.equal(ended.status, 1);
});

/** Throws unless the report has exactly one failure of this file, with this text. */
function assertFailure(stdout: string, file: string, said: RegExp): void {
  const failures = stdout.split(/\n(?=failed: )/).filter((text) => text.startsWith('failed: '));
  const own = failures.filter((text) => text.includes(`\n  at ${file}.test.ts`));
  assert.equal(own.length, 1, `${file}: ${stdout}`);
  assert.match(own[0] ?? '', said);
}

test('unit tests share a process, and so do tests in the browser and other tests; a file that changes its process does not', (t) => {
  const print = (name: string): string => `test('${name}', () => console.log('${name} in', process.pid));`;
  const ended = runTests(
    t,
    {
      'src/sums/a': print('a'),
      'src/sums/b': print('b'),
      'src/sums/c': `process.env['X'] = '1';\n${print('c')}`,
      'web-d': print('d'),
      'web-e': print('e'),
      f: print('f'),
      g: print('g'),
      h: `process.env['X'] = '1';\n${print('h')}`,
      // Its test is in another file, as those of a conformance test are; it must not run twice.
      i: `await import('data:text/javascript,import test from "node:test"; test("i", () => console.log("i in", process.pid));');`,
    },
    '--verbose',
  );
  const pid = (name: string): string | undefined => new RegExp(`${name} in (\\d+)`).exec(ended.stdout)?.[1];
  assert.equal(ended.lastLine, '9 passed, 0 failed, 0 skipped');
  assert.equal(pid('a'), pid('b'));
  assert.equal(pid('f'), pid('g'));
  assert.equal(new Set(['a', 'c', 'd', 'f', 'h', 'i'].map(pid)).size, 6);
  assert.equal(pid('d'), pid('e'));
});

test('further files begin while the processors are idle, up to a limit, and none while they are busy', async () => {
  const files = Array.from({ length: 3 * maxFilesAtOnce }, (_, index) => String(index));
  for (const [idleShare, expected] of [
    [0, minFilesAtOnce],
    [1, maxFilesAtOnce],
  ] as const) {
    const begun: string[] = [];
    let running = 0;
    let samples = 0;
    let mostRunning = 0;
    const runFile = async (file: string): Promise<void> => {
      begun.push(file);
      mostRunning = Math.max(mostRunning, ++running);
      // No file ends before the processors were measured often enough to start too many.
      await eventually('enough measurements', async () => samples > (idleShare === 0 ? 2 : maxFilesAtOnce));
      running -= 1;
    };
    const { mostAtOnce } = await runQueue(files, runFile, () => {
      samples += 1;
      return idleShare;
    });
    assert.deepEqual([begun, mostAtOnce, mostRunning, running], [files, expected, expected, 0]);
  }
});

const failsOnce = `import { existsSync, writeFileSync } from 'node:fs';
test('adds', () => {
  const ran = import.meta.filename + '.ran';
  if (existsSync(ran)) return;
  writeFileSync(ran, '');
  throw new Error('boom');
});`;

test('a test that fails, and passes when its file is run again alone, is reported as unstable with its error', (t) => {
  const ended = runTests(t, { a: failsOnce, b: `test('stays', () => {});` });
  assert.match(ended.stdout, /^unstable: adds\n {2}at test\/a\.test\.ts:3\n.* passed when .*\n {2}Error: boom/m);
  assert.equal(ended.lastLine, '2 passed, 0 failed, 0 skipped');
  assert.equal(ended.status, 0);
});

test('with more than three failed files none is run again', (t) => {
  const ended = runTests(t, { a: failsOnce, b: failsOnce, c: failsOnce, d: failsOnce });
  assert.equal(ended.lastLine, '0 passed, 4 failed, 0 skipped');
  assert.equal(ended.status, 1);
});

test('a pattern selects files, and one that matches none is a failure', (t) => {
  const files = { a: `test('adds', () => {});`, b: `test('takes away', () => {});` };
  assert.equal(runTests(t, files, 'test/a').lastLine, '1 passed, 0 failed, 0 skipped');
  assert.equal(runTests(t, files, 'test/*.test.ts').lastLine, '2 passed, 0 failed, 0 skipped');
  assert.equal(runTests(t, files, '--name', 'takes').lastLine, '1 passed, 0 failed, 0 skipped');
  assert.equal(runTests(t, files, 'test/c').status, 1);
});

test('the run ends with a failure when a test leaves a process that keeps the output open', (t) => {
  process.env['FAIRLEAD_TEST_MAX_SILENT_MS'] = '3000';
  t.after(() => delete process.env['FAIRLEAD_TEST_MAX_SILENT_MS']);
  const leak = `test('leaks', () => { spawn('sleep', ['20'], { stdio: 'inherit', detached: true }).unref(); });`;
  const ended = runTests(t, { a: `import { spawn } from 'node:child_process';\n${leak}` });
  assert.match(ended.stdout, /failed: the run did not end/);
  assert.equal(ended.lastLine, '1 passed, 1 failed, 0 skipped');
  assert.equal(ended.status, 1);
});

test('what took longest begins first: a group counts as the sum of its files, and a new file as short', () => {
  const groups = [
    { file: 'short', members: ['a', 'b'] },
    { file: 'long', members: ['c', 'd'] },
  ];
  assert.deepEqual(orderTestFiles(groups, ['new', 'e'], { a: 3, c: 20, d: 5, e: 9 }), ['long', 'e', 'short', 'new']);
});
