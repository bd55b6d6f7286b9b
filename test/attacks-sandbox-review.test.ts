// Attacks on the sandbox itself: races of mounts, repositories that git enters by itself, and files that are written after the program ended.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import type { ExecResult } from '../src/core/index.ts';
import { chooseSandbox, withSandbox, type Sandbox } from '../src/guards/index.ts';
import { localWorkspace } from '../src/workspace/index.ts';
import { assertAttack } from './support/attack-report.ts';
import { noSandbox } from './support/sandbox.ts';
import { noGit } from './support/programs.ts';

const skip = (await noSandbox()) || noGit;
const hasProgram = (name: string): boolean => spawnSync(name, ['--version']).status === 0;

type Folders = { readonly place: string; readonly root: string; readonly home: string; readonly trash: string };

function createFolders(t: TestContext): Folders {
  const place = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-review-')));
  t.after(() => rmSync(place, { recursive: true, force: true, maxRetries: 5 }));
  const [root, home, trash] = ['root', 'home', 'trash'].map((name) => path.join(place, name)) as [
    string,
    string,
    string,
  ];
  mkdirSync(root);
  mkdirSync(home);
  return { place, root, home, trash };
}

const openSandbox = ({ root, home, trash }: Folders): Promise<Sandbox> =>
  chooseSandbox({ roots: [root], home, path: process.env['PATH'] ?? '', quarantine: trash });

const git = (root: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=u', '-c', 'user.email=u@example.com', ...args], {
    cwd: root,
    encoding: 'utf8',
  });

test(
  '[attack 124] a configuration of one long line is checked in linear time',
  { skip, timeout: 60_000 },
  async (t) => {
    const folders = createFolders(t);
    const run = withSandbox(localWorkspace({ roots: [folders.root] }), await openSandbox(folders));
    const { text } = await run.exec(
      `mkdir -p x/objects x/refs; echo ref > x/HEAD; { printf 'url='; printf '%60000s"' ''; } > x/config`,
      { timeoutMs: 20_000 },
    );
    assert.match(text, /root\/x was created by this command and was moved away/);
    assertAttack(t, 124, ['contained']);
  },
);

test(
  '[attack 125] a worktree that a running command swaps with a link is not mounted by the next command',
  { skip: skip || (!hasProgram('python3') && 'no python3 here') },
  async (t) => {
    const folders = createFolders(t);
    const { root, home } = folders;
    git(root, 'init', '-q', '-b', 'main');
    writeFileSync(path.join(home, 'key'), 'the key of the user\n');
    const run = withSandbox(localWorkspace({ roots: [root] }), await openSandbox(folders), { writesGit: true });
    const stop = new AbortController();
    writeFileSync(
      path.join(root, 'swap.py'),
      `import ctypes, os
libc = ctypes.CDLL(None)
os.makedirs('.git/worktrees/w/commondir')
os.symlink('../../../home', '.git/worktrees/link')
open('ready', 'w').close()
while True: libc.syscall(316, -100, b'.git/worktrees/w', -100, b'.git/worktrees/link', 2)
`,
    );
    const background = run.exec('python3 swap.py', { signal: stop.signal, timeoutMs: 60_000 });
    for (let i = 0; i < 200 && !existsSync(path.join(root, 'ready')); i++)
      await new Promise((resolve) => setTimeout(resolve, 25));
    const seen: string[] = [];
    for (let round = 0; round < 40; round++) {
      const command = 'cat ~/key .git/worktrees/*/key .git/worktrees/*/*/key 2>/dev/null; echo end';
      seen.push(await run.exec(command).then(({ text }) => text, String));
    }
    stop.abort();
    await background;
    assert.ok(existsSync(path.join(root, 'ready')) && seen.some((text) => text.includes('end')), seen[0]);
    assertAttack(t, 125, [seen.some((text) => text.includes('key of the user')) ? 'done' : 'blocked']);
  },
);

test('[attack 125] a command does not start if a mount shows another folder than it should', { skip }, async (t) => {
  const { root, home, place } = createFolders(t);
  writeFileSync(path.join(home, 'key'), 'the key of the user\n');
  // Without a folder for records it is not known whether other commands run, so each command is checked.
  const sandbox = await chooseSandbox({ roots: [root], home: '/nowhere', path: process.env['PATH'] ?? '' });
  const workspace = localWorkspace({ roots: [place] });
  const run = (command: string): Promise<ExecResult> =>
    sandbox.exec(command, { cwd: root, access: 'read' }, workspace.exec.bind(workspace));
  assert.equal((await run('echo before')).text, 'before\n');
  // The folder becomes a link, as a command of a session in the folder above could make it.
  renameSync(root, path.join(place, 'away'));
  symlinkSync(home, root);
  const { code, text } = await run('cat key');
  assertAttack(t, 125, [text.includes('key of the user') ? 'done' : 'blocked']);
  assert.deepEqual([code, text.startsWith('The command was not started')], [121, true], text);
});

test('[attack 129] very many folders stop commands with a sentence', { skip, timeout: 120_000 }, async (t) => {
  const folders = createFolders(t);
  const run = withSandbox(localWorkspace({ roots: [folders.root] }), await openSandbox(folders));
  await run.exec('seq 1 10001 | xargs mkdir', { timeoutMs: 60_000 });
  const text = await run.exec('echo ran').then((result) => result.text, String);
  assert.match(text, /more than 10000 folders directly in/);
  assertAttack(t, 129, ['contained']);
});

test('[attack 134] git of the user runs no program of a repository that the index names', { skip }, async (t) => {
  const folders = createFolders(t);
  const { root, place } = folders;
  git(root, 'init', '-q', '-b', 'main');
  writeFileSync(path.join(root, 'a.txt'), 'a\n');
  git(root, 'add', '.');
  git(root, 'commit', '-qm', 'one');
  const run = withSandbox(localWorkspace({ roots: [root] }), await openSandbox(folders), { writesGit: true });
  const mark = path.join(place, 'ran-outside');
  const commit = 'git -c user.name=a -c user.email=a@example.com commit -qm x --allow-empty';
  const link = `git update-index --add --cacheinfo 160000,$s,`;
  const texts: string[] = [];
  for (const folder of ['sub', 'deep/er/sub']) {
    const { text } = await run.exec(
      `mkdir -p ${folder}; cd ${folder}; git init -q . && ${commit}; s=$(git rev-parse HEAD); printf '[core]\\n\\tfsmonitor = "touch ${mark}; false"\\n' >> .git/config; cd ${root}; ${link}${folder}; git ls-files -s`,
    );
    texts.push(text);
  }
  // A second index holds the entries, and names are compressed.
  const split = await run.exec(
    `mkdir -p split; cd split; git init -q . && ${commit}; s=$(git rev-parse HEAD); printf '[core]\\n\\tfsmonitor = "touch ${mark}; false"\\n' >> .git/config; cd ${root}; ${link}split; git update-index --index-version 4; git update-index --split-index`,
  );
  assert.match(texts.join(''), /160000 \w+ 0\tdeep\/er\/sub/);
  git(root, 'status', '--short');
  git(root, 'diff');
  assertAttack(t, 134, [existsSync(mark) ? 'done' : 'blocked']);
  assert.match(texts.join('') + split.text, /deep\/er\/sub\/\.git was created by this command and was moved away/);
  const clone = await run.exec(
    'git init -q fresh && cd fresh && git config user.name a && git config user.email a@b.example',
  );
  assert.equal(clone.text, '');
  assert.ok(existsSync(path.join(root, 'fresh/.git/config')), 'a repository without programs stays');
});

/** Shell lines that create a repository with a commit and a program that git runs, and set `s` to the commit. */
const createHostile = (folder: string, mark: string): string =>
  `(mkdir -p ${folder}; cd ${folder}; git init -q . && git -c user.name=a -c user.email=a@b.example commit -qm x --allow-empty; printf '[core]\\n\\tfsmonitor = "touch ${mark}; false"\\n' >> .git/config); s=$(git -C ${folder} rev-parse HEAD)`;

const hiddenRepositories: Readonly<Record<string, (mark: string) => readonly string[]>> = {
  'the index of a nested repository': (mark) => [
    `git init -q a && cd a && git -c user.name=a -c user.email=a@b.example commit -qm x --allow-empty && ${createHostile('b', mark)} && git update-index --add --cacheinfo 160000,$s,b && cd .. && git update-index --add --cacheinfo 160000,$(git -C a rev-parse HEAD),a`,
  ],
  'a shared index that is replaced later': (mark) => [
    'git update-index --split-index',
    'true',
    `${createHostile('x/y', mark)}; cp .git/index /tmp/new; export GIT_INDEX_FILE=/tmp/new; git update-index --no-split-index --add --cacheinfo 160000,$s,x/y; unset GIT_INDEX_FILE; f=$(ls .git/sharedindex.*); chmod u+w $f; head -c -20 /tmp/new > $f; printf "$(echo \${f##*.} | sed 's/../\\\\x&/g')" >> $f; git ls-files -s`,
  ],
  'a worktree that is a link': (mark) => [
    `mkdir -p .git/worktrees docs p/q/a/b/c && ${createHostile('p/other', mark)}; cp -r p/other/.git/. p/q/a; cp .git/HEAD p/q/a/b/c; printf '../..' > p/q/a/b/c/commondir; cp p/other/.git/index p/q/a/b/c/index; ln -s ../../p/q/a/b/c .git/worktrees/x; printf 'gitdir: ../.git/worktrees/x\\n' > docs/.git; git update-index --add --cacheinfo 160000,$s,docs`,
  ],
};
for (const [name, createCommands] of Object.entries(hiddenRepositories))
  test(`[attack 163] git of the user runs no program of a repository behind ${name}`, { skip }, async (t) => {
    const folders = createFolders(t);
    const { root, place } = folders;
    git(root, 'init', '-q', '-b', 'main');
    writeFileSync(path.join(root, 'a.txt'), 'a\n');
    git(root, 'add', '.');
    git(root, 'commit', '-qm', 'one');
    const run = withSandbox(localWorkspace({ roots: [root] }), await openSandbox(folders), { writesGit: true });
    const mark = path.join(place, 'ran-outside');
    const texts: string[] = [];
    for (const command of createCommands(mark)) texts.push((await run.exec(command)).text);
    spawnSync('git', ['status', '--short'], { cwd: root });
    assertAttack(t, 163, [existsSync(mark) ? 'done' : 'blocked']);
    assert.match(texts.join(''), /was created by this command and was moved away/);
  });

test(
  '[attack 168] while a command runs, git of the user enters no repository of the command',
  { skip, timeout: 60_000 },
  async (t) => {
    const folders = createFolders(t);
    const { root, place } = folders;
    git(root, 'init', '-q', '-b', 'main');
    writeFileSync(path.join(root, 'a.txt'), 'a\n');
    git(root, 'add', '.');
    git(root, 'commit', '-qm', 'one');
    const run = withSandbox(localWorkspace({ roots: [root] }), await openSandbox(folders));
    const mark = path.join(place, 'ran-outside');
    const command = `${createHostile('docs', mark)}; git update-index --add --cacheinfo 160000,$s,docs; touch ready; while [ ! -e looked ]; do sleep 0.05; done; rm -rf docs`;
    const running = run.exec(command, { timeoutMs: 30_000 });
    for (let i = 0; i < 400 && !existsSync(path.join(root, 'ready')); i++)
      await new Promise((resolve) => setTimeout(resolve, 25));
    // As an editor or a prompt does when the index changes.
    git(root, 'status', '--short');
    writeFileSync(path.join(root, 'looked'), '');
    const { text } = await running;
    assertAttack(t, 168, [existsSync(mark) ? 'done' : 'blocked']);
    assert.match(text, /index\.lock': Read-only file system/);
  },
);

test('[attack 164] an index whose names grow with each entry is refused in linear time', { skip }, async (t) => {
  const folders = createFolders(t);
  const { root } = folders;
  git(root, 'init', '-q');
  const entries = 150_000;
  const parts = [Buffer.from('DIRC'), Buffer.from([0, 0, 0, 4]), Buffer.alloc(4)];
  parts[2]?.writeUInt32BE(entries);
  for (let n = 0; n < entries; n++) {
    // Each entry drops one letter of the name before and adds two.
    const entry = Buffer.alloc(66);
    entry.writeUInt16BE(Math.min(n + 2, 0xfff), 60);
    entry[62] = n === 0 ? 0 : 1;
    entry.fill('a', 63, 65);
    parts.push(entry);
  }
  writeFileSync(path.join(root, 'made'), Buffer.concat([...parts, Buffer.alloc(20)]));
  const run = withSandbox(localWorkspace({ roots: [root] }), await openSandbox(folders), { writesGit: true });
  const { text } = await run.exec('mv made .git/index');
  assert.match(text, /\.git\/index was created by this command and was moved away/);
  assertAttack(t, 164, ['contained']);
});

test('[attack 136] files of a process that was killed are moved away at the next start', { skip }, async (t) => {
  const folders = createFolders(t);
  const { root, home, trash } = folders;
  const at = (name: string): string => JSON.stringify(path.resolve(import.meta.dirname, '..', name));
  const script = `
      import { existsSync } from 'node:fs';
      import { chooseSandbox, withSandbox } from ${at('src/guards/index.ts')};
      import { localWorkspace } from ${at('src/workspace/index.ts')};
      const sandbox = await chooseSandbox({ roots: [process.cwd()], home: ${JSON.stringify(home)}, path: process.env.PATH, quarantine: ${JSON.stringify(trash)} });
      void withSandbox(localWorkspace({ roots: ['.'] }), sandbox).exec('mkdir .vscode; echo {} > .vscode/tasks.json; echo obey > AGENTS.md; touch ready; sleep 60');
      setInterval(() => existsSync('ready') && process.kill(process.pid, process.argv[1]), 10);`;
  const { signal } = spawnSync(process.execPath, ['--input-type=module', '-e', script, 'SIGKILL'], { cwd: root });
  assert.equal(signal, 'SIGKILL');
  assert.ok(existsSync(path.join(root, 'AGENTS.md')), 'the process had no time to move it');
  const told: string[] = [];
  const sandbox = await openSandbox(folders);
  const run = withSandbox(localWorkspace({ roots: [root] }), sandbox, { notify: (text) => void told.push(text) });
  const { text } = await run.exec('echo next');
  const isLeft = existsSync(path.join(root, 'AGENTS.md')) || existsSync(path.join(root, '.vscode'));
  assertAttack(t, 136, [isLeft ? 'done' : 'contained']);
  assert.match(text, /AGENTS\.md was created by a command of an earlier session and was moved away/);
  assert.match(told.join('\n'), /If it is yours, move it back/);
});

/** An engine that is a script: it records its arguments. */
function createEngine({ place }: Folders, script: string): { readonly engine: string; readonly calls: () => string } {
  const [engine, record] = [path.join(place, 'podman'), path.join(place, 'calls')];
  writeFileSync(engine, `#!/bin/sh\necho "$@" >> '${record}'\n${script}\n`);
  chmodSync(engine, 0o755);
  return { engine, calls: () => readFileSync(record, 'utf8') };
}

test('[attack 130] a container gets an empty folder in place of hidden ones, into which no engine copies', async (t) => {
  const folders = createFolders(t);
  const { root } = folders;
  mkdirSync(path.join(root, '.ssh'));
  const { engine, calls } = createEngine(folders, '[ "$1" = image ] || echo done');
  const container = { engine, image: 'alpine' };
  const sandbox = await chooseSandbox({ roots: [root], home: root, path: '/nowhere', mode: 'container', container });
  await withSandbox(localWorkspace({ roots: [root] }), sandbox).exec('true');
  const [, source = ''] = new RegExp(`-v (\\S+):${root}/\\.ssh:ro`).exec(calls()) ?? [];
  const isHidden = /fairlead-empty-/.test(source) && !calls().includes(`--tmpfs ${root}`);
  assertAttack(t, 130, [isHidden ? 'blocked' : 'done']);
});

test('[attack 131] a container is removed when the program exits or is killed during its command', async (t) => {
  const folders = createFolders(t);
  const { root, home } = folders;
  const { engine } = createEngine(folders, `case "$1" in run) touch '${root}/ready'; sleep 30 ;; esac`);
  const at = (name: string): string => JSON.stringify(path.resolve(import.meta.dirname, '..', name));
  const script = `
    import { existsSync } from 'node:fs';
    import { chooseSandbox, withSandbox } from ${at('src/guards/index.ts')};
    import { localWorkspace } from ${at('src/workspace/index.ts')};
    const sandbox = await chooseSandbox({ roots: [process.cwd()], home: ${JSON.stringify(home)}, path: '/nowhere', mode: 'container', container: { engine: ${JSON.stringify(engine)}, image: 'alpine' } });
    void withSandbox(localWorkspace({ roots: ['.'] }), sandbox).exec('sleep 30');
    setInterval(() => existsSync('ready') && (process.argv[1] === 'exit' ? process.exit() : process.kill(process.pid, 'SIGKILL')), 10);`;
  const isRemoved: boolean[] = [];
  for (const way of ['exit', 'kill']) {
    rmSync(path.join(root, 'ready'), { force: true });
    const before = countRemovals(folders);
    spawnSync(process.execPath, ['--input-type=module', '-e', script, way], { cwd: root });
    for (let i = 0; i < 200 && countRemovals(folders) === before; i++)
      await new Promise((resolve) => setTimeout(resolve, 25));
    isRemoved.push(countRemovals(folders) > before);
  }
  assertAttack(t, 131, [isRemoved.every(Boolean) ? 'contained' : 'done']);
});

const countRemovals = ({ place }: Folders): number =>
  existsSync(path.join(place, 'calls'))
    ? (readFileSync(path.join(place, 'calls'), 'utf8').match(/^rm -f /gm) ?? []).length
    : 0;
