// Invalid input gets one clear sentence with a hint, a typed error, and loses nothing.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { FairleadError } from '../src/core/index.ts';
import { openProvider } from '../src/providers/index.ts';
import { openJsonl } from '../src/stores/index.ts';
import { closedUrl, says, scriptedServer } from '../src/testing/index.ts';
import { bin } from './support/program-dirs.ts';

type ProgramExit = { readonly code: number | null; readonly out: string; readonly err: string };

/** Runs the real program with only the given environment. */
function runFairlead(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  cwd = tmpdir(),
): Promise<ProgramExit> {
  const { promise, resolve } = Promise.withResolvers<ProgramExit>();
  const child = spawn(process.execPath, [bin, ...args], {
    cwd,
    env: { PATH: process.env['PATH'] ?? '', HOME: cwd, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  child.on('close', (code) => resolve({ code, out, err }));
  return promise;
}

function createTempDir(t: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-bad-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const assertNoStack = (text: string): void => assert.doesNotMatch(text, /\n\s+at |node:internal/);

for (const [title, args, said] of [
  ['a wrong option', ['run', '--frobnicate', 'hi'], /--frobnicate/],
  [
    'a limit that is not a number',
    ['run', '--max-turns', 'many', 'hi'],
    /--max-turns must be a whole number above 0, not "many"/,
  ],
  ['no prompt', ['run', '--model', 'ollama/x'], /No prompt was given/],
] as const) {
  test(`${title} is a usage error: one sentence, the usage, exit code 2`, async () => {
    const { code, out, err } = await runFairlead(args);
    assert.equal(code, 2);
    assert.equal(out, '');
    assert.match(err, said);
    assert.match(err, /fairlead --help/);
    assertNoStack(err);
  });
}

test('an unknown provider is named, with similar names', async () => {
  const { code, err } = await runFairlead(['run', '--model', 'olama/qwen3', 'hi']);
  assert.equal(code, 1);
  assert.match(err, /olama/);
  assert.match(err, /ollama/);
  assertNoStack(err);
});

test('for a missing key the message names the variable, and nothing is sent', async () => {
  const { code, err } = await runFairlead(['run', '--model', 'anthropic/claude-sonnet-4-5', 'hi']);
  assert.equal(code, 1);
  assert.match(err, /ANTHROPIC_API_KEY/);
  assertNoStack(err);
});

test('a refused connection is reported with the address and a hint, and the prompt is kept in the session', async (t) => {
  const folder = createTempDir(t);
  const url = await closedUrl();
  const { code, err } = await runFairlead(
    ['run', '--model', 'ollama/qwen3', 'my precious words'],
    { OLLAMA_API_URL: url },
    folder,
  );
  assert.equal(code, 7);
  assert.match(err, /ollama/i);
  assertNoStack(err);
  const sessions = path.join(folder, '.local/share/fairlead/sessions');
  const [file = ''] = readdirSync(sessions).filter((name) => name.endsWith('.jsonl'));
  assert.match(readFileSync(path.join(sessions, file), 'utf8'), /my precious words/);
});

test('an answer is printed on standard output, and everything else on standard error', async (t) => {
  const folder = createTempDir(t);
  await using server = await scriptedServer(() => says('A line, guided.'), { models: [{ id: 'qwen3', tools: true }] });
  const { code, out, err } = await runFairlead(
    ['run', '--model', 'ollama/qwen3', 'hi'],
    { OLLAMA_API_URL: server.url },
    folder,
  );
  assert.deepEqual([code, out], [0, 'A line, guided.\n'], err);
  assert.equal(err, '');
});

test('a file that is not a session is refused and unchanged', async (t) => {
  const file = path.join(createTempDir(t), 'notes.txt');
  writeFileSync(file, 'Dear diary,\n');
  await assert.rejects(
    openJsonl(file),
    (error) => error instanceof FairleadError && error.code === 'store/not-a-session',
  );
  assert.equal(readFileSync(file, 'utf8'), 'Dear diary,\n');
});

test('errors are typed: who is to blame, whether to retry, what to do', async () => {
  for (const [ref, code] of [
    ['nosuch/x', 'provider/unknown'],
    ['openai/gpt-4o', 'provider/no-key'],
  ] as const) {
    await assert.rejects(openProvider(ref, { env: {} }), (error) => {
      assert.ok(error instanceof FairleadError);
      assert.deepEqual([error.code, error.blame, error.retry], [code, 'user', false]);
      assert.ok(error.hint);
      return true;
    });
  }
});
