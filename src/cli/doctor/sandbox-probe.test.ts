import assert from 'node:assert/strict';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { noSandbox, type Sandbox } from '../../guards/index.ts';
import { localWorkspace } from '../../workspace/index.ts';
import { commandSandboxCheck } from './command-sandbox-check.ts';
import { runDoctorChecks } from './run-checks.ts';

test('a sandbox fails if a command can write outside its directory or reach a server, and no sandbox is a warning', async (t) => {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-doctor-test-')));
  t.after(() => rmSync(root, { recursive: true }));
  const workspace = localWorkspace({ roots: [root] });
  const runCheck = async (sandbox: Sandbox): Promise<string> => {
    for await (const { status, message: told, fix } of runDoctorChecks({
      checks: [commandSandboxCheck],
      commandSandbox: { workspace, sandbox },
    }))
      return `${status}: ${told} ${fix}`;
    return '';
  };
  const leaky: Sandbox = {
    name: 'leaky',
    description: '',
    // Hides the file and has no writable system files, but allows a write and a connection.
    exec: async (command, options, outside) =>
      outside(`touch() { return 1; }; ${String(command).replace("echo 'home: seen'", "echo 'home: hidden'")}`, options),
  };
  const told = await runCheck(leaky);
  assert.match(told, /^fail: leaky does not confine commands: /);
  assert.match(told, /a file outside its directory can be written, and a server on this machine can be reached\./);
  assert.match(await runCheck(noSandbox), /^warn: Commands run as you.* Start without --no-sandbox\.$/);
});
