// Attacks of a command that is still running while another program changes the working folder: a mount is lost when the file below it is replaced.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { ExecOptions, ExecResult, Workspace } from '../src/core/index.ts';
import { chooseSandbox, withSandbox, type Sandbox } from '../src/guards/index.ts';
import { calls, says } from '../src/testing/index.ts';
import { localWorkspace } from '../src/workspace/index.ts';
import { assertAttack } from './support/attack-report.ts';
import { createProgram } from './support/cli-harness.ts';
import { noNamespaceSandbox } from './support/sandbox.ts';
import { noGit } from './support/programs.ts';

const search = process.env['PATH'] ?? '';
const skip = (await noNamespaceSandbox()) || noGit;

type Fixture = {
  readonly place: string;
  readonly root: string;
  readonly home: string;
  readonly workspace: Workspace;
  readonly sandbox: Sandbox;
  /** What the user was told. */
  readonly told: readonly string[];
  readonly has: (name: string) => boolean;
  readonly text: (name: string) => string;
  /** Starts a command and waits until it has created the file `ready`. */
  readonly start: (command: string, options?: ExecOptions) => Promise<Started>;
};

/** A running command. */
type Started = { readonly ended: Promise<ExecResult>; stop(): Promise<ExecResult> };

type FixtureOptions = { readonly repository?: boolean; readonly isHome?: boolean };

async function setup(t: TestContext, { repository = false, isHome = false }: FixtureOptions = {}): Promise<Fixture> {
  // The path of a socket has at most 107 bytes.
  const place = realpathSync(mkdtempSync(path.join(tmpdir(), 'fl-run-')));
  t.after(() => rmSync(place, { recursive: true, force: true, maxRetries: 5 }));
  const root = path.join(place, 'root');
  const home = isHome ? root : path.join(place, 'home');
  mkdirSync(root);
  mkdirSync(home, { recursive: true });
  if (repository) git(root, 'init', '-q');
  const sandbox = await openSandbox({ place, root, home });
  const told: string[] = [];
  const workspace = withSandbox(localWorkspace({ roots: [root], blobs: path.join(place, 'blobs') }), sandbox, {
    notify: (text) => void told.push(text),
  });
  const has = (name: string): boolean => existsSync(path.join(root, name));
  return {
    place,
    root,
    home,
    workspace,
    sandbox,
    told,
    has,
    text: (name) => readFileSync(path.join(root, name), 'utf8'),
    async start(command, options) {
      const stop = new AbortController();
      const ended = workspace.exec(`touch ready; ${command}`, { timeoutMs: 60_000, signal: stop.signal, ...options });
      await until(() => has('ready'));
      return {
        ended,
        stop() {
          stop.abort();
          return ended;
        },
      };
    },
  };
}

const openSandbox = ({ place, root, home }: Pick<Fixture, 'place' | 'root' | 'home'>): Promise<Sandbox> =>
  chooseSandbox({ roots: [root], home, path: search, quarantine: path.join(place, 'trash') });

async function until(isDone: () => boolean): Promise<void> {
  for (let round = 0; round < 1000 && !isDone(); round++) await wait(20);
  assert.ok(isDone(), 'the condition did not become true');
}

function git(cwd: string, ...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync('git', args, { cwd, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return stdout;
}

/** Replaces a file as an editor does. */
function replaceFile(file: string, text: string): void {
  writeFileSync(`${file}.tmp`, text);
  renameSync(`${file}.tmp`, file);
}

/** Blocks this process, so that a running command acts before the change is noticed. */
const block = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

const tryToWrite = (file: string, text: string): string =>
  `for i in $(seq 1 2000); do printf '${text}' 2>/dev/null >> ${file} && touch won && break; sleep 0.01; done; sleep 60`;

test('[attack 165] git of the user replaces the configuration while a command runs', { skip }, async (t) => {
  const { root, place, start, has, text, told } = await setup(t, { repository: true });
  const mark = path.join(place, 'host-ran');
  const attempt = tryToWrite('.git/config', `[core]\\n\\tfsmonitor = "touch ${mark}; false"\\n`);
  const before = text('.git/config');

  // A command that cannot write the git directory goes on: one mount covers all of it.
  const plain = await start(attempt);
  git(root, 'config', 'branch.topic.description', 'text');
  block(300);
  await wait(1200);
  assert.equal(has('won'), false);
  assert.equal((await plain.stop()).stopReason, undefined);

  // One that may write it is stopped, and what it wrote into the configuration is taken back.
  rmSync(path.join(root, 'ready'));
  const writing = await start(attempt, { writesGit: true });
  git(root, 'config', 'branch.topic.merge', 'refs/heads/topic');
  block(300);
  assert.ok(has('won'), 'the command had the time to write');
  const { stopReason } = await writing.ended;
  git(root, 'status', '--short');
  assert.equal(existsSync(mark), false);
  assert.match(stopReason ?? '', /another program replaced .*config/);
  // The kernel removes the mount a moment before the new file has the name: what the command writes then is lost with the old file.
  assert.match(
    told.join('\n'),
    /config was replaced by another program .*(?:moved to .*trash.*fsmonitor|Lines were added that run no program)/,
  );
  assert.ok(text('.git/config').startsWith(before), 'the earlier content is there');
  assertAttack(t, 165, [text('.git/config').includes('fsmonitor') ? 'done' : 'blocked']);
});

test('[attack 165] a harmless change of the configuration stays, and the lines are shown', { skip }, async (t) => {
  const { root, start, text, told } = await setup(t, { repository: true });
  const { ended } = await start('sleep 60', { writesGit: true });
  git(root, 'remote', 'add', 'origin', 'https://example.com/a.git');
  const { stopReason } = await ended;
  assert.match(stopReason ?? '', /another program replaced/);
  assert.match(text('.git/config'), /example\.com\/a\.git/);
  assert.match(told.join('\n'), /check them: .*url = https:\/\/example\.com/);
});

test('[attack 165] an editor or a checkout replaces a protected file while a command runs', { skip }, async (t) => {
  const { root, start, has, text, told, workspace } = await setup(t);
  writeFileSync(path.join(root, 'AGENTS.md'), 'mine\n');
  const { ended } = await start(`sleep 2; ${tryToWrite('AGENTS.md', 'EVIL')}`);
  await wait(200);
  replaceFile(path.join(root, 'AGENTS.md'), 'mine too\n');
  const { stopReason } = await ended;
  assert.match(stopReason ?? '', /another program replaced .*AGENTS\.md/);
  assert.match(told.join('\n'), /AGENTS\.md was replaced .*check whether it contains text of the command/);
  assertAttack(t, 165, [has('won') || text('AGENTS.md') !== 'mine too\n' ? 'done' : 'blocked']);
  const next = await workspace.exec('cat AGENTS.md; echo x 2>/dev/null >> AGENTS.md || echo refused');
  assert.equal(next.text.trim(), 'mine too\nrefused');
});

test('[attack 165] a file that is replaced during a short command is reported too', { skip }, async (t) => {
  const { root, start, told } = await setup(t);
  writeFileSync(path.join(root, 'AGENTS.md'), 'mine\n');
  const { ended } = await start('while [ ! -e go ]; do :; done');
  replaceFile(path.join(root, 'AGENTS.md'), 'mine too\n');
  writeFileSync(path.join(root, 'go'), '');
  // The command ends before this process can notice the change.
  block(300);
  const { code, text } = await ended;
  assert.equal(code, 0);
  assert.match(text, /While it ran, another program replaced/);
  assert.match(told.join('\n'), /AGENTS\.md was replaced/);
});

test('[attack 165] the output of a command is not shown after a hidden file was replaced', { skip }, async (t) => {
  const { root, start, told } = await setup(t, { isHome: true });
  const file = path.join(root, '.git-credentials');
  writeFileSync(file, 'https://u:OLD@h\n');
  let streamed = '';
  const { ended } = await start('while ! grep -a u: .git-credentials 2>/dev/null; do sleep 0.01; done; sleep 60', {
    onOutput: (piece) => void (streamed += piece),
  });
  replaceFile(file, 'https://u:NEW-SECRET@h\n');
  block(300);
  const { text, stopReason } = await ended;
  assert.match(stopReason ?? '', /git-credentials/);
  assert.match(told.join('\n'), /git-credentials was replaced .*the command could read it/);
  assertAttack(t, 165, [`${text}${streamed}`.includes('NEW-SECRET') ? 'done' : 'blocked']);
});

test('[attack 165] an approved call changes a protected file in place while a command runs', { skip }, async (t) => {
  const { root, start, has, text, workspace, sandbox } = await setup(t);
  const file = path.join(root, 'AGENTS.md');
  writeFileSync(file, 'mine\n');
  const command = await start(tryToWrite('AGENTS.md', 'EVIL'));
  await workspace.read('AGENTS.md');
  const change = await workspace.write('AGENTS.md', 'approved\n');
  block(100);
  assert.equal(text('AGENTS.md'), 'approved\n');
  await workspace.restore(change);
  block(100);
  assert.equal(text('AGENTS.md'), 'mine\n');
  await assert.rejects(async () => workspace.remove?.('AGENTS.md'), /was left alone: a command that runs/);
  const approved = withSandbox(localWorkspace({ roots: [root] }), sandbox, { unprotected: [file] });
  await assert.rejects(approved.exec('rm AGENTS.md'), /was left alone: a command that runs/);
  await wait(1200);
  assertAttack(t, 165, [has('won') ? 'done' : 'blocked']);
  assert.equal((await command.stop()).stopReason, undefined);
  await workspace.read('AGENTS.md');
  await workspace.remove?.('AGENTS.md');
  assert.equal(has('AGENTS.md'), false);
});

const source = (name: string): string => JSON.stringify(path.resolve(import.meta.dirname, '..', name));

/** A program that runs a command in the sandbox of a folder. */
const processScript = ({ place, home }: Fixture, command: string): string => `
  import { existsSync } from 'node:fs';
  import { chooseSandbox, withSandbox } from ${source('src/guards/index.ts')};
  import { localWorkspace } from ${source('src/workspace/index.ts')};
  const sandbox = await chooseSandbox({ roots: [process.cwd()], home: ${JSON.stringify(home)}, path: process.env.PATH, quarantine: ${JSON.stringify(path.join(place, 'trash'))} });
  const { code } = await withSandbox(localWorkspace({ roots: ['.'] }), sandbox).exec(${JSON.stringify(command)}, { writesGit: true });
  process.exitCode = code;`;

const runScript = (fixture: Fixture, command: string): ReturnType<typeof spawnSync> =>
  spawnSync(process.execPath, ['--input-type=module', '-e', processScript(fixture, command)], { cwd: fixture.root });

for (const repository of [false, true])
  test(
    `[attack 166] a second process leaves the placeholders of the first, ${repository ? 'in' : 'without'} a repository`,
    {
      skip,
    },
    async (t) => {
      const fixture = await setup(t, { repository });
      const placeholder = repository ? '.git/commondir' : '.git';
      const make = repository ? 'echo ../x > .git/commondir' : 'mkdir .git';
      const command = await fixture.start(
        `for i in $(seq 1 3000); do { ${make}; } 2>/dev/null && touch won && break; sleep 0.01; done`,
        { writesGit: true },
      );
      assert.ok(fixture.has(placeholder));
      assert.equal(runScript(fixture, 'true').status, 0);
      block(200);
      assertAttack(t, 166, [fixture.has('won') || !fixture.has(placeholder) ? 'done' : 'blocked']);
      assert.equal((await command.stop()).stopReason, undefined);
      // The last process removes them.
      assert.equal(runScript(fixture, 'true').status, 0);
      assert.equal(repository || fixture.has('.git'), repository);
    },
  );

test('[attack 166] a folder with the inode number of a removed placeholder is moved away', { skip }, async (t) => {
  const { root, start, has, told } = await setup(t);
  const { ended } = await start(
    `until mkdir .git 2>/dev/null; do :; done; printf '[core]\\n\\tfsmonitor = false\\n' > .git/config; mkdir .git/objects .git/refs; echo x > .git/HEAD; sleep 60`,
  );
  rmdirSync(path.join(root, '.git'));
  block(300);
  const { stopReason } = await ended;
  assert.match(stopReason ?? '', /another program replaced .*\.git/);
  assertAttack(t, 166, [has('.git/config') ? 'done' : 'blocked']);
  assert.match(told.join('\n'), /\.git .*moved to/);
});

test('[attack 167] a command ends when a program of the user opens a socket in the folder', { skip }, async (t) => {
  const { root, start, has, told, workspace } = await setup(t);
  const python = spawnSync('python3', ['--version']).status === 0;
  const own = python
    ? `python3 -c 'import socket, time; s = socket.socket(socket.AF_UNIX); s.bind("own.sock"); s.listen(1); time.sleep(60)' &`
    : '';
  const outcomes: string[] = [];
  for (const folder of ['.', 'deep/er']) {
    mkdirSync(path.join(root, folder), { recursive: true });
    rmSync(path.join(root, 'ready'), { force: true });
    rmSync(path.join(root, 'own.sock'), { force: true });
    const at = path.join(root, folder, 'x.sock');
    const command = await start(
      `${own} until [ -S ${folder}/x.sock ]; do sleep 0.05; done; sleep 8; touch reached; sleep 60`,
    );
    if (python) await until(() => has('own.sock'));
    // A socket of the command itself does not end it.
    await wait(1500);
    const server = createServer(() => {});
    await new Promise<void>((resolve) => server.listen(at, resolve));
    const { stopReason = 'not stopped' } = await command.ended;
    outcomes.push(stopReason);
    // A command that starts now has it covered, and goes on.
    assert.equal((await workspace.exec('sleep 1.5; echo done')).text.trim(), 'done');
    await new Promise((resolve) => server.close(resolve));
  }
  for (const reason of outcomes) assert.match(reason, /another program opened the socket .*x\.sock/);
  assert.match(told.join('\n'), /another program opened the socket/);
  assertAttack(t, 167, [has('reached') ? 'done' : 'contained']);
});

test('[attack 136] what the user creates after a process was killed stays', { skip }, async (t) => {
  const fixture = await setup(t);
  const { root, place, has } = fixture;
  const records = path.join(place, 'running-commands');
  const kill = async (): Promise<string> => {
    rmSync(path.join(root, 'ready'), { force: true });
    const script = processScript(fixture, 'touch ready; sleep 60');
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], { cwd: root, stdio: 'ignore' });
    const ended = new Promise((resolve) => child.on('exit', resolve));
    await until(() => has('ready') && readdirSync(records).some((name) => name.endsWith('.renewed')));
    child.kill('SIGKILL');
    await ended;
    for (const name of readdirSync(records)) utimesSync(path.join(records, name), ago(60), ago(60));
    return path.join(records, readdirSync(records).find((name) => name.endsWith('.renewed')) ?? '');
  };
  await kill();
  writeFileSync(path.join(root, '.env'), 'A=1');
  assert.equal(runScript(fixture, 'true').status, 0);
  assert.ok(has('.env'), 'it was created long after the process ended');
  assert.deepEqual(readdirSync(records), []);
  rmSync(path.join(root, '.env'));
  utimesSync(await kill(), ago(0), ago(0));
  writeFileSync(path.join(root, '.env'), 'A=1');
  assert.equal(runScript(fixture, 'true').status, 0);
  assertAttack(t, 136, [has('.env') ? 'done' : 'contained']);
});

const ago = (seconds: number): number => Date.now() / 1000 - seconds;

test('[attack 136] the next start says which files of a killed session were moved away', { skip }, async (t) => {
  let turns = 0;
  const command = 'echo obey > AGENTS.md; touch ready; sleep 60';
  const program = await createProgram(t, () => (turns++ === 0 ? calls('run_command', { command }) : says('Done.')));
  await program.seedModels('qwen3');
  const first = program.start(['go', '--auto-approve']);
  await until(() => existsSync(path.join(program.cwd, 'ready')));
  first.kill('SIGKILL');
  await first.ended;
  const { err } = await program.run(['hello']);
  assert.match(err, /AGENTS\.md appeared while a command of an earlier session was running and was moved to/);
  assertAttack(t, 136, [existsSync(path.join(program.cwd, 'AGENTS.md')) ? 'done' : 'contained']);
});
