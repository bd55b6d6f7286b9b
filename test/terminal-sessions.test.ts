// Tests sessions from the command line: named, resumed, cloned, and shared by two processes without data loss.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { getLockOwner } from '../src/sessions/index.ts';
import { calls, says } from '../src/testing/index.ts';
import { enterLine } from './support/tui.ts';
import {
  answerPrompt,
  isProcessAlive,
  waitForExitCode,
  requestMessages,
  createProgram,
  waitUntil,
  type TestProgram,
} from './support/cli-harness.ts';
import { bin } from './support/program-dirs.ts';
import { noTerminal, openTerminal } from './support/terminal.ts';

const skip = noTerminal();
const prompt = /^> *$/m;

/** Returns the roles and texts of the last request, in order. */
const getUserMessages = (program: TestProgram): readonly string[] =>
  requestMessages(program.modelRequests().at(-1)).map(({ content }) => String(content));

/** A command that waits until a file exists. */
const slowCommand = 'echo tick; while [ ! -e go ]; do sleep 0.05; done; echo tock';

/** Creates a session named `alpha` with one prompt. */
async function chooseAlphaModel(program: TestProgram): Promise<void> {
  await program.seedModels('qwen3');
  const { code, err } = await program.run(['--one-shot', '--session-name', 'alpha', '--prompt', 'one']);
  assert.equal(code, 0, err);
  assert.deepEqual(program.sessions(), ['alpha']);
}

test('[J13, J14, J39, J41, J93] one-shot: -n names the session, -r resumes it by name, id or id prefix', async (t) => {
  const program = await createProgram(t);
  await chooseAlphaModel(program);
  writeFileSync(path.join(program.cwd, 'more.md'), 'two');
  const second = await program.call(['--one-shot', '--resume-session', 'alpha', '--prompt-file', 'more.md', '--json']);
  assert.equal(second.code, 0, second.err);
  assert.deepEqual(getUserMessages(program), ['one', 'You said: one', 'two']);
  const { session_id: id } = JSON.parse(second.out) as { readonly session_id: string };
  for (const [which, text] of [
    [id, 'three'],
    [id.slice(0, 8), 'four'],
  ] as const) {
    assert.equal((await program.call(['--one-shot', '-r', which, '-p', text])).code, 0);
    assert.equal(getUserMessages(program).at(-1), text);
  }
  assert.equal(getUserMessages(program).length, 7);
  assert.deepEqual(program.sessions(), ['alpha']);
  renameSync(program.data('sessions/session_alpha.jsonl'), program.data('sessions/session_by hand.jsonl'));
  assert.equal(
    (await program.call(['--one-shot', '-r', 'by hand', '-p', 'five'])).code,
    0,
    'the files are the list of sessions',
  );
  assert.equal(getUserMessages(program).length, 9);
  assert.equal((await program.call(['--one-shot', '-r', 'alpha', '-p', 'six'])).code, 1);
});

test('[J15, J43, J45, J46, J76] one-shot: --clone-session, and -c of start-harness: a clone is <name>-clone or has the given name, and the original is unchanged', async (t) => {
  const program = await createProgram(t);
  await chooseAlphaModel(program);
  const original = program.session('alpha');
  const file = path.join(program.home, 'start-harness');
  symlinkSync(bin, file);
  // The sessions of the other profile, which are in other directories by default.
  const env = { HARNESS_ROOT_DIRS_NAME: 'fairlead' };
  for (const [args, name] of [
    [['--clone-session', 'alpha'], 'alpha-clone'],
    [['-c', 'alpha'], 'alpha-clone-2'],
    [['-c', 'alpha', '-n', 'beta'], 'beta'],
  ] as const) {
    const { code, err } = await program.run(['--one-shot', ...args, '-p', `in ${name}`], { file, env });
    assert.equal(code, 0, err);
    assert.ok(program.sessions().includes(name), name);
    assert.deepEqual(getUserMessages(program), ['one', 'You said: one', `in ${name}`]);
    assert.match(program.session(name), new RegExp(`in ${name}`));
  }
  assert.equal(program.session('alpha'), original);
  assert.deepEqual(program.sessions(), ['alpha', 'alpha-clone', 'alpha-clone-2', 'beta']);
});

test('[J13, J14, J15] an unknown or existing session name gets one sentence, exit code 1 and no model request', async (t) => {
  const program = await createProgram(t);
  await chooseAlphaModel(program);
  program.server.clearRequests();
  const before = program.session('alpha');
  for (const [args, said] of [
    [['-r', 'alpa'], 'There is no session with the name or id "alpa". Did you mean "alpha"?\n'],
    [
      ['--fork', 'nothing'],
      'There is no session with the name or id "nothing". "fairlead sessions list" shows what there is.\n',
    ],
    [['-n', 'alpha'], 'There is already a session named "alpha". Choose another name, or resume that one.\n'],
    [
      ['--fork', 'alpha', '-n', 'alpha'],
      'There is already a session named "alpha". Choose another name, or resume that one.\n',
    ],
    [
      ['-n', ' '],
      'A session needs a name that is not empty. Leave the name away to have the date and time as its name.\n',
    ],
  ] as const)
    assert.deepEqual(await program.call(['--one-shot', ...args, '-p', 'x']), { code: 1, out: '', err: said });
  assert.deepEqual(program.modelRequests(), []);
  assert.deepEqual([program.sessions(), program.session('alpha')], [['alpha'], before]);
});

test('[J93] a hostile name stays inside the sessions directory and finds the session again', async (t) => {
  const program = await createProgram(t);
  await program.seedModels('qwen3');
  for (const [i, name] of ['../../escape', 'a\\b:c*"|?<>', '.hidden'].entries()) {
    assert.equal((await program.call(['-p', 'hi', '-n', name])).code, 0);
    assert.equal((await program.call(['-p', 'again', '-r', name])).code, 0);
    assert.equal(getUserMessages(program).length, 3);
    assert.equal(program.sessions().length, i + 1);
  }
  for (const file of program.sessions()) assert.match(file, /^[^\\/:*"|?<>]+$/);
  assert.deepEqual(readdirSync(program.data()), ['sessions']);
});

test(
  '[J3, J38, J40, J74, J75] interactive: -n names, -r resumes with the history shown, /session resume and clone do the same inside',
  { skip },
  async (t) => {
    const program = await createProgram(t);
    await chooseAlphaModel(program);
    const named = await program.open(['--session-name', 'beta']);
    await named.waitFor(/Fairlead with qwen3, session "beta"/);
    await enterLine(named, 'said in beta');
    await named.waitFor(/You said: said in beta/);
    await enterLine(named, '/session resume alpha');
    await named.waitFor(/^> one\n\nYou said: one\n[^]*Resumed "alpha"/m);
    await enterLine(named, '/session clone');
    await named.waitFor(/A copy of "alpha": "alpha-clone"\. The original stays as it was\./);
    await enterLine(named, 'said in the copy');
    await named.waitFor(/You said: said in the copy/);
    await enterLine(named, '/session rename gamma');
    await named.waitFor(/"alpha-clone" is now "gamma"/);
    await enterLine(named, '/session show-messages');
    await named.waitFor(/── User ──\none\n[^]*said in the copy/);
    await named.keys('C-d');
    assert.equal(await waitForExitCode(named), 0);
    assert.deepEqual(program.sessions(), ['alpha', 'beta', 'gamma']);
    const resumed = await program.open(['--resume-session']);
    await resumed.waitFor(/Resume which session\?/);
    await resumed.type('alpha');
    await answerPrompt(resumed, /^> alpha$/m, 'Enter');
    await resumed.waitFor(/^> one\n\nYou said: one\n/m);
    await enterLine(resumed, 'two');
    await resumed.waitFor(/You said: two/);
    assert.deepEqual(getUserMessages(program), ['one', 'You said: one', 'two']);
  },
);

test(
  '[J42, J44, J46] interactive: --clone-session opens <name>-clone, or the given name, and the original is unchanged',
  { skip },
  async (t) => {
    const program = await createProgram(t);
    await chooseAlphaModel(program);
    const original = program.session('alpha');
    const [clone, renamed] = await Promise.all([
      program.open(['--clone-session', 'alpha']),
      program.open(['--clone-session', 'alpha', '-n', 'delta']),
    ]);
    await clone.waitFor(/session "alpha-clone"[^]*^> *$/m);
    await renamed.waitFor(/session "delta"[^]*^> *$/m);
    await enterLine(clone, 'two');
    await clone.waitFor(/^> one\n\nYou said: one\n[^]*You said: two/m);
    assert.deepEqual(getUserMessages(program), ['one', 'You said: one', 'two']);
    assert.deepEqual(program.sessions(), ['alpha', 'alpha-clone', 'delta']);
    assert.equal(program.session('alpha'), original);
  },
);

test(
  '[J38] interactive: an existing name causes a question: another name, that session, or quit',
  { skip },
  async (t) => {
    const program = await createProgram(t);
    await chooseAlphaModel(program);
    const [other, old, leave] = await Promise.all(['o', 'r', 'l'].map(() => program.open(['-n', 'alpha'])));
    assert.ok(other && old && leave);
    const question = /There is already a session named "alpha"\. Choose: \[o\/r\/L\]/;
    await answerPrompt(other, question, 'o', 'Enter');
    await other.waitFor(/session "alpha-2"/);
    await answerPrompt(old, question, 'r', 'Enter');
    await old.waitFor(/You said: one[^]*session "alpha"/);
    await answerPrompt(leave, question, 'Enter');
    assert.equal(await waitForExitCode(leave), 1, 'the requested command did not run');
  },
);

test(
  '[J14, J40] two processes on one session: one-shot reports the owner, interactive may follow, clone or quit',
  { skip },
  async (t) => {
    const program = await createProgram(t, ({ prompt, results }) =>
      prompt === 'work' && results.length === 0
        ? calls('run_command', { command: slowCommand })
        : says(`You said: ${prompt}`),
    );
    await chooseAlphaModel(program);
    const holder = await program.open(['-r', 'alpha', '--auto-approve', '--no-sandbox']);
    await holder.waitFor(prompt);
    const refused = await program.call(['-p', 'me too', '-r', 'alpha']);
    assert.deepEqual([refused.code, refused.out], [1, '']);
    const [, pid = ''] =
      /^The session "alpha" is open in another process \((\d+) on \S+\)\. To continue a copy: --clone-session "alpha";/.exec(
        refused.err,
      ) ?? [];
    assert.match(pid, /\d/, refused.err);
    assert.deepEqual(program.modelRequests().length, 1);

    const question = new RegExp(`"alpha" is open in another process \\(${pid} on .*\\)\\. Choose: \\[w/c/L\\]`);
    const [watcher, copier] = await Promise.all([program.open(['-r', 'alpha']), program.open(['-r', 'alpha'])]);
    const [leaver] = await Promise.all([program.open(['-r', 'alpha']), answerPrompt(copier, question, 'c', 'Enter')]);
    await answerPrompt(leaver, question, 'w', 'Enter');
    await leaver.waitFor(/Following "alpha"[^]*following process/);
    await leaver.keys('Escape');
    assert.equal(await waitForExitCode(leaver), 0);
    await copier.waitFor(/session "alpha-clone"/);
    await enterLine(holder, 'work');
    await holder.waitFor(/run_command[^]*tick/);
    await answerPrompt(watcher, question, 'w', 'Enter');
    await watcher.waitFor(/Following "alpha"[^]*You said: one[^]*^> work$/m);
    writeFileSync(path.join(program.cwd, 'go'), '');
    await watcher.waitFor(/run_command[^]*tock[^]*^You said: work$/m);
    await enterLine(watcher, 'me too');
    await watcher.waitFor(/This view is read-only/);
    assert.doesNotMatch(program.session('alpha'), /me too/);
    await holder.keys('C-d');
    await answerPrompt(watcher, new RegExp(`Process ${pid} has released "alpha". Continue it here\\?`), 'y', 'Enter');
    await watcher.waitFor(/Fairlead with qwen3, session "alpha"/);
    await enterLine(watcher, 'my turn');
    await watcher.waitFor(/You said: my turn/);
    assert.deepEqual(
      [getUserMessages(program)[2], ...getUserMessages(program).slice(-2)],
      ['work', 'You said: work', 'my turn'],
    );
  },
);

test('[J3, J93] a damaged line is reported with its number, and the session continues without it', async (t) => {
  const program = await createProgram(t);
  await chooseAlphaModel(program);
  const file = program.data('sessions/session_alpha.jsonl');
  const lines = readFileSync(file, 'utf8').split('\n');
  const at = lines.findIndex((line) => line.includes('"turn-ended"'));
  writeFileSync(file, lines.with(at, `${lines[at]?.slice(0, 40)}`).join('\n'));
  const verified = await program.call(['sessions', 'verify', 'alpha']);
  assert.equal(verified.code, 1);
  assert.match(verified.out, new RegExp(`line ${at + 1}\\b`, 'i'));
  const { code, err } = await program.call(['-p', 'and now?', '-r', 'alpha']);
  assert.equal(code, 0, err);
  assert.match(err, new RegExp(`^Line ${at + 1} is not JSON; no event could be recovered from it\\.\n`));
  assert.equal(getUserMessages(program).at(-1), 'and now?');
  const prompted = await program.call(['--interactive', '-r', 'alpha'], { input: '/cwd\n' });
  assert.match(prompted.out, new RegExp(`^\\[warning\\] Line ${at + 1} is not JSON`, 'm'));
});

test(
  '[J3, J40] a closed terminal loses nothing: an open question is asked again, and no command keeps running',
  { skip },
  async (t) => {
    const command = 'echo $$ > pid; exec sleep 100';
    const program = await createProgram(t, [calls('run_command', { command }), 'All of it.']);
    await program.seedModels('qwen3');
    const file = path.join(program.cwd, 'pid');
    const isGone = (): boolean => getLockOwner(program.data('sessions/session_torn.jsonl')) === undefined;
    const asking = await program.open(['-n', 'torn', '--no-sandbox']);
    await asking.waitFor(prompt);
    await enterLine(asking, 'wait for me');
    await asking.waitFor(/sleep 100[^]*Run this command\?/);
    await asking.kill();
    await waitUntil('the first program is gone', isGone);
    const again = await program.open(['-r', 'torn', '--no-sandbox']);
    await answerPrompt(again, /^> wait for me\n[^]*sleep 100[^]*Run this command\?/m, 'y', 'Enter');
    await waitUntil('the command runs', () => existsSync(file) && readFileSync(file, 'utf8').endsWith('\n'));
    // Both the terminal program and the kernel send SIGHUP: two signals still end it in order.
    const { pid } = getLockOwner(program.data('sessions/session_torn.jsonl')) ?? {};
    assert.ok(pid !== undefined);
    for (let times = 0; times < 50 && !isGone(); times++, await pause(1)) process.kill(pid, 'SIGHUP');
    await again.kill();
    await waitUntil('the second program is gone', isGone);
    await waitUntil('the command is gone', () => !isProcessAlive(Number(readFileSync(file, 'utf8'))));
    const last = await program.call(['-r', 'torn', '-p', 'go on']);
    assert.deepEqual([last.code, last.out], [0, 'All of it.\n'], last.err);
    assert.deepEqual(
      requestMessages(program.modelRequests().at(-1)).map(({ role }) => role),
      ['user', 'assistant', 'tool', 'user'],
    );
  },
);

test(
  '[J3, J40] a terminal that closes without a signal also ends the program in order',
  { skip: skip || (existsSync('/usr/bin/setsid') ? false : 'there is no setsid') },
  async (t) => {
    const command = 'echo $$ > pid; exec sleep 100';
    const program = await createProgram(t, [calls('run_command', { command }), 'All of it.']);
    await program.seedModels('qwen3');
    const file = path.join(program.cwd, 'pid');
    // In another process session it gets no SIGHUP: only its writes fail.
    const text = ['-n', 'torn', '--no-sandbox', '--auto-approve', '--interactive', '-p', 'wait for me'];
    const terminal = await openTerminal(t, ['setsid', '--wait', process.execPath, bin, ...text], {
      cwd: program.cwd,
      env: program.env,
    });
    await waitUntil('the command runs', () => existsSync(file) && readFileSync(file, 'utf8').endsWith('\n'));
    await terminal.kill();
    await waitUntil(
      'the program is gone',
      () => getLockOwner(program.data('sessions/session_torn.jsonl')) === undefined,
    );
    await waitUntil('the command is gone', () => !isProcessAlive(Number(readFileSync(file, 'utf8'))));
    const last = await program.call(['-r', 'torn', '-p', 'go on']);
    assert.deepEqual([last.code, last.out], [0, 'All of it.\n'], last.err);
  },
);
