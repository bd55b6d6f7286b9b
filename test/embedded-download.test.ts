// Tests the download of the embedded model from the program with a npm that never ends: consent, cancelling, and that no process is left.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { createBareStart, type BareStart } from './support/bare-start.ts';
import { isProcessAlive, waitForExitCode, waitUntil } from './support/cli-harness.ts';
import { bin } from './support/program-dirs.ts';
import { noTerminal } from './support/terminal.ts';

const skip = noTerminal();

/** A npm that starts a child of its own, writes both process ids to a file and waits. */
async function createEndlessNpm(t: TestContext): Promise<{
  readonly bare: BareStart;
  readonly env: Readonly<Record<string, string>>;
  readonly pids: () => Promise<readonly number[]>;
}> {
  const bare = await createBareStart(t);
  const [npm, file] = [path.join(bare.home, 'npm-cli.cjs'), path.join(bare.home, 'pids')];
  writeFileSync(
    npm,
    `const child = require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)']);
require('node:fs').writeFileSync(${JSON.stringify(file)}, process.pid + ' ' + child.pid + ' ' + JSON.stringify(process.env));
process.on('SIGTERM', () => {});
setInterval(() => {}, 1e6);`,
  );
  return {
    bare,
    env: { npm_execpath: npm, ANTHROPIC_API_KEY: 'sk-secret' },
    async pids() {
      await waitUntil('npm was started', () => existsSync(file) && readFileSync(file, 'utf8').includes('}'), 20_000);
      const text = readFileSync(file, 'utf8');
      assert.doesNotMatch(text, /sk-secret/, 'npm gets no key of a model');
      const started = text.split(' ').slice(0, 2).map(Number);
      t.after(() => started.filter(isProcessAlive).forEach((pid) => process.kill(pid, 'SIGKILL')));
      return started;
    },
  };
}

const waitUntilDead = (pids: readonly number[]): Promise<void> =>
  waitUntil('npm and its child have ended', () => !pids.some(isProcessAlive));

test('in a pipe --model embedded is consent: the download starts; SIGTERM ends it together with npm, exit code 143', async (t) => {
  const { bare, env, pids } = await createEndlessNpm(t);
  const child = spawn(process.execPath, [bin, '--model', 'embedded', 'hi'], {
    cwd: bare.cwd,
    env: { ...bare.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let err = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  const ended = new Promise<number | null>((done) => child.once('close', done));
  const started = await pids();
  assert.match(err, /TinyLlama 1\.1B Chat, 2-bit quantized[^]*Downloads 373 MB to .* \(license Apache-2\.0\)/);
  child.kill('SIGTERM');
  assert.equal(await ended, 143);
  await waitUntilDead(started);
  assert.match(err, /The download of the runtime was cancelled\. The next attempt starts it again\./);
  assert.equal(bare.lastModel(), undefined);
});

for (const [name, keys] of [
  ['Esc', ['Escape']],
  ['Ctrl+C', ['C-c']],
] as const)
  test(
    `while the embedded model is downloaded typed text is shown, and ${name} ends the download and npm at once`,
    { skip },
    async (t) => {
      const { bare, env, pids } = await createEndlessNpm(t);
      const start = await bare.open(['--model', 'embedded'], env);
      await start.waitFor(/Downloading the runtime …/);
      const started = await pids();
      if (name === 'Esc') {
        await start.type('typed early');
        await start.waitFor(/^> typed early *$/m);
      }
      await start.keys(...keys);
      assert.equal(await waitForExitCode(start), 130);
      await waitUntilDead(started);
    },
  );
