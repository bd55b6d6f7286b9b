// Attacks through hooks: an approved hook of a project runs files that a sandboxed command has written since.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { chooseSandbox, memoryTrust, noSandbox as unconfined, type Sandbox } from '../src/guards/index.ts';
import { readHooks, runToolHooks, type HookContext } from '../src/guards/hooks/index.ts';
import { calls, says } from '../src/testing/index.ts';
import { localWorkspace } from '../src/workspace/index.ts';
import { assertAttack } from './support/attack-report.ts';
import { answerPrompt, createProgram, waitForExitCode } from './support/cli-harness.ts';
import { noSandbox } from './support/sandbox.ts';
import { noTerminal } from './support/terminal.ts';

const withoutSandbox = await noSandbox();

/** A hook that runs a task file, without naming it as an argument: the approval does not know the file. */
const hooks = { PostToolUse: [{ hooks: [{ type: 'command', command: "sh -c 'sh < task'" }] }] };

function createFolder(t: TestContext): string {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-hooks-')));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test(
  '[attack 96] a hook of the project runs in the sandbox, so files that a command wrote get no more rights by it',
  { skip: noTerminal() || withoutSandbox, timeout: 180_000 },
  async (t) => {
    const outside = createFolder(t);
    const stolen = path.join(outside, 'host.txt');
    const command = `printf 'id >hooked.txt\\nid >${stolen}\\n' >task`;
    const program = await createProgram(t, ({ results }) =>
      results.length === 0 ? calls('run_command', { command }) : says('Done.'),
    );
    await program.seedModels('qwen3');
    mkdirSync(path.join(program.cwd, '.fairlead'));
    writeFileSync(path.join(program.cwd, '.fairlead/hooks.json'), JSON.stringify({ hooks }));
    const terminal = await program.open(['go', '--auto-approve']);
    const seen = await terminal.waitFor(/^number \[y\/N\]: *$/m);
    assert.match(seen, /Run the hooks in \S+\? They run in the sandbox, like\s+the\s+commands/);
    await answerPrompt(terminal, /^number \[y\/N\]: *$/m, 'y', 'Enter');
    assert.equal(await waitForExitCode(terminal), 0);
    assert.ok(existsSync(path.join(program.cwd, 'hooked.txt')), 'the hook ran');
    assertAttack(t, 96, [existsSync(stolen) ? 'done' : 'contained']);
  },
);

/** Reads an approved hook and returns a function that runs it. */
async function prepareHook(
  cwd: string,
  sandbox: Sandbox,
  command: string,
  { isUserOwned = false, ...options }: { readonly unconfined?: boolean; readonly isUserOwned?: boolean } = {},
) {
  const file = path.join(cwd, 'hooks.json');
  writeFileSync(file, JSON.stringify({ PreToolUse: [{ hooks: [{ type: 'command', command }] }] }));
  const { hooks: found } = await readHooks({
    files: [{ path: file, isUserOwned }],
    cwd,
    trust: memoryTrust(),
    ask: async () => true,
    ...options,
  });
  const workspace = localWorkspace({ roots: [cwd] });
  const context: HookContext = {
    hooks: found,
    cwd,
    env: { PATH: process.env['PATH'] },
    execConfined: (argv, more) => sandbox.exec(argv, more, workspace.exec.bind(workspace)),
    transcriptPath: () => undefined,
    permissionMode: () => 'default',
    notifyUser() {},
  };
  return async () =>
    (await runToolHooks(context, 'PreToolUse', { tool: 'run_command', input: { command: 'ls' } }, {}, 's'))[0]?.output;
}

test('[attack 96] a hook in the sandbox gets its payload, and its exit code and both outputs are read', async (t) => {
  const cwd = createFolder(t);
  const sandbox =
    withoutSandbox === false
      ? await chooseSandbox({ roots: [cwd], home: homedir(), path: process.env['PATH'] ?? '' })
      : unconfined;
  const run = await prepareHook(cwd, sandbox, 'cat >payload.json; echo "a reason" >&2; exit 2');
  assert.equal((await run())?.block, 'a reason');
  assert.match(readFileSync(path.join(cwd, 'payload.json'), 'utf8'), /"hook_event_name":"PreToolUse"/);
  const json = await prepareHook(
    cwd,
    sandbox,
    `printf '%s' '{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"no"}}'; echo noise >&2`,
  );
  assert.match(JSON.stringify(await json()), /"no"/);
  const broken = await prepareHook(cwd, sandbox, 'kill -9 $PPID');
  assert.match((await broken())?.error ?? '', /killed|without a result/);
});

test('[attack 96] a hook that the user lets run outside the sandbox fails after a file of a task runner changed', async (t) => {
  const cwd = createFolder(t);
  writeFileSync(path.join(cwd, 'package.json'), '{}');
  const run = await prepareHook(cwd, unconfined, 'true', { unconfined: true });
  assert.equal((await run())?.error, undefined);
  writeFileSync(path.join(cwd, 'package.json'), '{"scripts":{"format":"id"}}');
  assert.match((await run())?.error ?? '', /package\.json changed since the hook was approved/);
  assertAttack(t, 96, ['blocked']);
});

test(
  '[attack 96] a hook of the user that takes its program from the working folder runs it in the sandbox',
  { skip: withoutSandbox },
  async (t) => {
    const cwd = createFolder(t);
    const outside = createFolder(t);
    const stolen = path.join(outside, 'host.txt');
    const sandbox = await chooseSandbox({ roots: [cwd], home: homedir(), path: process.env['PATH'] ?? '' });
    writeFileSync(path.join(cwd, 'check.sh'), `#!/bin/sh\necho >ran; echo >${stolen}\n`, { mode: 0o755 });
    for (const command of ['./check.sh', 'nice sh ./check.sh', 'true && sh "$CLAUDE_PROJECT_DIR/check.sh"']) {
      const run = await prepareHook(cwd, sandbox, command, { isUserOwned: true });
      await run();
      assertAttack(t, 96, [existsSync(stolen) ? 'done' : 'contained'], command);
      assert.ok(existsSync(path.join(cwd, 'ran')), 'the hook ran');
      rmSync(path.join(cwd, 'ran'));
    }
    const own = path.join(outside, 'own.sh');
    writeFileSync(own, `echo "$@" >${stolen}\n`);
    const run = await prepareHook(cwd, sandbox, `sh ${own} npm ./check.sh`, { isUserOwned: true });
    await run();
    assert.equal(
      readFileSync(stolen, 'utf8'),
      'npm ./check.sh\n',
      'a script of the user runs with the rights of the user',
    );
  },
);
