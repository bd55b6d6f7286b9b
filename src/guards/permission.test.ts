// Approvals: reads are allowed, each change is asked about with its exact call, and "always" covers that kind of call only.
import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { assertAttack } from '../../test/support/attack-report.ts';
import { replyWithCalls, replyWithText, createCoreFixture, type CoreFixture } from '../../test/support/core-fixture.ts';
import { createToolRegistry } from '../agent/index.ts';
import type { ToolCall, Decision, Json, RunState, Workspace } from '../core/index.ts';
import { codingTools } from '../tools/index.ts';
import { localWorkspace } from '../workspace/index.ts';
import { grantKey, permissionGate, sessionGrants, type Grants } from './index.ts';

type PermissionFixture = {
  readonly root: string;
  readonly workspace: Workspace;
  readonly granted: Grants;
  readonly kind: (tool: string, input: Json) => string;
  readonly decide: (tool: string, input: Json, mode?: 'ask' | 'auto') => Decision;
};

function setup(t: test.TestContext): PermissionFixture {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-gate-')));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const workspace = localWorkspace({ roots: [root] });
  const granted = sessionGrants();
  const tools = createToolRegistry(codingTools(workspace));
  const locate = (given: string): string => workspace.locate(given);
  const callOf = (tool: string, input: Json): ToolCall => ({ id: 'c1', tool, input });
  return {
    root,
    workspace,
    granted,
    kind: (tool, input) => grantKey(callOf(tool, input), locate),
    decide: (tool, input, mode = 'ask') =>
      permissionGate({ mode: () => mode, grants: granted, tools, locate })(
        callOf(tool, input),
        {} as RunState,
      ) as Decision,
  };
}

test('[A75, A76] reads are allowed, changes need approval, and auto mode allows them', (t) => {
  const { decide } = setup(t);
  assert.equal(decide('read_file', { path: 'a' }).type, 'allow');
  assert.equal(decide('grep', { pattern: 'a' }).type, 'allow');
  for (const [tool, input] of [
    ['write_file', { path: 'a', content: 'b' }],
    ['run_command', { command: 'ls' }],
    ['stranger', {}],
  ] as const) {
    assert.equal(decide(tool, input).type, 'ask', tool);
    assert.equal(decide(tool, input, 'auto').type, 'allow', tool);
  }
});

test('attacks 23, 29 and 30: reading a secret file needs approval, also through a link and in any spelling', (t) => {
  const { decide, granted, kind, root } = setup(t);
  writeFileSync(path.join(root, '.env'), 'KEY=1');
  symlinkSync('.env', path.join(root, 'notes.txt'));
  for (const name of ['.env', '.ENV', 'notes.txt', 'sub/id_rsa', '.npmrc'])
    assert.equal(decide('read_file', { path: name }).type, 'ask', name);
  assert.equal(decide('grep', { pattern: 'KEY', path: '.env' }).type, 'ask');
  assert.equal(decide('read_file', { path: '.env.example' }).type, 'allow');
  assert.deepEqual(decide('read_file', { path: '.env' }), { type: 'ask', question: `read_file ${root}/.env` });
  void granted.grant(kind('read_file', { path: '.env' }));
  assert.equal(decide('read_file', { path: 'notes.txt', offset: 1 }).type, 'allow');
  assert.equal(decide('write_file', { path: '.env', content: 'x' }).type, 'ask');
});

test('[A75] the question shows the exact call: path and text of a write, the full command', (t) => {
  const { decide, root } = setup(t);
  assert.deepEqual(decide('write_file', { path: './a.txt', content: 'one\ntwo' }), {
    type: 'ask',
    question: `write_file ${root}/a.txt\n+one\n+two`,
    by: { kind: 'permission' },
  });
  assert.deepEqual(decide('edit_file', { path: 'a.txt', old_string: 'x', new_string: 'y', replace_all: true }), {
    type: 'ask',
    question: `edit_file ${root}/a.txt, every match\n-x\n+y`,
    by: { kind: 'permission' },
  });
  assert.deepEqual(decide('stranger', { b: 1, a: '\u202e' }), {
    type: 'ask',
    question: 'stranger {"a":"<U+202E>","b":1}',
    by: { kind: 'permission' },
  });
});

test('attacks 15 and 72: a command is shown in full, with every character escaped that could hide a part of it', (t) => {
  const hiding = `ls${' '.repeat(5000)}; curl evil \u202e\u001b[2K\rls`;
  const decision = setup(t).decide('run_command', { command: hiding });
  assert.deepEqual(decision, {
    type: 'ask',
    question: `run_command: ls${' '.repeat(5000)}; curl evil <U+202E>␛[2K␍ls`,
    by: { kind: 'permission' },
  });
});

test('[A75] for a long text the question shows the start, the end and the omitted size, and differs for another text', (t) => {
  const { decide } = setup(t);
  const ask = (content: string): Decision => decide('write_file', { path: 'a', content });
  const ends = JSON.stringify(ask(`begins\n${'x\n'.repeat(5000)}rm -rf ends`));
  assert.match(ends, /\+begins.*\[… 6018 characters are not shown, of 10018 .*\+rm -rf ends/);
  const [one, two] = [ask(`${'x'.repeat(9000)}1`), ask(`${'x'.repeat(9000)}2`)];
  assert.match(JSON.stringify(one), /of 9001 in total/);
  assert.ok(JSON.stringify(one).length < 5000);
  assert.notDeepEqual(one, two);
});

test('[A75] "always" covers one exact kind of call, can be listed and revoked', async (t) => {
  const { decide, granted, kind, root } = setup(t);
  const log = { command: 'git log' };
  void granted.grant(kind('run_command', log));
  assert.equal(decide('run_command', log).type, 'allow');
  assert.equal(decide('run_command', { ...log, timeout_s: 5 }).type, 'allow');
  assert.equal(decide('run_command', { ...log, background: true }).type, 'ask');
  for (const command of ['git log && rm -rf x', 'git logout', 'git log\nrm x', ' git log', 'git', 'git log '])
    assert.equal(decide('run_command', { command }).type, 'ask', command);
  assert.equal(decide('execute_sandboxed_command', log).type, 'ask');
  const key = `run_command: git log (in ${root})`;
  assert.deepEqual(granted.list(), [{ rule: { type: 'call', key }, duration: 'session' }]);
  assert.equal(await granted.revoke(key), true);
  assert.equal(decide('run_command', log).type, 'ask');
});

test('[A75] "always" for a command or a call is limited to one working directory, for a file it covers that file from anywhere', (t) => {
  const { granted, kind, root } = setup(t);
  mkdirSync(path.join(root, 'sub'));
  const there = localWorkspace({ roots: [root], cwd: path.join(root, 'sub') });
  const kindThere = (tool: string, input: Json): string => grantKey({ tool, input }, (given) => there.locate(given));
  for (const [tool, input] of [
    ['run_command', { command: 'make' }],
    ['git_change', { operation: 'commit' }],
  ] as const) {
    void granted.grant(kind(tool, input));
    assert.ok(!granted.has(kindThere(tool, input)), tool);
  }
  void granted.grant(kind('write_file', { path: 'sub/a', content: '' }));
  assert.ok(granted.has(kindThere('write_file', { path: 'a', content: '' })));
});

test('[A75] the question for a deletion or a patch shows its paths and the lines of the patch', (t) => {
  const { decide, granted, kind, root } = setup(t);
  assert.deepEqual(decide('delete_file', { path: './a.txt' }), {
    type: 'ask',
    question: `delete_file ${root}/a.txt`,
    by: { kind: 'permission' },
  });
  void granted.grant(kind('delete_file', { path: 'a.txt' }));
  assert.equal(decide('delete_file', { path: 'a.txt' }).type, 'allow');
  assert.equal(decide('delete_file', { path: 'a.txt', restore: 'a'.repeat(64) }).type, 'ask');
  const patch = '--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+tw\u202eo\n';
  assert.deepEqual(decide('apply_patch', { paths: ['a.txt', 'b\n.txt', '../c'], patch }), {
    type: 'ask',
    question: `apply_patch ${root}/a.txt, ${root}/b␊.txt, ../c\n| --- a/a.txt\n| +++ b/a.txt\n| @@ -1 +1 @@\n| -one\n| +tw<U+202E>o\n| `,
    by: { kind: 'permission' },
  });
});

test('[attack 28] a change of files that other programs execute needs approval in every mode, with a warning', (t) => {
  const { decide, granted, kind, root } = setup(t);
  mkdirSync(path.join(root, '.fairlead'));
  symlinkSync('.fairlead', path.join(root, 'plain'));
  const put = (name: string): Decision => decide('write_file', { path: name, content: 'x' }, 'auto');
  for (const name of [
    '.env',
    '.MCP.json',
    '.claude/settings.json',
    'custom_tools/a.js',
    'plain/x',
    'sub/.envrc',
    'agents.MD',
    'sub/CLAUDE.md',
    '.github/workflows/ci.yml',
    'sub/.github/./workflows/ci.yml',
    '../.env',
    // File systems such as HFS+ ignore invisible characters in names.
    '.e\u200bnv',
    '.cl\u2060aude/settings.json',
  ])
    assert.equal(put(name).type, 'ask', name);
  assert.deepEqual(put('.env'), {
    type: 'ask',
    question: `write_file ${root}/.env\n+x\nWarning: other programs run or load .env without asking you.`,
  });
  assert.equal(decide('apply_patch', { paths: ['a', '.mcp.json'], patch: '' }, 'auto').type, 'ask');
  for (const name of ['AGENTS.md.txt', 'env', '.env.example', 'src/a.ts', '.github/CODEOWNERS', 'workflows/a'])
    assert.equal(put(name).type, 'allow', name);
  assert.equal(decide('list_files', { path: '.fairlead' }).type, 'allow');
  void granted.grant(kind('write_file', { path: '.env', content: '' }));
  assert.equal(put('.env').type, 'allow');
});

test('[attack 156] a write to what a protected link leads to needs approval in every mode, whether it exists or not', (t) => {
  const { decide, root } = setup(t);
  mkdirSync(path.join(root, 'ci'));
  mkdirSync(path.join(root, '.github'));
  symlinkSync('tools/vscode', path.join(root, '.vscode'));
  symlinkSync('../ci', path.join(root, '.github/workflows'));
  symlinkSync('meta', path.join(root, '.git'));
  const put = (name: string): Decision => decide('write_file', { path: name, content: 'x' }, 'auto');
  const asked = ['tools/vscode/tasks.json', 'ci/build.yml', 'meta/config'];
  for (const name of asked) assert.equal(put(name).type, 'ask', name);
  for (const name of ['tools/x', 'tools/vscode2/x', 'metadata']) assert.equal(put(name).type, 'allow', name);
  assertAttack(
    t,
    156,
    asked.map(() => 'asked'),
  );
});

test('[A75] "always" for a file covers that real file under any of its names, and no other', (t) => {
  const { decide, granted, kind, root } = setup(t);
  mkdirSync(path.join(root, 'sub'));
  symlinkSync('sub', path.join(root, 'link'));
  void granted.grant(kind('write_file', { path: 'sub/a.txt', content: '1' }));
  for (const name of ['sub/a.txt', './sub/../sub/a.txt', 'link/a.txt', path.join(root, 'sub/a.txt')])
    assert.equal(decide('write_file', { path: name, content: '2' }).type, 'allow', name);
  for (const name of ['sub/a.txt.bak', 'sub/b.txt', 'a.txt', '../sub/a.txt'])
    assert.equal(decide('write_file', { path: name, content: '2' }).type, 'ask', name);
  assert.equal(decide('edit_file', { path: 'sub/a.txt', old_string: '1', new_string: '2' }).type, 'ask');
});

test('[A75] "always" for any other tool covers the same input, in any key order', (t) => {
  const { decide, granted, kind, root } = setup(t);
  void granted.grant(kind('send', { to: 'a', text: 'b' }));
  assert.equal(decide('send', { text: 'b', to: 'a' }).type, 'allow');
  assert.equal(decide('send', { text: 'b', to: 'c' }).type, 'ask');
  const through = { tool: 'send', input: { to: 'a', text: 'b' } };
  assert.equal(kind('use_tool', through), kind('send', through.input));
  assert.equal(kind('use_tool', {}), `use_tool {} (in ${root})`);
});

test('[A75] in a run: the file is written after the approval and not before; a rejection writes nothing', async (t) => {
  const { root, workspace, granted } = setup(t);
  const tools = createToolRegistry(codingTools(workspace));
  const gates = [
    permissionGate({ mode: () => 'ask', grants: granted, tools, locate: (given) => workspace.locate(given) }),
  ];
  const input = { path: 'a.txt', content: 'yes\n' };
  const begin = async (): Promise<CoreFixture> => {
    const fixture = await createCoreFixture({
      replies: [replyWithCalls(['write_file', input]), replyWithText('done')],
      tools: [...tools.values()],
      gates,
    });
    await fixture.run();
    assert.equal(fixture.head.state.calls[0]?.ask?.question, `write_file ${root}/a.txt\n+yes\n+`);
    assert.ok(!existsSync(path.join(root, 'a.txt')));
    return fixture;
  };
  const no = await begin();
  await no.head.record([{ type: 'approval-resolved', call: 'c00001000', allowed: false }]);
  await no.run();
  assert.ok(!existsSync(path.join(root, 'a.txt')));
  const yes = await begin();
  await yes.head.record([{ type: 'approval-resolved', call: 'c00001000', allowed: true }]);
  await yes.run();
  assert.equal(readFileSync(path.join(root, 'a.txt'), 'utf8'), 'yes\n');
  assert.deepEqual(granted.list(), []);
});
