// Hooks: what they match, what their output means, and that a hook without a valid answer denies.
import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import {
  unwrapDeferredCall,
  evaluateGates,
  runStateView,
  type ToolCall,
  type Decision,
  type Gate,
  type Json,
  type RunState,
} from '../../core/index.ts';
import { assertAttack } from '../../../test/support/attack-report.ts';
import { localWorkspace } from '../../workspace/index.ts';
import { noSandbox } from '../sandbox/sandbox.ts';
import { memoryTrust } from '../trust.ts';
import { parseHookOutput } from './parse-output.ts';
import type { HookContext } from './run-hooks.ts';
import { createHookIntegration } from './extension.ts';
import { readHooks } from './files.ts';
import { withPreToolHooks } from './hook-gate.ts';
import { toClaudeToolCalls } from './claude-compat.ts';
import { parseHooks } from './hook.ts';
import { hashFile } from '../bound-files.ts';

const state: RunState = { ...runStateView().initial, session: 's1' };

function createFolder(t: TestContext): string {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-hooks-')));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

type Entry = { readonly command?: string; readonly timeout?: number; readonly type?: string };

const hookContext = (cwd: string, entry: Entry, matcher = ''): HookContext => ({
  hooks: parseHooks({ PreToolUse: [{ matcher, hooks: [entry] }] }, 'hooks.json').hooks,
  cwd,
  env: process.env,
  transcriptPath: () => undefined,
  permissionMode: () => 'default',
  notifyUser() {},
});

const allow: Gate = () => ({ type: 'allow' });
const ask: Gate = () => ({ type: 'ask', question: 'May it?' });

const decideWith = async (context: HookContext, call: Partial<ToolCall> = {}, gate = allow): Promise<Decision> =>
  withPreToolHooks(context, gate)({ id: 't1.0', tool: 'run_command', input: { command: 'ls' }, ...call }, state);

test('[M31] a hook that is missing, too slow, killed, not executable or gives invalid output denies', async (t) => {
  const cwd = createFolder(t);
  const table: Readonly<Record<string, readonly [Entry, RegExp]>> = {
    missing: [{ command: './nowhere.sh' }, /code 127/],
    late: [{ command: 'sleep 30', timeout: 0.1 }, /did not finish within 0\.1 s/],
    killed: [{ command: 'kill -9 $$' }, /killed by SIGKILL/],
    'of another type': [{ type: 'prompt' }, /type "prompt" are not supported/],
    'without a command': [{}, /has no command/],
    'half an answer': [{ command: `echo '{"a":'` }, /not JSON/],
    'an answer among other text': [
      { command: `echo 'Looking.'; echo '{"hookSpecificOutput":{"permissionDecision":"deny"}}'` },
      /mixed with other text/,
    ],
    'a list': [{ command: `echo '[{"decision":"block"}]'` }, /mixed with other text/],
    'no decision': [{ command: `echo '{"decision":"perhaps"}'` }, /returned "perhaps", which is not a decision/],
    'wrong input': [{ command: `echo '{"updatedInput":3}'` }, /updatedInput is not an object/],
    crashed: [{ command: 'exit 3' }, /code 3/],
    endless: [{ command: 'head -c 2000000 /dev/zero | tr "\\0" x' }, /more than 1000000 characters/],
  };
  for (const [name, [entry, why]] of Object.entries(table)) {
    const decision = await decideWith(hookContext(cwd, entry));
    assert.ok(decision.type === 'deny', name);
    assert.match(decision.reason, why, name);
    assert.match(decision.reason, /failed, so nothing was run/, name);
  }
  const gone = await decideWith(hookContext(path.join(cwd, 'gone'), { command: 'true' }));
  assert.equal(gone.type, 'deny', 'a directory that was removed');
});

test('[M36] exit codes 0 and 2, and every form of allow, deny and ask, mean the same as in other harnesses', () => {
  const ran = (code: number, out = '', err = '') => parseHookOutput('PreToolUse', { code, stdout: out, stderr: err });
  const specific = (more: object): string => JSON.stringify({ hookSpecificOutput: more });
  assert.deepEqual(ran(0, 'plain words'), {});
  assert.deepEqual(ran(2, '', 'no\n'), { block: 'no' });
  assert.deepEqual(ran(0, '{"decision":"block","reason":"r"}'), { block: 'r' });
  assert.deepEqual(ran(0, '{"decision":"approve"}'), { permission: 'allow' });
  assert.deepEqual(ran(0, specific({ permissionDecision: 'deny', permissionDecisionReason: 'r' })), { block: 'r' });
  assert.deepEqual(ran(0, specific({ permissionDecision: 'ask', permissionDecisionReason: 'r' })), {
    permission: 'ask',
    reason: 'r',
  });
  assert.deepEqual(ran(0, specific({ updatedInput: { command: 'ls' } })), { input: { command: 'ls' } });
  assert.deepEqual(ran(0, '{"continue":false,"stopReason":"late","systemMessage":"m"}'), {
    stop: 'late',
    message: 'm',
  });
  assert.deepEqual(parseHookOutput('UserPromptSubmit', { code: 0, stdout: 'words\n', stderr: '' }), {
    context: 'words',
  });
});

test('a hook runs in a shell without startup files', async (t) => {
  const cwd = createFolder(t);
  writeFileSync(path.join(cwd, '.bashrc'), 'echo x > read');
  const env: NodeJS.ProcessEnv = { PATH: process.env['PATH'], HOME: cwd };
  assert.deepEqual(await decideWith({ ...hookContext(cwd, { command: 'echo x > ran' }), env }), { type: 'allow' });
  assert.deepEqual([existsSync(path.join(cwd, 'ran')), existsSync(path.join(cwd, 'read'))], [true, false]);
});

test('[M31] the stricter of hook and gate wins; an allowing hook answers a question and never overrides a denial', async (t) => {
  const cwd = createFolder(t);
  const says = (decision: string): HookContext =>
    hookContext(cwd, { command: `echo '{"hookSpecificOutput":{"permissionDecision":"${decision}"}}'` });
  const denies: Gate = () => ({ type: 'deny', reason: 'never' });
  assert.deepEqual(await decideWith(says('allow'), {}, ask), { type: 'allow' });
  assert.deepEqual(await decideWith(says('allow'), {}, denies), { type: 'deny', reason: 'never' });
  assert.equal((await decideWith(says('deny'))).type, 'deny');
  assert.equal((await decideWith(says('ask'))).type, 'ask');
  const both = await decideWith(says('ask'), {}, ask);
  assert.ok(both.type === 'ask' && both.question.startsWith('May it?\nA hook asks'), 'one question for both');
  assert.equal(
    (await decideWith(hookContext(cwd, { command: 'true' }), {}, ask)).type,
    'ask',
    'no objection is not an approval',
  );
});

test('[attack 132] the allow of a hook in the sandbox does not answer for the user, and its denial and question count', async (t) => {
  const cwd = createFolder(t);
  const confined = (output: object): HookContext => {
    const context = hookContext(cwd, { command: `echo '${JSON.stringify({ hookSpecificOutput: output })}'` });
    const workspace = localWorkspace({ roots: [cwd] });
    return {
      ...context,
      hooks: context.hooks.map((hook) => ({ ...hook, isConfined: true as const })),
      execConfined: (argv, options) => noSandbox.exec(argv, options, workspace.exec.bind(workspace)),
    };
  };
  const allowed = await decideWith(confined({ permissionDecision: 'allow' }), {}, ask);
  assert.equal((await decideWith(confined({ permissionDecision: 'deny' }))).type, 'deny');
  assert.equal((await decideWith(confined({ permissionDecision: 'ask' }))).type, 'ask');
  const rewrite = confined({ permissionDecision: 'allow', updatedInput: { command: 'ls -l' } });
  const host = hookContext(cwd, { command: `echo '{"hookSpecificOutput":{"permissionDecision":"allow"}}'` });
  const both = { ...rewrite, hooks: [...rewrite.hooks, ...host.hooks] };
  const gate = withPreToolHooks(both, ask);
  const call: ToolCall = { id: 't1.0', tool: 'run_command', input: { command: 'ls' } };
  const parts = { gates: [gate], tools: new Map() } as unknown as Parameters<typeof evaluateGates>[0];
  assert.equal((await evaluateGates(parts, call, { ...state, calls: [call] })).type, 'ask');
  assertAttack(t, 132, [allowed.type === 'ask' ? 'asked' : 'done']);
});

test('[M36] a hook may rewrite a call, does not run again for its own rewrite, and runs once per call', async (t) => {
  const cwd = createFolder(t);
  const command = `echo x >> asked; echo '{"hookSpecificOutput":{"updatedInput":{"command":"ls -l"}}}'`;
  const gate = withPreToolHooks(hookContext(cwd, { command }), ask);
  const call: ToolCall = { id: 't1.0', tool: 'run_command', input: { command: 'ls' } };
  const open = { ...state, calls: [call] };
  const parts = { gates: [gate], tools: new Map() } as unknown as Parameters<typeof evaluateGates>[0];
  const first = await evaluateGates(parts, call, open);
  assert.deepEqual(first, { type: 'ask', question: 'May it?' });
  const again = await evaluateGates(
    parts,
    { ...call, ask: { question: 'May it?', allowed: true }, granted: ['May it?'] },
    open,
  );
  assert.deepEqual(again, { type: 'allow', input: { command: 'ls -l' } });
  assert.equal(readFileSync(path.join(cwd, 'asked'), 'utf8'), 'x\n');
});

test('[M36] matchers: plain names are exact, anything else is a pattern, and an invalid pattern matches everything and denies', async (t) => {
  const cwd = createFolder(t);
  const blocks = async (matcher: string, tool: string, input: Json = {}): Promise<boolean> =>
    (await decideWith(hookContext(cwd, { command: 'exit 2' }, matcher), { tool, input })).type === 'deny';
  assert.equal(await blocks('Bash', 'run_command'), true);
  assert.equal(await blocks('Edit|Write', 'write_file'), true);
  assert.equal(await blocks('Edit|Write', 'run_command'), false);
  assert.equal(await blocks('run_command', 'run_command'), true);
  assert.equal(await blocks('mcp__.*', 'mcp__files__read'), true);
  assert.equal(await blocks('mcp__.*', 'read_file'), false);
  assert.equal(await blocks('*', 'anything'), true);
  assert.equal(await blocks('(', 'anything'), true);
  assert.equal(await blocks('Write', 'apply_patch', { paths: ['.env'], patch: 'p' }), true, 'a patch is an edit too');
  assert.equal(await blocks('Bash', 'git_remote', { operation: 'push' }), true, 'so is a command through another tool');
  assert.equal(await blocks('Bash', 'delete_file', { path: 'a' }), true);
});

test('[M36] a call in the format that hooks of other harnesses expect converts back to our own input', () => {
  for (const [tool, input] of Object.entries({
    read_file: { path: 'a/b', limit: 3 },
    write_file: { path: 'a', content: 'x' },
    edit_file: { path: 'a', old_string: 'x', new_string: 'y' },
    run_command: { command: 'ls' },
    custom__x: { any: 1 },
  })) {
    const [converted] = toClaudeToolCalls({ tool, input }, '/w');
    assert.deepEqual(converted?.toOwnInput?.(converted.input), input, tool);
  }
  const [patch] = toClaudeToolCalls({ tool: 'apply_patch', input: { paths: ['.env'], patch: 'p' } }, '/w');
  assert.equal(patch?.input['file_path'], '/w/.env');
  const unwrapped = unwrapDeferredCall({
    tool: 'use_tool',
    input: { tool: 'git_remote', input: { operation: 'push', branch: "it's" } },
  });
  assert.ok(typeof unwrapped !== 'string');
  assert.deepEqual(toClaudeToolCalls(unwrapped, '/w')[0]?.input, { command: String.raw`git push 'it'\''s'` });
});

test('[M31] the approval of hooks covers the files of the project that they run, also during a session', async (t) => {
  const cwd = createFolder(t);
  const script = path.join(cwd, 'guard.sh');
  const file = path.join(cwd, 'settings.json');
  writeFileSync(script, '#!/bin/sh\nexit 0\n');
  chmodSync(script, 0o755);
  const hooks = { PreToolUse: [{ hooks: [{ type: 'command', command: '"$CLAUDE_PROJECT_DIR"/guard.sh' }] }] };
  writeFileSync(file, JSON.stringify({ hooks, other: 1 }));
  const trust = memoryTrust();
  const asked: string[] = [];
  const read = (answer: boolean, absent = false) =>
    readHooks({
      files: [{ path: file, isUserOwned: false }],
      cwd,
      trust,
      unconfined: true,
      nonInteractive: absent,
      ask: async ({ text }) => {
        asked.push(text);
        return answer;
      },
    });
  assert.deepEqual((await read(false)).hooks, []);
  const found = await read(true);
  assert.match(asked[1] ?? '', /exit 0/, 'the script is shown');
  writeFileSync(file, JSON.stringify({ hooks, other: 2 }));
  assert.equal((await read(false)).hooks.length, 1, 'other settings do not matter');
  assert.equal(asked.length, 2);
  const context: HookContext = { ...hookContext(cwd, {}), hooks: found.hooks };
  assert.equal((await decideWith(context)).type, 'allow');
  writeFileSync(script, '#!/bin/sh\nexit 0 # other\n');
  const decision = await decideWith(context);
  assert.ok(decision.type === 'deny' && decision.reason.includes('changed since the hook was approved'));
  const changed = await read(false, true);
  assert.equal(changed.hooks.length, 0);
  assert.equal(changed.failedFiles.length, 1, 'without a user its hooks count as missing');
});

test('[M31] a script whose name starts with two dots is inside the project, so the approval covers it too', async (t) => {
  const cwd = createFolder(t);
  const script = path.join(cwd, '..x.sh');
  const file = path.join(cwd, 'settings.json');
  writeFileSync(script, '#!/bin/sh\nexit 0\n', { mode: 0o755 });
  writeFileSync(
    file,
    JSON.stringify({ hooks: { PreToolUse: [{ hooks: [{ type: 'command', command: './..x.sh' }] }] } }),
  );
  const { hooks } = await readHooks({
    files: [{ path: file, isUserOwned: false }],
    cwd,
    trust: memoryTrust(),
    unconfined: true,
    ask: async () => true,
  });
  const context: HookContext = { ...hookContext(cwd, {}), hooks };
  assert.equal((await decideWith(context)).type, 'allow');
  writeFileSync(script, '#!/bin/sh\ntouch ran\n');
  const decision = await decideWith(context);
  assert.ok(decision.type === 'deny' && decision.reason.includes('changed since the hook was approved'));
  assert.ok(!existsSync(path.join(cwd, 'ran')));
});

test('[M31] the approval covers a file that a hook will run before it exists, and not a file that the hook writes', async (t) => {
  const cwd = createFolder(t);
  const file = path.join(cwd, 'settings.json');
  // A program in one argument is longer than any file name.
  const program = `: "${'x'.repeat(300)}"`;
  const command = `${program}; test -x ./late.sh && ./late.sh; date >> "$CLAUDE_PROJECT_DIR"/seen.txt`;
  writeFileSync(file, JSON.stringify({ hooks: { PreToolUse: [{ hooks: [{ type: 'command', command }] }] } }));
  writeFileSync(path.join(cwd, 'seen.txt'), '');
  const { hooks } = await readHooks({
    files: [{ path: file, isUserOwned: false }],
    cwd,
    trust: memoryTrust(),
    unconfined: true,
    ask: async () => true,
  });
  const context: HookContext = { ...hookContext(cwd, {}), hooks };
  assert.equal((await decideWith(context)).type, 'allow');
  assert.equal((await decideWith(context)).type, 'allow', 'it wrote a line');
  writeFileSync(path.join(cwd, 'late.sh'), '#!/bin/sh\ntouch ran\n', { mode: 0o755 });
  const decision = await decideWith(context);
  assert.ok(decision.type === 'deny' && decision.reason.includes('changed since the hook was approved'));
  assert.ok(!existsSync(path.join(cwd, 'ran')));
});

test('[M31] approved hooks that can no longer be read are reported as missing', async (t) => {
  const cwd = createFolder(t);
  const file = path.join(cwd, 'settings.json');
  const trust = memoryTrust();
  const read = () => readHooks({ files: [{ path: file, isUserOwned: false }], cwd, trust, ask: async () => true });
  writeFileSync(file, '{ nonsense');
  assert.equal((await read()).failedFiles.length, 0, 'it was never approved');
  writeFileSync(file, JSON.stringify({ hooks: { PreToolUse: [{ hooks: [{ type: 'command', command: 'true' }] }] } }));
  assert.equal((await read()).hooks.length, 1);
  writeFileSync(file, '{ nonsense');
  assert.equal((await read()).failedFiles.length, 1);
});

test(
  '[M31] only regular files are read, because a pipe or device might never end',
  { skip: process.platform === 'win32' },
  async (t) => {
    const cwd = createFolder(t);
    const file = path.join(cwd, 'settings.json');
    symlinkSync('/dev/zero', file);
    const { problems } = await readHooks({ files: [{ path: file, isUserOwned: false }], cwd, trust: memoryTrust() });
    assert.match(problems[0] ?? '', /is not a file/);
    assert.equal(hashFile(file), undefined);
  },
);

test('[M31] a user hooks file that cannot be read is reported as missing, and an unknown event is reported', async (t) => {
  const cwd = createFolder(t);
  const file = path.join(cwd, 'hooks.json');
  const read = () => readHooks({ files: [{ path: file, isUserOwned: true }], cwd, trust: memoryTrust() });
  writeFileSync(file, '{ nonsense');
  assert.equal((await read()).failedFiles.length, 1);
  writeFileSync(file, JSON.stringify({ PreToolUze: [] }));
  assert.match((await read()).problems[0] ?? '', /there is no event "PreToolUze"/);
});

test('[M37] a hook that returns "continue: false" ends the run, decided from the log alone', () => {
  const { views, stops } = createHookIntegration(hookContext('/', { command: 'true' }));
  const view = runStateView([], views);
  const at = { id: 'e', parent: null, time: '' };
  const ended = { type: 'tool-ended', call: 'c', text: 'x', ms: 1 } as const;
  const note = { key: 'hook-halt/c.1', text: 'A hook ended the run: enough.' };
  const halted = view.on(view.initial, { ...ended, ...at, outcome: 'ok', notes: [note], seq: 1 });
  assert.deepEqual(stops[0]?.(halted), { reason: 'rule', detail: 'A hook ended the run: enough.' });
  const posing = view.on(view.initial, { ...ended, ...at, outcome: 'ok', text: 'A hook ended the run', seq: 1 });
  assert.equal(stops[0]?.(posing), undefined, 'a tool cannot return that');
});

test('a Notification hook learns that a run has ended, also if the program ends then', async (t) => {
  const cwd = createFolder(t);
  const hook = { command: `cat >> ${cwd}/notified; echo >> ${cwd}/notified` };
  const { hooks } = parseHooks(
    { Notification: ['permission_prompt', 'run_ended'].map((matcher) => ({ matcher, hooks: [hook] })) },
    'hooks.json',
  );
  const integration = createHookIntegration({ ...hookContext(cwd, {}), hooks });
  const event = { seq: 1, time: '2026-01-01T00:00:00Z', id: 'e1', parent: null } as const;
  integration.onEvent({ ...event, type: 'run-ended', reason: 'answered' }, state);
  await integration.close();
  const payload = JSON.parse(readFileSync(`${cwd}/notified`, 'utf8')) as Record<string, unknown>;
  assert.equal(payload['notification_type'], 'run_ended');
  assert.equal(payload['message'], 'The run has ended: answered');
});
