// Tests that the gates of the coding agent enforce the permission modes, whatever a policy allows.
import assert from 'node:assert/strict';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { createToolRegistry, resolveAgent } from '../agent/index.ts';
import { evaluateGates, type Json, type RunState } from '../core/index.ts';
import { parsePolicy, sessionGrants, type Grants, type PermissionMode } from '../guards/index.ts';
import { scriptedProvider } from '../testing/index.ts';
import { codingTools } from '../tools/index.ts';
import { localWorkspace } from '../workspace/index.ts';
import { createGates } from './gates.ts';

type ModeFixture = (mode: PermissionMode, tool: string, input: Json, grants?: Grants) => Promise<string>;

function setup(t: test.TestContext, policyRules: readonly Json[] = []): ModeFixture {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-mode-')));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  writeFileSync(path.join(root, 'a.txt'), 'one\n');
  const workspace = localWorkspace({ roots: [root] });
  const tools = codingTools(workspace);
  const agent = resolveAgent({ provider: scriptedProvider([]), system: 's', tools });
  return async (mode, tool, input, grants = sessionGrants()) => {
    const gates = createGates({
      workspace,
      tools: createToolRegistry(tools),
      ruleGates: [],
      policy: parsePolicy({ rules: [...policyRules] }, 'test'),
      grants,
      mode: () => mode,
    });
    return (await evaluateGates({ ...agent, gates }, { id: 'c', tool, input }, {} as RunState)).type;
  };
}

const edit = (file: string): Json => ({ path: file, old_string: 'one', new_string: 'two' });

test('[A76] accept-edits makes edits in the folder, and asks about commands, secrets and files that other programs run', async (t) => {
  const decide = setup(t);
  assert.equal(await decide('accept-edits', 'edit_file', edit('a.txt')), 'allow');
  assert.equal(await decide('ask', 'edit_file', edit('a.txt')), 'ask');
  for (const [tool, input] of [
    ['edit_file', edit('.env')],
    ['write_file', { path: '.vscode/tasks.json', content: '{}' }],
    ['edit_file', edit('../a.txt')],
    ['delete_file', { path: 'a.txt' }],
    ['run_command', { command: 'touch a' }],
  ] as const)
    assert.equal(await decide('accept-edits', tool, input), 'ask', JSON.stringify(input));
});

test('[A76] in read-only and plan neither a policy nor a grant allows a change', async (t) => {
  const decide = setup(t, [{ allow: { tool: 'write_file' } }, { allow: { command: 'touch' } }]);
  const grants = sessionGrants();
  await grants.grant({ type: 'edits' });
  await grants.grant({ type: 'command', tool: 'run_command', words: ['touch'] });
  for (const mode of ['read-only', 'plan'] as const) {
    assert.equal(await decide(mode, 'write_file', { path: 'b.txt', content: '' }, grants), 'deny');
    assert.equal(await decide(mode, 'edit_file', edit('a.txt'), grants), 'deny');
    assert.equal(await decide(mode, 'run_command', { command: 'touch b' }, grants), 'deny');
    assert.equal(await decide(mode, 'read_file', { path: 'a.txt' }, grants), 'allow');
  }
  assert.equal(await decide('ask', 'write_file', { path: 'b.txt', content: '' }, grants), 'allow');
});

test('[A75] a grant of a rule answers the permission gate, and never a policy that asks or denies', async (t) => {
  const decide = setup(t, [{ ask: { command: 'npm test' } }, { deny: { path: 'a.txt' } }]);
  const grants = sessionGrants();
  await grants.grant({ type: 'edits' });
  await grants.grant({ type: 'command', tool: 'run_command', words: ['npm', 'test'] });
  await grants.grant({ type: 'command', tool: 'run_command', words: ['ls'] });
  assert.equal(await decide('ask', 'run_command', { command: 'ls' }, grants), 'allow');
  assert.equal(await decide('ask', 'run_command', { command: 'npm test' }, grants), 'ask');
  assert.equal(await decide('ask', 'edit_file', edit('a.txt'), grants), 'deny');
  assert.equal(await decide('ask', 'write_file', { path: 'b.txt', content: '' }, grants), 'allow');
});
