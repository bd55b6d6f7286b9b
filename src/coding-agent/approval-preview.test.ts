// Tests of approval previews: the real diff, the command with its effects, and that an approval counts for the change that was shown.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { createToolRegistry, resolveAgent, Session } from '../agent/index.ts';
import type { ApprovalPreview, Gate, Json, RunState } from '../core/index.ts';
import { createRedactor, permissionGate, sessionGrants } from '../guards/index.ts';
import { memoryLog } from '../stores/index.ts';
import { calls, says, scriptedProvider } from '../testing/index.ts';
import { codingTools } from '../tools/index.ts';
import { localWorkspace } from '../workspace/index.ts';
import { formatApprovalTitle } from './approval-title.ts';
import { withPreview } from './with-preview.ts';
import { formatPreview } from './format-preview.ts';
import { createPolicyContext } from './gates.ts';

const source = `export function greet(name) {
  const time = Date.now();
  console.log(time);
  return 'hello';
}
`;

type PreviewFixture = {
  readonly root: string;
  readonly gate: Gate;
  readonly ask: (
    tool: string,
    input: Json,
  ) => Promise<{ readonly question: string; readonly preview: ApprovalPreview }>;
};

function setup(t: test.TestContext): PreviewFixture {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-preview-')));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  writeFileSync(path.join(root, 'a.ts'), source);
  const workspace = localWorkspace({ roots: [root] });
  const context = createPolicyContext(workspace);
  const tools = createToolRegistry(codingTools(workspace));
  const permission = permissionGate({ mode: () => 'ask', grants: sessionGrants(), tools, locate: context.locate });
  const gate = withPreview(permission, {
    workspace,
    context,
    sandbox: { name: 'bubblewrap', description: 'No network.' },
    redactor: createRedactor([['MY_KEY', 's3cret-value-of-mine']]),
  });
  return {
    root,
    gate,
    async ask(tool, input) {
      const decision = await gate({ id: 'c1', tool, input }, {} as RunState);
      assert.ok(decision.type === 'ask' && decision.preview, JSON.stringify(decision));
      return { question: decision.question, preview: decision.preview };
    },
  };
}

test('[A75] before the answer an edit is shown as a diff with context, line numbers and its real indentation', async (t) => {
  const { ask, root } = setup(t);
  const { question, preview } = await ask('edit_file', {
    path: './a.ts',
    old_string: "return 'hello';",
    new_string: "return 'hello, world';\nreturn 'second';",
  });
  assert.equal(preview.title, 'Edit a.ts?');
  assert.deepEqual(formatPreview(preview), [
    './a.ts (edit, +2 -1)',
    '1   export function greet(name) {',
    '2     const time = Date.now();',
    '3     console.log(time);',
    "4 -   return 'hello';",
    "4 +   return 'hello, world';",
    "5 + return 'second';",
    '6   }',
  ]);
  assert.equal(
    question,
    `edit_file ${root}/a.ts\n-  return 'hello';\n+  return 'hello, world';\n+return 'second';`,
    'the question holds the lines that change',
  );
});

test('[A75] a new file, a deletion, a patch and a call that will change nothing are named as such', async (t) => {
  const { ask } = setup(t);
  const created = await ask('write_file', { path: 'new.ts', content: 'one\n\u202etwo\n' });
  assert.equal(created.preview.title, 'Create new.ts?');
  assert.deepEqual(formatPreview(created.preview), ['new.ts (new file, +2 -0)', '1 + one', '2 + <U+202E>two']);
  const deleted = await ask('delete_file', { path: 'a.ts' });
  assert.equal(deleted.preview.title, 'Delete a.ts?');
  assert.equal(formatPreview(deleted.preview)[0], 'a.ts (delete, +0 -5)');
  const patch = "--- a.ts\n+++ a.ts\n@@ -4 +4 @@\n-  return 'hello';\n+  return 1;\n";
  const patched = await ask('apply_patch', { paths: ['a.ts'], patch });
  assert.equal(patched.preview.title, 'Patch a.ts?');
  assert.ok(formatPreview(patched.preview).includes('4 +   return 1;'));
  const nothing = await ask('edit_file', { path: 'a.ts', old_string: 'absent', new_string: 'x' });
  assert.deepEqual(nothing.preview.notes, ['This call will change nothing: old_string is not in a.ts.']);
});

test('[A75] a command is shown exactly, with its folder, its effects and its sandbox', async (t) => {
  const { ask, root } = setup(t);
  const command = 'npm test > out.txt && rm -rf build; curl https://example.com/x; cat ~/.ssh/id_rsa';
  const { preview } = await ask('run_command', { command });
  assert.equal(preview.title, 'Run this command?');
  const lines = formatPreview(preview);
  assert.deepEqual(lines.slice(0, 3), [`$ ${command}`, `folder   ${root}`, 'effects  writes out.txt']);
  for (const effect of [
    'deletes build',
    'names example.com on the network',
    /id_rsa may hold secrets/,
    /is outside this folder/,
  ])
    assert.ok(
      preview.command?.effects.some((each) => (typeof effect === 'string' ? each === effect : effect.test(each))),
      String(effect),
    );
  assert.equal(lines.at(-1), 'sandbox  bubblewrap: No network.');
  assert.deepEqual((await ask('run_command', { command: 'git status' })).preview.command?.effects, [
    'only reads',
    'reads the git repository',
  ]);
  const unknown = (await ask('run_command', { command: 'eval "$(cat x)"' })).preview.command?.effects ?? [];
  assert.ok(
    unknown.some((each) => each.startsWith('not fully known: ')),
    unknown.join(),
  );
});

test('a tool of an MCP server is shown with its server, its name and aligned arguments', async (t) => {
  const { ask } = setup(t);
  const { preview } = await ask('mcp__github__create_issue', { title: 'A\nB', labels: ['x'], n: 1 });
  assert.equal(preview.title, 'Call create_issue of the MCP server github?');
  assert.deepEqual(formatPreview(preview), [
    'server  github',
    'tool    create_issue',
    'title   A',
    '        B',
    'labels  ["x"]',
    'n       1',
  ]);
  assert.equal(
    formatApprovalTitle({ tool: 'run_command', input: { command: 'a\nb' } }),
    'Run this command of 2 lines?',
  );
});

test('[A75] a secret in the lines of a file is not in the preview, which is recorded', async (t) => {
  const { ask, root } = setup(t);
  writeFileSync(path.join(root, 'a.ts'), `const key = 's3cret-value-of-mine';\n${source}`);
  const { preview } = await ask('edit_file', { path: 'a.ts', old_string: 'const time', new_string: 'const now' });
  assert.doesNotMatch(JSON.stringify(preview), /s3cret-value-of-mine/);
});

test('[A75, attack 39] an approval counts for the change that was shown: if the file changes before the call runs, it is asked again', async (t) => {
  const { root, gate } = setup(t);
  const workspace = localWorkspace({ roots: [root] });
  const edit = { path: 'a.ts', old_string: 'hello', new_string: 'bye', replace_all: true };
  const provider = scriptedProvider(({ results }) => (results.length ? says('done') : calls('edit_file', edit)));
  const agent = resolveAgent({ provider, system: 's', tools: codingTools(workspace) });
  const session = await Session.open({ ...agent, gates: [gate] }, memoryLog());
  await workspace.read('a.ts');
  const asked = await session.advance('go');
  const [call] = asked.calls;
  assert.ok(call?.ask?.preview?.files);
  writeFileSync(path.join(root, 'a.ts'), `${source}run('hello');\n`);
  await session.resolveApproval(call.id, true);
  const again = (await session.resume()).calls[0]?.ask;
  assert.equal(again?.allowed, undefined, 'the changed file is asked about');
  assert.match(again?.question ?? '', /\+run\('bye'\);/);
  assert.doesNotMatch(readFileSync(path.join(root, 'a.ts'), 'utf8'), /bye/);
  await workspace.read('a.ts');
  await session.resolveApproval(call.id, true);
  await session.resume();
  assert.match(readFileSync(path.join(root, 'a.ts'), 'utf8'), /run\('bye'\)/);
});
