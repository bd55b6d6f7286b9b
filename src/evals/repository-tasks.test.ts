// Repository tasks: what a line may be, tests that the agent does not see and cannot replace, git bundles, and tasks that measure nothing.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { noGit } from '../../test/support/programs.ts';
import { execCommand } from '../workspace/exec.ts';
import { checkRepositoryTasks, readRepositoryTasks } from './check-tasks.ts';
import { readDataset } from './read-dataset.ts';
import { parseRepositoryTasks } from './repository-tasks.ts';
import { findCommandError, type RunCaseCommand } from './score-trial.ts';

const examples = path.resolve(import.meta.dirname, '../../examples/evals/repository-tasks/small.tasks.jsonl');

/** The tests of this file write the commands themselves: they need no sandbox. */
const runCommand: RunCaseCommand = async (command, { cwd, timeoutMs, signal }) =>
  execCommand(command, cwd, { timeoutMs, signal });

function createFolder(t: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-tasks-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const task = {
  id: 'a',
  repository: { 'a.sh': 'echo 1\n' },
  statement: 'Make a.sh print 2.',
  test: 'sh check.sh',
  testFiles: { 'check.sh': '[ "$(sh a.sh)" = 2 ]\n' },
  solution: { 'a.sh': 'echo 2\n' },
};
const parseOne = async (value: object, folder = '.') => {
  const [parsed] = await parseRepositoryTasks(JSON.stringify(value), 'x.tasks.jsonl', folder);
  assert.ok(parsed);
  return parsed;
};

test('[A121] the example set has at least ten tasks; the test of each fails without work and passes with its solution', async () => {
  const tasks = await readRepositoryTasks(examples);
  assert.ok(tasks.length >= 10, String(tasks.length));
  assert.ok(tasks.every(({ solution }) => solution !== undefined));
  assert.deepEqual(await checkRepositoryTasks(tasks, { runCommand }), []);
  const cases = await readDataset(examples);
  assert.deepEqual(
    cases,
    tasks.map(({ evalCase }) => evalCase),
  );
  assert.deepEqual(
    await readDataset(path.dirname(examples)),
    cases,
    'a folder with tasks is its tasks, not their files',
  );
  for (const { files, expect, tools } of cases) {
    assert.ok(tools);
    assert.ok(Object.keys(expect.code?.files ?? {}).every((name) => !Object.hasOwn(files, name)));
  }
});

test('[A121] a task whose test passes without work, fails with its solution, or cannot run is reported', async () => {
  const good = await parseOne(task);
  assert.deepEqual(await checkRepositoryTasks([good], { runCommand }), []);
  const done = await parseOne({ ...task, repository: { 'a.sh': 'echo 2\n' } });
  assert.deepEqual(await checkRepositoryTasks([done], { runCommand }), ['a: its test passes without work.']);
  const unsolved = await parseOne({ ...task, solution: { 'a.sh': 'echo 3\n' } });
  assert.match(
    (await checkRepositoryTasks([unsolved], { runCommand })).join(),
    /^a: with its solution, its test fails/,
  );
  const refused: RunCaseCommand = async () => {
    throw new Error('no sandbox');
  };
  assert.match(
    (await checkRepositoryTasks([good], { runCommand: refused })).join(),
    /a: Its command was not run: no sandbox/,
  );
});

test('[A121] tests replace what the agent wrote in their place, and a link of the agent leads them nowhere', async (t) => {
  const cwd = createFolder(t);
  const outside = createFolder(t);
  const { evalCase } = await parseOne({
    ...task,
    testFiles: { 'tests/check.sh': '[ "$(sh a.sh)" = 2 ]\n' },
    test: 'sh tests/check.sh',
  });
  writeFileSync(path.join(cwd, 'a.sh'), 'echo 1\n');
  mkdirSync(path.join(cwd, 'tests'));
  writeFileSync(path.join(cwd, 'tests/check.sh'), 'exit 0\n');
  assert.match((await findCommandError(evalCase, { cwd, runCommand })) ?? '', /exit code 1/);
  writeFileSync(path.join(cwd, 'a.sh'), 'echo 2\n');
  assert.equal(await findCommandError(evalCase, { cwd, runCommand }), undefined);
  rmSync(path.join(cwd, 'tests'), { recursive: true });
  symlinkSync(outside, path.join(cwd, 'tests'));
  assert.match((await findCommandError(evalCase, { cwd, runCommand })) ?? '', /^Its command was not run/);
  assert.equal(existsSync(path.join(outside, 'check.sh')), false);
  const escape = await parseOne({ ...task, testFiles: { '../escape.sh': '' } });
  assert.match((await findCommandError(escape.evalCase, { cwd, runCommand })) ?? '', /^Its command was not run/);
  assert.equal(existsSync(path.join(cwd, '../escape.sh')), false);
});

test(
  '[A121] a repository is a folder without links and history, or a commit of a git bundle',
  { skip: noGit },
  async (t) => {
    const folder = createFolder(t);
    const repository = path.join(folder, 'repository');
    mkdirSync(path.join(repository, 'src'), { recursive: true });
    const git = (...args: readonly string[]): string =>
      execFileSync('git', ['-C', repository, '-c', 'user.name=a', '-c', 'user.email=a@b.example', ...args], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      });
    git('init', '-q');
    writeFileSync(path.join(repository, 'src/a.sh'), 'echo 1\n');
    git('add', '.');
    git('commit', '-q', '-m', 'one');
    const first = git('rev-parse', 'HEAD').trim();
    writeFileSync(path.join(repository, 'src/a.sh'), 'echo 2\n');
    git('commit', '-q', '-a', '-m', 'two');
    git('bundle', 'create', '-q', path.join(folder, 'all.bundle'), 'HEAD');
    symlinkSync('/etc/hosts', path.join(repository, 'hosts'));
    const read = async (value: object) => (await parseOne({ ...task, ...value }, folder)).evalCase.files;
    assert.deepEqual(await read({ repository: 'repository' }), { 'src/a.sh': 'echo 2\n' });
    assert.deepEqual(await read({ repository: 'all.bundle' }), { 'src/a.sh': 'echo 2\n' });
    assert.deepEqual(await read({ repository: 'all.bundle', commit: first }), { 'src/a.sh': 'echo 1\n' });
    await assert.rejects(read({ repository: 'all.bundle', commit: '0000000' }), /is not a git bundle/);
    await assert.rejects(read({ repository: 'all.bundle', commit: '--force' }), /its commit is not a hash/);
    await assert.rejects(read({ repository: 'missing' }), /its repository cannot be read/);
  },
);

test('[A121] a line that is not a task is refused with its number', async () => {
  const bad: readonly (readonly [value: unknown, error: RegExp])[] = [
    ['x', /not an object/],
    [{ ...task, test: undefined }, /no test command/],
    [{ ...task, statement: undefined }, /no prompt/],
    [{ ...task, repository: undefined }, /its repository cannot be read: it is neither/],
    [{ ...task, repository: { a: 1 } }, /its files are not strings/],
    [{ ...task, testFiles: { a: 1 } }, /expectation code has an invalid value/],
    [{ ...task, timeoutSeconds: -1 }, /expectation code has an invalid value/],
    [{ ...task, patch: 'x' }, /there is no field "patch"/],
    [{ ...task, expect: [] }, /there is no|expect is not an object/],
  ];
  for (const [value, error] of bad) {
    const text = `\n${JSON.stringify(value)}`;
    await assert.rejects(parseRepositoryTasks(text, 'x', '.'), (thrown: Error) => {
      assert.match(thrown.message, /^Line 2 of x is not a valid case/);
      assert.match(thrown.message, error);
      return true;
    });
  }
  await assert.rejects(parseRepositoryTasks('{', 'x', '.'), /Line 1 of x is not a valid case: it is not JSON/);
  assert.match(readFileSync(examples, 'utf8'), /^\{"id": "leap-year"/);
});
