import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import test from 'node:test';
import { bin } from '../../test/support/program-dirs.ts';
import { version } from './version.ts';

function fairlead(args: readonly string[], nodeOptions: readonly string[] = []) {
  return spawnSync(process.execPath, [...nodeOptions, bin, ...args], { encoding: 'utf8' });
}

test('--version prints the version and nothing else', () => {
  const { status, stdout, stderr } = fairlead(['--version']);
  assert.deepEqual({ status, stdout, stderr }, { status: 0, stdout: `${version}\n`, stderr: '' });
});

test('--help lists commands and options', () => {
  const { status, stdout } = fairlead(['--help']);
  assert.equal(status, 0);
  assert.match(stdout, /^Fairlead.*\n\nUsage: fairlead /);
  assert.match(stdout, /--version/);
});

test('an unknown option gets one sentence on stderr and exit code 2', () => {
  const { status, stdout, stderr } = fairlead(['--frobnicate']);
  assert.deepEqual([status, stdout], [2, '']);
  assert.equal(stderr, 'There is no option "--frobnicate"\nRun fairlead --help for usage.\n');
});

test('without a terminal, a prompt and piped text it prints one sentence and exits with 2', () => {
  const { status, stdout, stderr } = fairlead([]);
  assert.deepEqual([status, stdout], [2, '']);
  assert.match(stderr, /^No prompt was given: [^\n]*\nRun fairlead --help for usage\.\n$/);
});

test('a mistyped command is not sent as a prompt', () => {
  const { status, stdout, stderr } = fairlead(['sesions']);
  assert.deepEqual([status, stdout], [2, '']);
  assert.match(stderr, /^There is no command "sesions"\. Did you mean "sessions"\?/);
});

test('a Node that is too old gets one sentence with the required version', () => {
  const pretend =
    'data:text/javascript,Object.defineProperty(process,"versions",{value:{...process.versions,node:"20.1.0"}})';
  const { status, stdout, stderr } = fairlead(['--version'], ['--import', pretend]);
  assert.equal(status, 1);
  assert.equal(stdout, '');
  assert.equal(stderr, 'Fairlead needs Node 22.19 or newer and found 20.1.0: install a newer Node.\n');
});

test('an I/O error of standard output is not treated as a closed pipe', () => {
  // The stream gets the error that a failing disk would cause.
  const fails = `const { surviveClosedPipes } = await import(${JSON.stringify(import.meta.resolve('./main.ts'))});
    surviveClosedPipes(); process.stdout.emit('error', Object.assign(new Error('EIO: i/o error, write'), { code: 'EIO' }));`;
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', fails], { encoding: 'utf8' });
  assert.notEqual(status, 0);
  assert.match(stderr, /EIO: i\/o error/);
});
