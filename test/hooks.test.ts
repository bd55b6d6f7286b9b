// An existing hooks file, unchanged, in the real program: approved once, bound to the scripts it runs, and applied at every event.
import assert from 'node:assert/strict';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { isObject, type JsonObject } from '../src/core/index.ts';
import { calls, says, type Script } from '../src/testing/index.ts';
import { writeHooks } from './support/hooks-file.ts';
import { answerPrompt, waitForExitCode, createProgram } from './support/cli-harness.ts';
import { writeFiles } from './support/program-dirs.ts';
import { noTerminal } from './support/terminal.ts';

const skip = noTerminal();

const steps: readonly (readonly [string, JsonObject])[] = [
  ['run_command', { command: 'rm -rf build' }],
  ['write_file', { path: '.env', content: 'KEY=1' }],
  ['write_file', { path: 'notes.txt', content: 'Ahoy\n' }],
];

/** Makes the calls, one per turn, then answers; after the request to run the tests it says that it did. */
const script: Script<JsonObject> = ({ results, body }) => {
  const [tool, input] = steps[results.length] ?? [];
  if (tool !== undefined && input) return calls(tool, input);
  return says(JSON.stringify(body).includes('Run the tests before you stop.') ? 'The tests pass.' : 'Done.');
};

const question = /Run the hooks in \S+\/\.claude\/settings\.json\?/;

test(
  '[M31, M36, M37, M39] an existing hooks file works unchanged: it denies calls, adds text to results and prompts, and rejects answers; after a change it needs approval again',
  { skip },
  async (t) => {
    const program = await createProgram(t, script);
    await program.seedModels('qwen3');
    const place = writeHooks(program.cwd);
    const args = ['do it', '--auto-approve', '--no-sandbox'];

    const piped = await program.run(['-p', ...args]);
    assert.match(piped.err, /settings\.json: its hooks are not approved, so they do not run\./);
    assert.equal(existsSync(path.join(program.cwd, 'seen-after.json')), false);

    const terminal = await program.open([...args, '-n', 'hooked']);
    const seen = await terminal.waitFor(/^number \[y\/N\]: *$/m);
    assert.match(seen, question);
    assert.match(seen, /rm -rf is not allowed here/, 'the scripts are shown too');
    await answerPrompt(terminal, /^number \[y\/N\]: *$/m, 'y', 'Enter');
    assert.equal(await waitForExitCode(terminal), 0);
    assert.match(await terminal.screen({ back: true }), /^The tests pass\.$/m);

    const log = program.session('hooked');
    assert.match(log, /does not allow this call, so nothing was run: rm -rf is not allowed here\./);
    assert.match(log, /does not allow this call, so nothing was run: Secrets stay as they are\./);
    assert.equal(existsSync(path.join(program.cwd, '.env')), false);
    assert.match(log, /"type":"tool-ended"[^\n]*"notes":\[\{[^\]]*The formatter changed nothing\./);
    assert.match(log, /"type":"check-ended"[^\n]*Run the tests before you stop\./);
    assert.match(JSON.stringify(program.modelRequests().at(-1)?.body), /The branch is main\.[^]*do it/);
    const heard: unknown = JSON.parse(readFileSync(path.join(program.cwd, 'seen-after.json'), 'utf8'));
    assert.ok(isObject(heard));
    const file = path.join(program.cwd, 'notes.txt');
    const { session_id: id, transcript_path: transcript, tool_response: response, ...rest } = heard;
    assert.deepEqual(rest, {
      cwd: program.cwd,
      permission_mode: 'bypassPermissions',
      hook_event_name: 'PostToolUse',
      tool_name: 'Write',
      tool_input: { file_path: file, content: 'Ahoy\n' },
      fairlead_tool: 'write_file',
      tool_use_id: rest['tool_use_id'],
    });
    assert.ok(typeof id === 'string' && log.includes(id));
    assert.match(String(transcript), /session_hooked\.jsonl$/);
    assert.ok(isObject(response) && response['success'] === true);

    appendFileSync(place('no-rm.sh'), '# changed\n');
    const changed = await program.call(['-p', ...args]);
    assert.match(changed.err, /settings\.json: its hooks changed since they were approved, so they do not run\./);
    assert.match(changed.err, /Until \S+settings\.json is fixed, every call needs approval\./);
    assert.equal(changed.code, 5, 'without a user to ask, nothing runs');
  },
);

test('[M39] a hook can prevent a prompt from being sent and recorded', async (t) => {
  const program = await createProgram(t);
  await program.seedModels('qwen3');
  const guard = `grep -q 'password is' && { echo 'Words with a password stay here.' >&2; exit 2; }; exit 0`;
  writeFiles(program.home, {
    'config/fairlead/hooks.json': JSON.stringify({ hooks: { UserPromptSubmit: [{ hooks: [{ command: guard }] }] } }),
  });
  const refused = await program.call(['-p', 'my password is hunter2', '-n', 'quiet']);
  assert.notEqual(refused.code, 0);
  assert.match(refused.err, /blocked this prompt: Words with a password stay here\./);
  assert.deepEqual(program.modelRequests(), []);
  assert.ok(program.sessions().every((name) => !program.session(name).includes('hunter2')));
  assert.match((await program.call(['-p', 'ahoy'])).out, /You said: ahoy/);
});

test('[M39] the text of a prompt hook is recorded as text of the hook: it is not the first message of the session', async (t) => {
  const program = await createProgram(t);
  await program.seedModels('qwen3');
  writeFiles(program.home, {
    'config/fairlead/hooks.json': JSON.stringify({
      hooks: { UserPromptSubmit: [{ hooks: [{ command: 'echo The tide is low' }] }] },
    }),
  });
  await program.call(['-p', 'ahoy', '-n', 'hooked']);
  const inputs = program
    .session('hooked')
    .split('\n')
    .flatMap((line) => (line.includes('"input-received"') ? [JSON.parse(line) as { how: string; by?: string }] : []));
  assert.deepEqual(
    inputs.map(({ how, by }) => [how, by]),
    [
      ['steer', 'hook'],
      ['prompt', undefined],
    ],
  );
  const listed = await program.call(['sessions', 'list', '--json']);
  assert.match(listed.out, /ahoy/);
  assert.doesNotMatch(listed.out, /hook of the user/);
});

for (const [what, command, why] of [
  ['does not exist', '/nowhere/at/all.sh', /failed, so nothing was run: it exited with code 127/],
  ['crashes', 'echo broken >&2; exit 1', /failed, so nothing was run: it exited with code 1: broken/],
  ['returns invalid output', `echo '{"decision": '`, /failed, so nothing was run: its output is not JSON/],
] as const)
  test(`[M31] a hook that ${what} denies, in the real program`, async (t) => {
    const program = await createProgram(t, ({ results }) =>
      results.length ? says(`Heard: ${results[0]}`) : calls('run_command', { command: 'touch made' }),
    );
    await program.seedModels('qwen3');
    const hooks = { PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command }] }] };
    writeFiles(program.home, { 'config/fairlead/hooks.json': JSON.stringify({ hooks }) });
    const ran = await program.call(['-p', 'go', '--auto-approve', '--no-sandbox']);
    assert.match(ran.out, why);
    assert.equal(existsSync(path.join(program.cwd, 'made')), false);
    const doctor = await program.run(['doctor', '--offline']);
    assert.equal(doctor.code, 1);
    assert.match(doctor.out, /^FAIL +guards +hook .* it gives no answer/m);
  });
