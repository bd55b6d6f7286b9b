// Tests of permission modes: what each mode denies, and which mode one key leads to.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { after } from 'node:test';
import type { Json, RunState } from '../core/index.ts';
import { localWorkspace } from '../workspace/index.ts';
import { nextPermissionMode, permissionModeGate, type PermissionMode } from './index.ts';

const tools = new Map(
  Object.entries({
    read_file: 'read',
    write_file: 'write',
    run_command: 'external',
    spawn_agent: 'external',
    send: 'external',
  } as const).map(([name, effect]) => [name, { effect }]),
);

// A git of its own: the decision must not depend on what is installed, and no command is started.
const programs = mkdtempSync(path.join(tmpdir(), 'fairlead-mode-'));
const workspaceFolder = mkdtempSync(path.join(tmpdir(), 'fairlead-mode-'));
writeFileSync(path.join(programs, 'git'), '#!/bin/sh\n', { mode: 0o755 });
after(() => [programs, workspaceFolder].forEach((folder) => rmSync(folder, { recursive: true })));

const reading = {
  workspace: localWorkspace({ roots: [workspaceFolder] }),
  findGitProgram: async () => undefined,
  env: { PATH: [programs, process.env['PATH']].join(path.delimiter) },
};

const decide = async (mode: PermissionMode, tool: string, input: Json): Promise<string> =>
  (await permissionModeGate(() => mode, tools, reading)({ id: 'c', tool, input }, {} as RunState)).type;

test('[A76] read-only and plan deny every change and every command that is not known to only read', async () => {
  for (const mode of ['read-only', 'plan'] as const) {
    for (const [tool, input] of [
      ['write_file', { path: 'a', content: '' }],
      ['send', {}],
      ['unknown', {}],
      ['use_tool', { tool: 'send', input: {} }],
      ...[
        'touch a',
        'rm a',
        'npm test',
        'ls > a',
        'ls; touch a',
        'ls && rm a',
        'cat a | tee b',
        'find . -delete',
        'sed -i s/a/b/ x',
        'git commit -m x',
        'git diff --output=x',
        'sh -c ls',
        'echo $(touch a)',
        'sort -o a b',
        'X=1 ls',
        'ls &',
      ].map((command) => ['run_command', { command }] as const),
      ['run_command', { command: 'ls', background: true }],
    ] as const)
      assert.equal(await decide(mode, tool, input), 'deny', `${tool} ${JSON.stringify(input)}`);
    for (const [tool, input] of [
      ['read_file', { path: 'a' }],
      ['spawn_agent', { task: 'x' }],
      ...['ls -la', 'git status', 'git log --oneline | head -5', 'cat a 2>&1', 'grep -rn x . > /dev/null'].map(
        (command) => ['run_command', { command }] as const,
      ),
    ] as const)
      assert.equal(await decide(mode, tool, input), 'allow', `${tool} ${JSON.stringify(input)}`);
  }
  for (const mode of ['ask', 'accept-edits', 'auto'] as const)
    assert.equal(await decide(mode, 'write_file', { path: 'a', content: '' }), 'allow', 'the permission gate decides');
});

test('[A76] one key switches ask, accept-edits and plan, and never leads to auto', () => {
  assert.deepEqual((['ask', 'accept-edits', 'plan', 'read-only', 'auto'] as const).map(nextPermissionMode), [
    'accept-edits',
    'plan',
    'ask',
    'ask',
    'ask',
  ]);
});
