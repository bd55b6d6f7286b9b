import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { ExecResult } from '../../core/index.ts';
import { localWorkspace } from '../../workspace/index.ts';
import { noNamespaceSandbox } from '../../../test/support/sandbox.ts';
import { noGit } from '../../../test/support/programs.ts';
import { chooseSandbox } from './choose.ts';
import { withQuarantine } from './quarantine.ts';
import { removeIdlePlaceholders } from './placeholders.ts';
import { withSandbox, type Sandbox } from './sandbox.ts';

const search = process.env['PATH'] ?? '';
const skip = (await noNamespaceSandbox()) || noGit;

type SandboxFixture = {
  readonly root: string;
  readonly trash: string;
  readonly run: (command: string, timeoutMs?: number, signal?: AbortSignal) => Promise<ExecResult>;
  /** Runs a command that may write the git directory. */
  readonly withGit: (command: string) => Promise<ExecResult>;
  /** Runs a program that only reads. */
  readonly look: (command: string) => Promise<ExecResult>;
  /** Writes a file as a tool does after an approval. */
  readonly write: (name: string, content: string) => Promise<unknown>;
  readonly has: (name: string) => boolean;
};

async function setup(t: TestContext, rootIsHome = false): Promise<SandboxFixture> {
  const place = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-traps-')));
  t.after(() => rmSync(place, { recursive: true, force: true }));
  const [root, trash] = [path.join(place, 'root'), path.join(place, 'trash')];
  mkdirSync(root);
  const home = rootIsHome ? root : path.join(place, 'home');
  mkdirSync(home, { recursive: true });
  const sandbox = await chooseSandbox({ roots: [root], home, path: search, quarantine: trash });
  const workspace = withSandbox(localWorkspace({ roots: [root] }), sandbox);
  return {
    root,
    trash,
    run: async (command, timeoutMs = 20_000, signal = new AbortController().signal) =>
      workspace.exec(command, { timeoutMs, signal }),
    withGit: async (command) => workspace.exec(command, { writesGit: true }),
    look: async (command) => withSandbox(localWorkspace({ roots: [root] }), sandbox, { access: 'read' }).exec(command),
    write: async (name, content) => workspace.write(name, content),
    has: (name) => existsSync(path.join(root, name)),
  };
}

const files = ['.mcp.json', '.env', '.envrc', '.gitmodules'];
const folders = ['.fairlead', '.claude', '.agents', 'custom_tools', '.vscode', '.idea'];

test(
  '[attack 28] new files that other programs execute are moved to quarantine, and the result says where they are',
  { skip },
  async (t) => {
    const { root, trash, run, has } = await setup(t);
    const { code, text } = await run(
      `for f in ${files.join(' ')}; do echo evil > $f; done; for d in ${folders.join(' ')}; do mkdir $d; echo evil > $d/x; done; echo kept > notes.md`,
    );
    assert.equal(code, 0, text);
    for (const name of [...files, ...folders]) {
      assert.ok(!has(name), name);
      assert.ok(text.includes(`[${path.join(root, name)} was created by this command and was moved away`), name);
    }
    assert.equal(readdirSync(trash).length, files.length + folders.length);
    assert.equal(readFileSync(path.join(root, 'notes.md'), 'utf8'), 'kept\n');
  },
);

test(
  '[attack 28] a command creates no repository, and an existing one gets no hooks and no commondir',
  { skip },
  async (t) => {
    const { root, run, withGit, has } = await setup(t);
    assert.match((await run('git init -q . && git config core.fsmonitor ./x')).text, /Read-only file system/);
    assert.ok(!has('.git'));
    mkdirSync(path.join(root, '.git'));
    writeFileSync(path.join(root, '.git/config'), '');
    await withGit(
      'mkdir .git/hooks; echo x > .git/hooks/pre-commit; echo ../evil > .git/commondir; echo ref > .git/HEAD',
    );
    removeIdlePlaceholders();
    assert.ok(!has('.git/hooks') && !has('.git/commondir'));
    assert.ok(has('.git/HEAD'));
  },
);

test(
  '[attack 28] existing files of that kind are read-only, also through a link, and a link stays unchanged',
  { skip },
  async (t) => {
    const { root, run } = await setup(t);
    writeFileSync(path.join(root, 'real.env'), 'A=1\n');
    symlinkSync('real.env', path.join(root, '.env'));
    writeFileSync(path.join(root, '.mcp.json'), '{}');
    await run('echo B=2 >> .env; echo B=2 >> real.env; rm .env; echo evil > .env; echo evil > .mcp.json; rm .mcp.json');
    assert.equal(readFileSync(path.join(root, '.env'), 'utf8'), 'A=1\n');
    assert.equal(readlinkSync(path.join(root, '.env')), 'real.env');
    assert.equal(readFileSync(path.join(root, '.mcp.json'), 'utf8'), '{}');
  },
);

test('[attack 28] a command that is killed at its timeout leaves no such files either', { skip }, async (t) => {
  const { run, has } = await setup(t);
  const { stopped, text } = await run('while :; do echo evil > .env; done', 1000);
  assert.equal(stopped, 'timeout');
  assert.match(text, /\.env was created by this command/);
  assert.ok(!has('.env'));
});

test('[attack 28] in a home directory new startup files are not created', { skip }, async (t) => {
  const { run, has } = await setup(t, true);
  await run('echo evil > .bashrc; echo evil > .gitconfig; echo ok > plain');
  assert.ok(!has('.bashrc') && !has('.gitconfig') && has('plain'));
});

test('[attack 28] a program that dies during a command leaves no such files either', { skip }, async (t) => {
  const { root, has } = await setup(t);
  mkdirSync(path.join(root, '.git/objects'), { recursive: true });
  const at = (name: string): string => JSON.stringify(path.resolve(import.meta.dirname, name));
  const script = `
    import { existsSync } from 'node:fs';
    import { chooseSandbox } from ${at('choose.ts')};
    import { withSandbox } from ${at('sandbox.ts')};
    import { localWorkspace } from ${at('../../workspace/index.ts')};
    const sandbox = await chooseSandbox({ roots: [process.cwd()], home: '/nowhere', path: process.env.PATH });
    void withSandbox(localWorkspace({ roots: ['.'] }), sandbox).exec('echo evil > .env; touch ready; sleep 20');
    setInterval(() => existsSync('ready') && process.exit(3), 10);`;
  const { status } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { cwd: root });
  assert.deepEqual([status, has('ready'), has('.env')], [3, true, false]);
  assert.deepEqual(readdirSync(path.join(root, '.git')), ['objects'], 'placeholders are removed at exit');
});

test('[attack 90] a file that cannot be moved away stops commands and reading until the user removes it', async (t) => {
  const place = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-stopped-')));
  t.after(() => rmSync(place, { recursive: true, force: true }));
  const [root, elsewhere] = [path.join(place, 'root'), path.join(place, 'elsewhere')];
  mkdirSync(root);
  /** A sandbox whose only command replaces the working folder by a link, so that it cannot be opened safely. */
  const inner: Sandbox = {
    name: 'fake',
    description: '',
    async exec(command) {
      if (command === 'attack') {
        renameSync(root, elsewhere);
        symlinkSync(elsewhere, root);
        writeFileSync(path.join(root, '.env'), 'evil');
      }
      return { code: 0, signal: null, text: 'ran' };
    },
  };
  const sandbox = withQuarantine(inner, { roots: [root], home: '/nowhere', path: '' });
  const workspace = localWorkspace({ roots: [root] });
  const told: string[] = [];
  const run = withSandbox({ ...workspace, locate: () => root }, sandbox, { notify: (text) => void told.push(text) });
  const look = withSandbox({ ...workspace, locate: () => root }, sandbox, { access: 'read' });
  assert.equal((await run.exec('harmless')).text, 'ran');
  assert.equal(sandbox.stoppedReason?.(), undefined);
  const { text } = await run.exec('attack');
  assert.match(text, /\.env was created by this command and could not be moved away/);
  const stopped = { code: 'sandbox/stopped', message: /^Commands are stopped: .*\.env.* Check and remove it/ };
  await assert.rejects(run.exec('harmless'), stopped);
  await assert.rejects(look.exec('look'), stopped);
  assert.equal(told.length, 1, 'the user is informed once');
  assert.match(told[0] ?? '', /^Commands are stopped/);
  rmSync(path.join(elsewhere, '.env'));
  assert.equal((await run.exec('harmless')).text, 'ran');
  assert.equal(sandbox.stoppedReason?.(), undefined);
});

test(
  '[attack 89] a file created by a running command is moved away when the next command or search starts',
  { skip },
  async (t) => {
    const { root, run, look, write, has } = await setup(t);
    const ending = new AbortController();
    const background = run('echo evil > .env; touch ready; sleep 60', 60_000, ending.signal);
    for (let tries = 0; tries < 600 && !has('ready'); tries++) await wait(50);
    assert.ok(has('.env'));
    await look('true');
    assert.ok(!has('.env'), 'moved before the next program reads the folder');
    assert.match((await run('true')).text, /\.env was created by a command and was moved away/);
    await write('AGENTS.md', 'approved');
    await run('true');
    assert.equal(readFileSync(path.join(root, 'AGENTS.md'), 'utf8'), 'approved', 'a file of an approved call stays');
    writeFileSync(path.join(root, 'AGENTS.md'), 'changed');
    await look('true');
    assert.ok(!has('AGENTS.md'), 'but not if it changes afterwards');
    ending.abort();
    await background;
  },
);

test('a repository that the user creates while a command runs stays', { skip }, async (t) => {
  const { root, run, has } = await setup(t);
  const ending = new AbortController();
  const background = run('touch ready; sleep 60', 60_000, ending.signal);
  for (let i = 0; i < 200 && !has('ready'); i++) await wait(25);
  spawnSync('git', ['init', '-q', root]);
  assert.doesNotMatch((await run('echo x > .git/config')).text, /was moved away/);
  ending.abort();
  await background;
  assert.match(readFileSync(path.join(root, '.git/config'), 'utf8'), /repositoryformatversion/);
});

test('the record of running commands is renewed, also for a sandbox without mounts', async (t) => {
  const place = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-traps-')));
  t.after(() => rmSync(place, { recursive: true, force: true }));
  const root = path.join(place, 'root');
  mkdirSync(root);
  const records = path.join(place, 'running-commands');
  const isRenewed = (): boolean => readdirSync(records).some((name) => name.endsWith('.renewed'));
  const inner: Sandbox = {
    name: 'inner',
    description: '',
    async exec() {
      for (let round = 0; round < 1000 && !isRenewed(); round++) await wait(20);
      return { code: 0, signal: null, text: String(isRenewed()) };
    },
  };
  const paths = { roots: [root], home: '/nowhere', path: '', quarantine: path.join(place, 'trash') };
  const sandbox = withQuarantine(inner, paths, { needsPlaceholders: false });
  const { text } = await withSandbox(localWorkspace({ roots: [root] }), sandbox).exec('true');
  assert.equal(text, 'true');
  assert.equal(isRenewed(), false, 'it is removed when no command runs');
});
