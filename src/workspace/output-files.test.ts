// Output files of commands: all output can be read by lines from a read-only location, and it never fills the disk.
import assert from 'node:assert/strict';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import type { ExecOptions, ExecResult, Workspace } from '../core/index.ts';
import { localWorkspace } from './index.ts';

type OutputFixture = {
  readonly outputs: string;
  readonly open: (name: string) => Workspace;
  /** Runs a command whose output is kept. */
  readonly keep: (command: string, more?: ExecOptions) => Promise<ExecResult>;
  readonly workspace: Workspace;
};

function setup(t: test.TestContext): OutputFixture {
  const home = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-kept-')));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const outputs = path.join(home, 'outputs');
  const open = (name: string): Workspace => {
    mkdirSync(path.join(home, name), { recursive: true });
    return localWorkspace({ roots: [path.join(home, name)], outputs });
  };
  const workspace = open('work');
  return { outputs, open, workspace, keep: (command, more) => workspace.exec(command, { saveOutput: true, ...more }) };
}

const listFiles = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .map((each) => path.join(each.parentPath, each.name));

const workspaceErrorCode = (why: string): object => ({ code: `workspace/${why}` });

test('[fault 32] output that is too long is kept completely in a file that the workspace can read, and its exact size is reported', async (t) => {
  const { keep, workspace } = setup(t);
  const told: (number | undefined)[] = [];
  const { text, outputSize } = await keep('echo first; seq 1 400000; printf ä', {
    onOutput: (_, so) => told.push(so.bytes),
  });
  assert.match(text, /^first\n1\n[^]*\n\[… \d+ characters left out …\]\n[^]*\n400000\nä$/);
  assert.equal(outputSize?.bytes, 2_688_903);
  assert.equal(told.at(-1), outputSize.bytes);
  assert.deepEqual({ ...outputSize.file, path: '' }, { path: '', bytes: 2_688_903, whole: true });
  const kept = await workspace.read(outputSize.file?.path ?? '');
  assert.ok(kept.text?.startsWith('first\n1\n2\n') && kept.text.endsWith('\n400000\nä'));
  assert.equal(kept.bytes.length, 2_688_903);
});

test('output that fits, or is not requested, is not kept in a file', async (t) => {
  const { keep, outputs, workspace } = setup(t);
  assert.equal((await keep('seq 1 10')).outputSize, undefined);
  const { text, outputSize } = await keep('printf 12345', { maxChars: 5 });
  assert.deepEqual([text, outputSize?.bytes, outputSize?.file?.bytes], ['12\n[… 1 characters left out …]\n45', 5, 5]);
  rmSync(outputs, { recursive: true });
  assert.deepEqual((await workspace.exec('seq 1 100000')).outputSize, { bytes: 588_895 });
  assert.throws(() => statSync(outputs));
});

test('[fault 32] binary output and an endless line can be read in pages', async (t) => {
  const { keep, workspace } = setup(t);
  const { outputSize } = await keep(
    `head -c 25000 /dev/zero; printf '\\377\\n'; printf 'x%.0s' $(seq 1 10000); echo; seq 1 9000`,
  );
  const { text = '' } = await workspace.read(outputSize?.file?.path ?? '');
  const lines = text.split('\n');
  assert.deepEqual(
    lines.slice(0, 6).map((line) => [line[0], line.length]),
    [
      ['␀', 10_000],
      ['␀', 10_000],
      ['␀', 5001],
      ['x', 10_000],
      ['1', 1],
      ['2', 1],
    ],
  );
  assert.ok(lines[2]?.endsWith('␀\ufffd'));
});

test('[fault 32] of endless output a file keeps the start, and no character is split', async (t) => {
  const { keep, workspace } = setup(t);
  const { text, outputSize } = await keep('yes äöü | head -c 40000000; echo end');
  assert.equal(outputSize?.bytes, 40_000_004);
  assert.ok(text.endsWith('end\n'));
  const { bytes = 0, whole, path: file = '' } = outputSize.file ?? {};
  assert.ok(!whole && bytes <= 33_554_432 && bytes > 33_554_432 - 4, String(bytes));
  assert.equal(statSync(file).size, bytes);
  assert.ok((await workspace.read(file)).text?.startsWith('äöü\n'));
});

test('an output file may be read and listed, but not written, removed or used as a working directory; another directory’s cannot be read', async (t) => {
  const { keep, workspace, open } = setup(t);
  const file = (await keep('seq 1 100000')).outputSize?.file?.path ?? '';
  assert.deepEqual((await workspace.list(path.dirname(file))).entries, [{ name: path.basename(file), type: 'file' }]);
  assert.equal(workspace.locate(file), file);
  await workspace.read(file);
  await assert.rejects(workspace.write(file, 'x'), workspaceErrorCode('outside'));
  await assert.rejects(workspace.write(path.join(path.dirname(file), 'new'), 'x'), workspaceErrorCode('outside'));
  await assert.rejects(Promise.resolve(workspace.remove?.(file)), workspaceErrorCode('outside'));
  await assert.rejects(workspace.exec('pwd', { cwd: path.dirname(file) }), workspaceErrorCode('outside'));
  await assert.rejects(workspace.read(path.dirname(path.dirname(file))), workspaceErrorCode('outside'));
  await assert.rejects(open('other').read(file), workspaceErrorCode('outside'));
  assert.equal((await open('work').read(file)).path, file, 'a later process in the same directory can read it');
});

test('an output file is private, and is deleted when it is old or there are too many', async (t) => {
  const { keep, outputs } = setup(t);
  const first = (await keep('seq 1 100000')).outputSize?.file?.path ?? '';
  assert.equal(statSync(first).mode & 0o777, 0o600);
  assert.equal(statSync(path.dirname(first)).mode & 0o777, 0o700);
  const other = path.join(outputs, '0123456789abcdef');
  mkdirSync(other);
  const kept = (i: number): string => path.join(other, `output-0000000${i}.txt`);
  const strangers = [path.join(outputs, 'thesis.txt'), path.join(other, 'thesis.txt'), path.join(outputs, 'sub/x')];
  mkdirSync(path.join(outputs, 'sub'));
  const days = (count: number): number => Date.now() / 1000 - count * 86_400;
  utimesSync(first, days(8), days(8));
  for (const file of strangers) writeFileSync(file, 'Not ours.');
  for (const file of strangers) utimesSync(file, days(800), days(800));
  for (const [i, age] of [5, 4, 3, 2, 1, 0.5, 0.4, 0.3].entries()) {
    writeFileSync(kept(i), '');
    // Sparse: it has a size, and uses no disk space.
    truncateSync(kept(i), 33_554_432);
    utimesSync(kept(i), days(age), days(age));
  }
  const latest = (await keep('seq 1 100000')).outputSize?.file?.path ?? '';
  assert.deepEqual(
    listFiles(outputs).toSorted(),
    [...strangers, ...[1, 2, 3, 4, 5, 6, 7].map(kept), latest].toSorted(),
  );
});

test('if no file can be written the command still runs, and its output is reported', async (t) => {
  const { keep, outputs } = setup(t);
  writeFileSync(outputs, 'in the way');
  const { code, outputSize } = await keep('seq 1 100000');
  assert.deepEqual([code, outputSize], [0, { bytes: 588_895 }]);
});
