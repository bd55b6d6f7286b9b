// Tests the demo in a pipe and in a terminal; its statements are checked from outside while it waits.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { waitUntilArmed } from '../../../../test/support/tui.ts';
import { bin } from '../../../../test/support/program-dirs.ts';
import { noTerminal, openTerminal, type Terminal } from '../../../../test/support/terminal.ts';
import type { Event } from '../../../core/index.ts';
import { says, scriptedServer } from '../../../testing/index.ts';
import { demoModelNotice } from './tour.ts';
import { tourSteps } from './steps.ts';

const program = [process.execPath, bin, 'demo'];

type Outside = { readonly temp: string; readonly home: string; readonly env: Readonly<Record<string, string>> };

/** Creates directories that the demo must leave empty. */
function outside(t: TestContext): Outside {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-demo-test-')));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const [temp, home] = [path.join(root, 'temp'), path.join(root, 'home')];
  for (const dir of [temp, home]) mkdirSync(dir);
  return { temp, home, env: { PATH: process.env['PATH'] ?? '', TMPDIR: temp, HOME: home } };
}

const nothingLeft = ({ temp, home }: Outside): void => {
  assert.deepEqual(
    readdirSync(temp).filter((name) => name.startsWith('fairlead-')),
    [],
  );
  assert.deepEqual(readdirSync(home), []);
};

test('in a pipe the tour runs to its end, says on every screen that its model is scripted, calls no model and leaves no files', async (t) => {
  await using server = await scriptedServer(() => says('I am real'));
  const environment = outside(t);
  const env = { ...environment.env, HARNESS_INFERENCE_PROVIDER: 'lm-studio', OLLAMA_API_URL: server.url };
  const { promise, resolve } = Promise.withResolvers<{ code: number; out: string; err: string }>();
  const child = execFile(program[0] ?? '', program.slice(1), { env, cwd: environment.home }, (error, out, err) =>
    resolve({ code: error === null ? 0 : Number(error.code), out, err }),
  );
  child.stdin?.end('n\nq\nthis is for nobody\n');
  const { code, out, err } = await promise;
  assert.deepEqual([code, err], [0, ''], out);
  const screens = out.split(`[warning] ${demoModelNotice}\n`).slice(1);
  assert.equal(screens.length, tourSteps.length + 1);
  for (const [i, { title }] of tourSteps.entries())
    assert.ok(screens[i + 1]?.startsWith(`\n== ${i + 1} of ${tourSteps.length}  ${title}\n`), screens[i + 1]);
  assert.match(
    out,
    /Edit greet\.mjs\?\ngreet\.mjs \(edit, \+1 -1\)\n[^]*2 - const who = 'sailor';\n2 \+ const who = 'whole crew';\n[^]*The demo is not interactive, so it answers: yes\./,
  );
  assert.match(out, /^ {2}-const who = 'sailor';\n {2}\+const who = 'whole crew';$/m);
  assert.match(out, /^\[info\] Checked: process \d+ was killed by SIGKILL/m);
  assert.match(out, /You would be asked now[^]*^\[tool\] run_command: outcome unknown/m);
  assert.match(out, /^\[info\] Checked: ledger\.txt has 1 line: the effect happened once$/m);
  assert.match(out, /^└─ 2 {2}edited/m);
  assert.equal(
    [...out.matchAll(/Checked: the session "\w+" has \d+ events, chained by hashes, and verifies/g)].length,
    2,
  );
  assert.equal(server.requests.length, 0);
  nothingLeft(environment);
});

test('a closed pipe ends the tour without an error message', async (t) => {
  const environment = outside(t);
  const child = spawn(program[0] ?? '', program.slice(1), { env: environment.env, cwd: environment.home });
  const { promise, resolve } = Promise.withResolvers<number | null>();
  child.on('exit', resolve);
  child.stdout.once('data', () => child.stdout.destroy());
  let err = '';
  child.stderr.on('data', (text: Buffer) => (err += text.toString()));
  assert.deepEqual([await promise, err], [130, '']);
  nothingLeft(environment);
});

const skip = noTerminal();
const size = { columns: 110, rows: 45 };

// The shell prints the exit code: tmux does not always report it.
const told = '"$@"; echo "exit code $?"';

/** Opens the demo in a terminal, at its first question. */
async function begin(t: TestContext, environment: Outside, ...args: readonly string[]): Promise<Terminal> {
  const terminal = await openTerminal(t, ['sh', '-c', told, 'sh', ...program, ...args], {
    ...size,
    cwd: environment.home,
    env: environment.env,
  });
  await terminal.waitFor(/== Fairlead demo/);
  return terminal;
}

/** Presses a key once the question on the screen accepts keys. */
async function press(terminal: Terminal, at: RegExp, ...keys: string[]): Promise<void> {
  const end = Date.now() + 30_000;
  // Only the visible screen: the scrollback has earlier questions.
  for (let now = await terminal.screen(); !at.test(now); now = await terminal.screen()) {
    assert.ok(Date.now() < end, `${at.source} did not appear:\n${now}`);
    await pause(40);
  }
  await waitUntilArmed();
  await terminal.keys(...keys);
}

/** Waits for the end of the program and returns its exit code. */
async function exitCode(terminal: Terminal): Promise<number> {
  const screen = await terminal.waitFor(/^exit code \d+$/m);
  return Number(/^exit code (\d+)$/m.exec(screen)?.[1]);
}

const screenOf = (step: string): RegExp => new RegExp(`== ${step}[^]*\\? Continue\\? \\[G/q\\]`);

function eventsOf(root: string, name: string): readonly Event[] {
  const file = path.join(root, 'home', 'data', 'fairlead', 'sessions', `session_${name}.jsonl`);
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => (line.includes('"type":"') ? [JSON.parse(line) as Event] : []));
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

test('[A75, A77] in a terminal the user answers, and each statement of the tour is true', { skip }, async (t) => {
  const environment = outside(t);
  const terminal = await begin(t, environment);
  await press(terminal, screenOf('Fairlead demo'), 'Enter');
  const root = path.join(
    environment.temp,
    readdirSync(environment.temp).find((name) => name.startsWith('fairlead-demo-')) ?? '',
  );
  const read = (name: string): string => readFileSync(path.join(root, 'work', name), 'utf8');
  assert.match(read('greet.mjs'), /'sailor'/);
  await press(terminal, /\? Edit greet\.mjs\? \[y\/N\/a\]/, 'y', 'Enter');
  const coloured = await terminal.waitFor(/31m-const who = 'sailor';[^]*32m\+const who = 'whole crew';/, 20_000, {
    colors: true,
  });
  assert.match(coloured, /SCRIPTED MODEL/);
  assert.match(read('greet.mjs'), /'whole crew'/);
  const decided = eventsOf(root, 'tour').flatMap((event) =>
    event.type === 'approval-resolved' ? [[event.allowed, event.by]] : [],
  );
  assert.deepEqual(decided, [[true, 'person']]);

  await press(terminal, screenOf('1 of 5'), 'Enter');
  const [, pid = ''] = /kill -KILL (\d+)/.exec(await terminal.waitFor(/was killed by SIGKILL/)) ?? [];
  assert.ok(!isAlive(Number(pid)));
  const begun = eventsOf(root, 'parcel').at(-1);
  assert.equal(begun?.type, 'tool-started', 'the process died between the effect and its result');
  assert.equal(read('ledger.txt'), 'one parcel sent\n');

  await press(terminal, screenOf('2 of 5'), 'Enter');
  await terminal.waitFor(/the effect happened once/);
  assert.equal(read('ledger.txt'), 'one parcel sent\n');
  const calls = eventsOf(root, 'parcel').flatMap((event) =>
    event.type === 'tool-started' ? [event.tool] : event.type === 'tool-ended' ? [event.outcome] : [],
  );
  assert.deepEqual(calls, ['run_command', 'unknown', 'read_file', 'ok']);

  await press(terminal, screenOf('3 of 5'), 'Enter');
  await terminal.waitFor(/starts with the edited message/);
  const branches = eventsOf(root, 'tour').flatMap((event) => (event.type === 'branch-started' ? event.reason : []));
  assert.deepEqual(branches, ['edited']);

  await press(terminal, screenOf('4 of 5'), 'Enter');
  await terminal.waitFor(/Next steps[^]*"tour" has \d+ events, chained by hashes, and verifies/);
  assert.equal(await exitCode(terminal), 0);
  nothingLeft(environment);
});

test('[A75] a denied edit leaves the file unchanged and the tour says so; q quits', { skip }, async (t) => {
  const environment = outside(t);
  const terminal = await begin(t, environment);
  await press(terminal, screenOf('Fairlead demo'), 'Enter');
  await press(terminal, /\? Edit greet\.mjs\? \[y\/N\/a\]/, 'Enter');
  await terminal.waitFor(/Checked: you denied the edit, and greet\.mjs is unchanged/);
  await press(terminal, screenOf('1 of 5'), 'q', 'Enter');
  assert.equal(await exitCode(terminal), 0);
  assert.doesNotMatch(await terminal.screen({ back: true }), /2 of 5/);
  nothingLeft(environment);
});

test('Ctrl+C, a closed terminal and a signal end the tour, and no files are left', { skip }, async (t) => {
  const environment = outside(t);
  const terminal = await begin(t, environment);
  await press(terminal, screenOf('Fairlead demo'), 'C-c');
  assert.equal(await exitCode(terminal), 130);
  nothingLeft(environment);

  const other = await begin(t, environment);
  await other.kill();
  for (let i = 0; readdirSync(environment.temp).some((name) => name.startsWith('fairlead-')) && i < 200; i++)
    await pause(50);
  nothingLeft(environment);

  const child = spawn(program[0] ?? '', program.slice(1), { env: environment.env, cwd: environment.home });
  const { promise, resolve } = Promise.withResolvers<number | null>();
  child.on('exit', resolve);
  let out = '';
  // The child process to kill has been started at this point.
  child.stdout.on('data', (text: Buffer) => {
    out += text.toString();
    if (out.includes('$ fairlead run')) child.kill('SIGTERM');
  });
  child.stderr.on('data', (text: Buffer) => (out += text.toString()));
  assert.equal(await promise, 143, out);
  nothingLeft(environment);
});

test('--fast does not wait for keys, also with --plain', { skip }, async (t) => {
  const environment = outside(t);
  const terminal = await begin(t, environment, '--fast', '--plain');
  assert.equal(await exitCode(terminal), 0);
  const screen = await terminal.screen({ back: true });
  assert.match(screen, /so it answers: yes/);
  assert.match(screen, /5 of 5 {2}Next steps/);
  nothingLeft(environment);
});
