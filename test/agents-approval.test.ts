// The approvals of sub-agents in the real program: the scopes and replies of the agent itself, what a grant covers, and permission modes.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import type { JsonObject } from '../src/core/index.ts';
import { calls, says, type Script, type ScriptedResponse } from '../src/testing/index.ts';
import { answerPrompt, createProgram, type TestProgram } from './support/cli-harness.ts';
import { noTerminal } from './support/terminal.ts';

/** A model that starts one sub-agent, whose calls are given, and then makes its own calls and repeats all results. */
function scriptAgent(
  ofAgent: readonly ScriptedResponse[],
  ofParent: readonly ScriptedResponse[] = [],
): Script<JsonObject> {
  const spawn = calls('use_tool', { tool: 'spawn_agent', input: { task: 'work' } });
  const load = calls('load_tools', { names: ['spawn_agent'] });
  return ({ body, results }) => {
    const steps = JSON.stringify(body).includes('another agent has started') ? ofAgent : [load, spawn, ...ofParent];
    return steps[results.length] ?? says(results.slice(-3).join(' | '));
  };
}

const write = (file: string): ScriptedResponse => calls('write_file', { path: file, content: 'made\n' });

/** Lets the sub-agent start without a question. */
function allowSpawn(program: TestProgram): void {
  mkdirSync(program.config(), { recursive: true });
  writeFileSync(program.config('policy.yaml'), 'rules:\n  - allow: { tool: spawn_agent }\n');
}

test(
  '[A75, P23] a question of a sub-agent has the scopes of the agent, and a grant covers what its label says and nothing else',
  { skip: noTerminal() },
  async (t) => {
    const program = await createProgram(
      t,
      scriptAgent(
        [write('a.txt'), write('b.txt'), write('.env'), calls('run_command', { command: 'touch e.txt' })],
        [write('c.txt'), calls('run_command', { command: 'touch d.txt' })],
      ),
    );
    await program.seedModels('qwen3');
    allowSpawn(program);
    const terminal = await program.open(['--one-shot', '--no-sandbox', '--prompt', 'go']);
    const has = (file: string): boolean => existsSync(path.join(program.cwd, file));
    const question =
      /for agent-\w+ \(work\)\?[^]*1[^]*Yes, once[^]*3[^]*allow edits and new files in this folder in this session[^]*4[^]*in this project, kept[^]*5[^]*No/;
    await answerPrompt(terminal, question, '3', 'Enter');
    // The second edit needs no question; a file with secrets and another tool do.
    await answerPrompt(terminal, /Create \.env for agent-\w+ \(work\)\?[^]*\[y\/N\/a\]:/, 'n', 'Enter');
    assert.ok(has('a.txt') && has('b.txt'));
    await answerPrompt(
      terminal,
      /touch e\.txt[^]*Run this command for agent-\w+ \(work\)\?[^]*\[y\/N\/a\]:/,
      'n',
      'Enter',
    );
    // The grant is one of the session: it covers the same edits of the agent itself, and no command.
    await answerPrompt(terminal, /touch d\.txt[^]*Run this command\?[^]*\[y\/N\/a\]: *$/m, 'n', 'Enter');
    await terminal.waitFor(/left with/);
    assert.deepEqual(['c.txt', '.env', 'd.txt', 'e.txt'].map(has), [true, false, false, false]);
    assert.equal(readFileSync(path.join(program.cwd, 'b.txt'), 'utf8'), 'made\n');
    assert.ok(!existsSync(program.config('permissions.yaml')), 'nothing is kept for the project');
  },
);

test(
  '[A75, P23] a typed reply to a question of a sub-agent denies the call, and the sub-agent reads it',
  { skip: noTerminal() },
  async (t) => {
    const program = await createProgram(t, scriptAgent([write('a.txt')]));
    await program.seedModels('qwen3');
    allowSpawn(program);
    const terminal = await program.open(['--one-shot', '--no-sandbox', '--prompt', 'go']);
    await answerPrompt(terminal, /for agent-\w+ \(work\)\?[^]*\[y\/N\/a\]:/, 'yes but put it into docs', 'Enter');
    await terminal.waitFor(/left with/);
    assert.ok(!existsSync(path.join(program.cwd, 'a.txt')));
    assert.match(JSON.stringify(program.modelRequests().map(({ body }) => body)), /yes but put it into docs/);
  },
);

for (const mode of ['read-only', 'plan'])
  test(`[A76, P23] a sub-agent changes nothing in the mode ${mode}, whatever was granted, and still reads`, async (t) => {
    const program = await createProgram(
      t,
      scriptAgent([
        calls('read_file', { path: 'kept.txt' }),
        write('a.txt'),
        calls('run_command', { command: 'touch b.txt' }),
      ]),
    );
    await program.seedModels('qwen3');
    allowSpawn(program);
    writeFileSync(path.join(program.cwd, 'kept.txt'), 'the kept line\n');
    const permissions = `projects:\n  ${JSON.stringify(program.cwd)}:\n    - edits: true\n    - exactly: "run_command: touch b.txt (in ${program.cwd})"\n`;
    writeFileSync(program.config('permissions.yaml'), permissions);
    const { out, err } = await program.run(['--one-shot', '--no-sandbox', '--mode', mode, '--prompt', 'go']);
    assert.match(out, new RegExp(`the kept line[^]*The mode is ${mode}[^]*The mode is ${mode}`), err);
    assert.deepEqual(
      ['a.txt', 'b.txt'].map((file) => existsSync(path.join(program.cwd, file))),
      [false, false],
    );
  });
