// Rule files in the real program: gates, reminders, renderers and stop conditions; their effects can be explained and measured.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import type { JsonObject } from '../src/core/index.ts';
import { calls, says, type Script } from '../src/testing/index.ts';
import { answerPrompt, waitForExitCode, createProgram, type TestProgram } from './support/cli-harness.ts';
import { writeFiles } from './support/program-dirs.ts';
import { noTerminal } from './support/terminal.ts';

const declaredRules = `
name: careful
gates:
  - type: deny
    name: no-push
    tools: [run_command]
    when: { fact: argument, field: command, contains: git push }
    reason: Pushing is for people.
    examples:
      - { title: a push, call: { tool: run_command, input: { command: git push } }, decides: deny }
      - { title: a look, call: { tool: run_command, input: { command: git status } }, decides: allow }
  - { type: rate-limit, tool: list_files, most: 1, per: turn, name: one-look }
reminders:
  - name: after-a-read
    tool: read_file
    priority: 7
    cooldown: 50
    message: Mind what you read.
`;

const codedRules = `
type Kit = { stopWhen: (name: string, when: (state: { spent: { turns: number } }) => boolean | string) => unknown };
export default ({ stopWhen }: Kit) => ({
  name: 'coded',
  stops: [stopWhen('enough', (state) => state.spent.turns >= 6 && 'Six turns are enough.')],
  renderers: [{ tools: ['read_file'], as: ({ text }: { text: string }) => 'RENDERED ' + text }],
});
`;

/** Makes these calls, one per turn, then answers with their results. */
const scriptCalls =
  (...list: readonly (readonly [string, JsonObject])[]): Script<JsonObject> =>
  ({ results }) => {
    const [tool, input] = list[results.length] ?? [];
    return tool !== undefined && input ? calls(tool, input) : says(`Heard: ${results.join(' | ')}`);
  };

const pushCall = ['run_command', { command: 'git push' }] as const;
const readCall = ['read_file', { path: 'a.txt' }] as const;

async function createProgramWithRules(
  t: TestContext,
  script: Script<JsonObject>,
  files: Readonly<Record<string, string>>,
): Promise<TestProgram> {
  const program = await createProgram(t, script);
  await program.seedModels('qwen3');
  writeFiles(program.home, {
    'work/a.txt': 'Ahoy\n',
    ...Object.fromEntries(Object.entries(files).map(([name, text]) => [`config/fairlead/rules/${name}`, text])),
  });
  return program;
}

const autoApproveArgs = ['--auto-approve', '--no-sandbox'];

test('[M27, M29, M31, M36, M38, M39] rules in files are enforced, remind and render; why, backtest and report show their effects', async (t) => {
  const program = await createProgramWithRules(
    t,
    scriptCalls(pushCall, readCall, ['list_files', {}], ['list_files', {}]),
    {
      'careful.yaml': declaredRules,
      'coded.ts': codedRules,
      'notes.md': 'no rules',
      '_part.ts': 'throw new Error()',
    },
  );
  const ran = await program.run(['-p', 'go', '-n', 'ruled', ...autoApproveArgs]);
  assert.equal(ran.code, 0, ran.err);
  assert.match(ran.out, /The rule no-push does not allow this call, so nothing was run: Pushing is for people\./);
  assert.match(ran.out, /RENDERED [^]*Ahoy/);
  assert.match(ran.out, /The rule one-look does not allow this call/);
  const [first] = program.modelRequests();
  assert.match(
    JSON.stringify(first?.body),
    /## System reminders/,
    'there is a reminder, so the system prompt explains reminders',
  );
  assert.match(
    JSON.stringify(program.modelRequests()[2]?.body),
    /system-reminder name=\\"after-a-read\\"[^>]*>\\nMind what you read\./,
  );

  const why = await program.run(['why', 'ruled', '3']);
  assert.equal(why.code, 0, why.err);
  assert.match(
    why.out,
    /Turn 3 showed the model 1 note:\n  after-a-read: at tool-ended of read_file \(event \d+, turn 2\); priority 7\n    Mind what you read\./,
  );
  const refused = await program.call(['why', 'ruled', '1']);
  assert.match(refused.out, /system-reminders: at session-started/);
  assert.match(refused.out, /run_command git push\n    refused by no-push: The rule no-push/);
  assert.equal((await program.call(['why', 'ruled', '9'])).code, 1);

  const report = await program.run(['rules', 'report', 'ruled', '--json']);
  const { rules } = JSON.parse(report.out) as { rules: readonly { rule: string; fired: number; obeyed: number }[] };
  const row = (name: string) => rules.find(({ rule }) => rule === name);
  assert.deepEqual(row('no-push'), { rule: 'no-push', fired: 1, obeyed: 1, ignored: 0 });
  assert.equal(row('after-a-read')?.fired, 1);

  writeFiles(program.cwd, {
    'other.yaml': declaredRules.replace('git push', 'git pull').replaceAll('no-push', 'no-pull'),
  });
  const back = await program.call(['rules', 'backtest', 'other.yaml', 'ruled']);
  assert.doesNotMatch(back.out, /no-pull/);
  assert.match(back.out, /ruled  turn 4  deny    one-look: list_files/);
  assert.match(back.out, /ruled  turn 3  note    after-a-read \(\d+ tokens\): Mind what you read\./);
  assert.match(
    back.out,
    /1 sessions, 5 turns, 4 calls: 1 denied, 0 asked, 0 rewritten, 2 notes of \d+ tokens, 0 runs stopped\./,
  );

  assert.match((await program.call(['rules', 'list'])).out, /^no-push +gate +2 +\S+careful\.yaml$/m);
  const doctor = await program.run(['doctor', '--offline']);
  assert.match(doctor.out, /^ok +guards +rule no-push, rule one-look: stopped a test call\./m);
});

test('a question that begins with why is still a question for the model', async (t) => {
  const program = await createProgram(t);
  await program.seedModels('qwen3');
  assert.equal((await program.call(['why', 'is', 'it', 'so', '--no-sandbox'])).out, 'You said: why is it so\n');
  assert.equal((await program.call(['why', 'nothing'])).code, 2);
});

test('[M37] a stop condition from a file ends the run, and is recorded in the log', async (t) => {
  const many = Array.from({ length: 9 }, (_, i) => ['glob', { pattern: `*.${i}` }] as const);
  const program = await createProgramWithRules(t, scriptCalls(...many), { 'coded.ts': codedRules });
  await program.call(['-p', 'go', '-n', 'stopped', ...autoApproveArgs]);
  const [ended] = program
    .session('stopped')
    .split('\n')
    .filter((line) => line.includes('"type":"run-ended"'));
  assert.match(ended ?? '', /"reason":"rule"/);
  assert.match(ended ?? '', /"detail":"enough: Six turns are enough\."/);
});

test('[M31] a user’s rule file that cannot be loaded is reported, and every call it might have denied needs approval', async (t) => {
  for (const [name, text] of [
    ['broken.yaml', declaredRules.replace('type: deny', 'type: denny')],
    ['broken.ts', 'export default ({'],
  ] as const) {
    const program = await createProgramWithRules(t, scriptCalls(readCall), { [name]: text });
    const ran = await program.call(['-p', 'go', ...autoApproveArgs]);
    assert.match(
      ran.err,
      new RegExp(`rules/${name.replace('.', '\\.')}: .+\nUntil \\S+ is fixed, every call needs approval\\.`),
      ran.err,
    );
    assert.equal(ran.code, 5, 'there is no user to approve');
    const doctor = await program.call(['doctor', '--offline']);
    assert.match(doctor.out, /^FAIL +guards +\S+broken\.\w+ cannot be used/m);
  }
});

test('[M31] failing examples fail the test of rules and the doctor', async (t) => {
  const program = await createProgramWithRules(t, scriptCalls(readCall), {
    'careful.yaml': declaredRules.replace('contains: git push', 'contains: gitpush'),
  });
  const tried = await program.call(['rules', 'test']);
  assert.equal(tried.code, 1);
  assert.match(tried.out, /^FAIL no-push: a push\. It decides allow, not deny\.$/m);
  assert.match(tried.out, /^ok   no-push: a look$/m);
  const doctor = await program.call(['doctor', '--offline']);
  assert.equal(doctor.code, 1);
  assert.match(doctor.out, /^FAIL +guards +rule no-push: a push: It decides allow, not deny\./m);
});

test(
  '[M36] the rules of a project are shown to the user with their text, and apply after approval',
  { skip: noTerminal() },
  async (t) => {
    const program = await createProgram(t, scriptCalls(pushCall));
    await program.seedModels('qwen3');
    const mark = path.join(program.home, 'mark');
    writeFiles(program.cwd, {
      '.fairlead/rules/theirs.yaml': declaredRules,
      '.fairlead/rules/code.js': `import { writeFileSync } from 'node:fs'; writeFileSync(${JSON.stringify(mark)}, 'x'); export default { name: 'theirs', gates: [] };`,
    });
    const piped = await program.call(['-p', 'go', ...autoApproveArgs]);
    assert.match(piped.err, /theirs\.yaml: is not approved, so it was not run/);
    assert.doesNotMatch(piped.out, /no-push/);
    assert.equal(existsSync(mark), false);
    const terminal = await program.open(['go', ...autoApproveArgs]);
    assert.match(await terminal.waitFor(/^number \[y\/N\]: *$/m), /Trust this project's rules \S+code\.js\?/);
    await answerPrompt(terminal, /^number \[y\/N\]: *$/m, 'n', 'Enter');
    await terminal.waitFor(/^number \[y\/N\]: n\n[^]*^number \[y\/N\]: *$/m);
    await answerPrompt(terminal, /^number \[y\/N\]: *$/m, 'y', 'Enter');
    assert.equal(await waitForExitCode(terminal), 0);
    assert.match(await terminal.screen({ back: true }), /The rule no-push does not allow this call/);
    assert.equal(existsSync(mark), false, 'the rejection does not affect the other file');
  },
);

const systemText = (body: unknown): string =>
  (body as { readonly messages: readonly { readonly role: string; readonly content: string }[] }).messages.find(
    ({ role }) => role === 'system',
  )?.content ?? '';

test('[M17, M18, M39, M48] the first request has at most 6 kB and explains reminders with an example in the system message, which no later request changes', async (t) => {
  const program = await createProgram(t, ({ results }) =>
    results.length < 3 ? calls('run_command', { command: `exit ${results.length + 1}` }) : says('I stop.'),
  );
  await program.seedModels('qwen3');
  await program.call(['-p', 'go', ...autoApproveArgs, '-n', 'usual']);
  const bodies = program.modelRequests().map(({ body }) => JSON.stringify(body));
  assert.ok((bodies[0]?.length ?? 0) < 6000, `${bodies[0]?.length} bytes`);
  const systems = program.modelRequests().map(({ body }) => systemText(body));
  assert.match(systems[0] ?? '', /<system-reminder> blocks are added by the program/);
  assert.match(
    systems[0] ?? '',
    /Example: <system-reminder name="failing-commands" nonce="N">[^<]+<\/system-reminder>/,
  );
  assert.equal(new Set(systems).size, 1, 'the system message has the same bytes in every request');
  assert.equal(bodies[0]?.match(/<system-reminder name/g)?.length, 1, 'no reminder is sent before it is needed');
  const why = await program.call(['why', 'usual', '4']);
  assert.match(why.out, /^Turn 4 showed the model 1 note:\n  failing-commands: at tool-ended of run_command/);
  assert.doesNotMatch(why.out, /wait/);
  assert.match(bodies[3] ?? '', /system-reminder name=\\"failing-commands\\"/);
  writeFiles(program.home, { 'config/fairlead/config.json': JSON.stringify({ reminders: 'none' }) });
  await program.call(['-p', 'again', ...autoApproveArgs]);
  assert.doesNotMatch(JSON.stringify(program.modelRequests().at(-1)?.body), /system-reminder/);
});
