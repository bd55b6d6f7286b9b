// An edit that is approved in another process than the one that read the file: it happens, unless the file changed since it was read.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import type { FleetRun } from '../src/core/index.ts';
import { calls, says } from '../src/testing/index.ts';
import { waitForExitCode, waitUntil, type RunningProgram } from './support/cli-harness.ts';
import { createFleetProgram, type FleetProgram } from './support/fleet-program.ts';
import { noTerminal, type Terminal } from './support/terminal.ts';

const skip = noTerminal();
const broken = 'export const sum = (a, b) => a - b;\n';
const fixed = 'export const sum = (a, b) => a + b;\n';
const question = /^number or a reply to the model \[y\/N\/a\]: *$/m;
const ownerKey = 'a-key-of-the-owner-of-this-server';

type EditingProgram = FleetProgram & { readonly file: string; readonly content: () => string };

/** Creates a program whose model reads sum.js, edits it and reports the last result. */
async function createEditingProgram(
  t: TestContext,
  edit: readonly [string, Record<string, string>] = [
    'edit_file',
    { path: 'sum.js', old_string: 'a - b', new_string: 'a + b' },
  ],
): Promise<EditingProgram> {
  const program = await createFleetProgram(t, ({ results }) => {
    if (results.length === 0) return calls('read_file', { path: 'sum.js' });
    return results.length === 1 ? calls(...edit) : says(results.at(-1) ?? '');
  });
  const file = path.join(program.cwd, 'sum.js');
  writeFileSync(file, broken);
  return { ...program, file, content: () => readFileSync(file, 'utf8') };
}

for (const [name, input] of [
  ['edit_file', { path: 'sum.js', old_string: 'a - b', new_string: 'a + b' }],
  ['write_file', { path: 'sum.js', content: fixed }],
] as const)
  test(
    `[A24, A75, A112] ${name} that a run in a pipe left with a question is done when a resumed session approves it`,
    { skip },
    async (t) => {
      const program = await createEditingProgram(t, [name, input]);
      assert.equal((await program.run(['fix the bug in sum.js', '-n', 'left'])).code, 5);
      const terminal = await program.open(['go on', '--resume', 'left']);
      await approve(terminal);
      assert.equal(await waitForExitCode(terminal), 0);
      assert.equal(program.content(), fixed, await terminal.screen());
    },
  );

async function approve(terminal: Terminal): Promise<void> {
  await terminal.waitFor(question);
  await terminal.keys('1', 'Enter');
}

test('[A24, A77] after kill -9 at the question, the continued session makes the approved edit', { skip }, async (t) => {
  const program = await createEditingProgram(t);
  const first = await program.open(['fix the bug in sum.js', '-n', 'left']);
  await first.waitFor(question);
  const shell = await first.queryTmux('#{pane_pid}');
  process.kill(Number(execFileSync('pgrep', ['-P', shell], { encoding: 'utf8' }).trim()), 'SIGKILL');
  assert.equal(await waitForExitCode(first), 137);
  const terminal = await program.open(['go on', '-c']);
  await approve(terminal);
  assert.equal(await waitForExitCode(terminal), 0);
  assert.equal(program.content(), fixed, await terminal.screen());
});

test('[A75] a file that changed after the session read it is not edited by a later process', { skip }, async (t) => {
  const program = await createEditingProgram(t);
  assert.equal((await program.call(['fix the bug in sum.js', '-n', 'left'])).code, 5);
  const changed = `// A line of the user.\n${broken}`;
  writeFileSync(program.file, changed);
  const terminal = await program.open(['go on', '--resume', 'left']);
  await approve(terminal);
  assert.equal(await waitForExitCode(terminal), 0);
  assert.equal(program.content(), changed);
  assert.match(program.session('left'), /it has changed since it was read; read it again first/);
});

test('[A85, A112] a queued run makes the edit that was approved with `runs answer`', async (t) => {
  const program = await createEditingProgram(t);
  await program.runCommand('enqueue', 'fix the bug in sum.js', '--id', 'fix');
  assert.equal((await program.call(['worker', '--drain'])).code, 5);
  await program.runCommand('runs', 'answer', 'fix', 'yes');
  const { code, out } = await program.call(['worker', '--drain']);
  assert.equal(code, 0, out);
  assert.equal(program.content(), fixed, out);
});

for (const restarts of [false, true])
  test(`[A41, A112] a run of a server makes the edit that was approved over HTTP${restarts ? ' after a restart of the server' : ''}`, async (t) => {
    const program = await createEditingProgram(t);
    let server = await startServer(t, program);
    const begun = (await server.send('POST /api/runs', { prompt: 'fix the bug in sum.js' }))['run'] as FleetRun;
    const run = await program.waitForRun(begun.id, 'waiting');
    if (restarts) {
      server.process.kill('SIGKILL');
      await server.process.ended;
      server = await startServer(t, program);
    }
    await server.send(`POST /api/sessions/${run.session}/answer`, {
      call: run.pendingApprovals[0]?.call,
      allowed: true,
    });
    const { outcome } = await program.waitForRun(run.id, 'ended');
    assert.equal(program.content(), fixed, outcome?.text);
  });

async function startServer(
  t: TestContext,
  program: EditingProgram,
): Promise<{
  readonly process: RunningProgram;
  readonly send: (request: string, body: unknown) => Promise<Record<string, unknown>>;
}> {
  const process = program.start(['serve', '--port', '0'], { env: { HARNESS_API_KEY: ownerKey } });
  t.after(() => process.kill('SIGKILL'));
  await waitUntil('it listens', () => /Listening at \S+\n/.test(process.err()), 30_000);
  const url = /Listening at (\S+)/.exec(process.err())?.[1] ?? '';
  return {
    process,
    async send(request, body) {
      const [method = 'GET', address = '/'] = request.split(' ');
      const answer = await fetch(url + address, {
        method,
        headers: { authorization: `Bearer ${ownerKey}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      return (await answer.json()) as Record<string, unknown>;
    },
  };
}
