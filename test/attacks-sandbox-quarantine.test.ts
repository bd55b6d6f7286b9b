// Attacks on the quarantine of protected files: files beside an approved one, and links that lead to a protected file.
import assert from 'node:assert/strict';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { Workspace } from '../src/core/index.ts';
import { chooseSandbox, withSandbox } from '../src/guards/index.ts';
import { localWorkspace } from '../src/workspace/index.ts';
import { assertAttack } from './support/attack-report.ts';
import { noSandbox } from './support/sandbox.ts';

const skip = await noSandbox();

type Fixture = {
  readonly root: string;
  readonly other: string;
  readonly workspace: Workspace;
  readonly has: (name: string) => boolean;
  readonly text: (name: string) => string;
  /** Runs a command until the operation is complete; it creates the file `ready`. */
  readonly during: (command: string, operation: () => Promise<unknown>) => Promise<string>;
};

async function setup(t: TestContext): Promise<Fixture> {
  const place = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-quarantine-')));
  t.after(() => rmSync(place, { recursive: true, force: true, maxRetries: 5 }));
  const [root, other, home] = ['root', 'other', 'home'].map((name) => path.join(place, name)) as [
    string,
    string,
    string,
  ];
  for (const folder of [root, other, home]) mkdirSync(folder);
  const roots = [root, other];
  const sandbox = await chooseSandbox({
    roots,
    home,
    path: process.env['PATH'] ?? '',
    quarantine: path.join(place, 'trash'),
  });
  const workspace = withSandbox(localWorkspace({ roots }), sandbox);
  const has = (name: string): boolean => existsSync(path.join(root, name));
  return {
    root,
    other,
    workspace,
    has,
    text: (name) => readFileSync(path.join(root, name), 'utf8'),
    async during(command, operation) {
      const stop = new AbortController();
      const running = workspace.exec(command, { signal: stop.signal, timeoutMs: 60_000 });
      for (let tries = 0; tries < 400 && !has('ready'); tries++) await wait(25);
      assert.ok(has('ready'), 'the command is ready');
      await operation();
      stop.abort();
      return (await running).text;
    },
  };
}

test('[attack 155] an approved write does not keep the files that a command created beside it', { skip }, async (t) => {
  const { workspace, has, text, during } = await setup(t);
  const told = await during(
    'mkdir -p .vscode/deep .claude; echo evil > .vscode/tasks.json; echo evil > .vscode/deep/x; echo evil > .claude/settings.json; touch ready; sleep 60',
    () => workspace.write('.vscode/settings.json', 'approved'),
  );
  assert.equal(text('.vscode/settings.json'), 'approved', 'the approved file stays');
  assert.match(told, /\.vscode\/tasks\.json was created by this command and was moved away/);
  for (const name of ['.vscode/tasks.json', '.vscode/deep', '.claude']) assert.ok(!has(name), name);
  assertAttack(t, 155, ['blocked']);
});

test(
  '[attack 155] an approved file is kept only with the content, the mode and the one name that were written',
  { skip },
  async (t) => {
    const changes: readonly [string, string][] = [
      ['echo evil > AGENTS.md', 'other content'],
      ['rm AGENTS.md; echo evil > x; ln -s x AGENTS.md', 'a link'],
      ['ln AGENTS.md copy', 'a second name, by which a later command could change it'],
      ['chmod 777 AGENTS.md', 'another mode'],
      ['rm AGENTS.md; mkdir AGENTS.md; echo evil > AGENTS.md/x', 'a folder'],
    ];
    for (const [change, what] of changes) {
      const { workspace, root, has, during } = await setup(t);
      await during(
        `touch ready; until [ -f AGENTS.md ]; do sleep 0.02; done; sleep 0.3; ${change}; touch done; sleep 60`,
        async () => {
          await workspace.write('AGENTS.md', 'approved');
          for (let tries = 0; tries < 400 && !has('done'); tries++) await wait(25);
          assert.ok(has('done'), what);
        },
      );
      assert.equal(lstatSync(path.join(root, 'AGENTS.md'), { throwIfNoEntry: false }), undefined, what);
    }
    assertAttack(t, 155, ['blocked']);
  },
);

test('[attack 156] what a command creates at the target of a protected link is moved away', { skip }, async (t) => {
  const { root, other, workspace, has } = await setup(t);
  const links: readonly [string, string][] = [
    ['AGENTS.md', 'docs/AGENTS.md'],
    ['.vscode', 'tools/vscode'],
    ['.git', 'meta/git'],
    ['.github', path.join(root, 'meta/github')],
    ['CLAUDE.md', path.join(other, 'CLAUDE.md')],
    ['GEMINI.md', 'middle'],
    ['middle', 'text/GEMINI.md'],
  ];
  for (const [link, target] of links) symlinkSync(target, path.join(root, link));
  const { text } = await workspace.exec(
    `mkdir -p docs tools/vscode meta/git meta/github/workflows; echo evil > docs/AGENTS.md; echo kept > docs/guide.md
    echo evil > tools/vscode/tasks.json; echo evil > meta/git/config; echo evil > meta/github/workflows/x.yml; echo evil > ${other}/CLAUDE.md
    echo evil > evil; ln -sfn evil middle`,
    { timeoutMs: 60_000 },
  );
  for (const name of ['AGENTS.md', '.vscode/tasks.json', '.git/config', '.github/workflows', 'CLAUDE.md', 'GEMINI.md'])
    assert.ok(!has(name), `${name}: ${text}`);
  assert.doesNotMatch(text, /could not be moved/);
  for (const [link, target] of links) assert.equal(readlinkSync(path.join(root, link)), target);
  assert.ok(has('docs/guide.md') && has('meta'), 'other files stay');
  assertAttack(t, 156, ['blocked']);
});

test('[attack 156] a link on the way to a protected file leads where it led before', { skip }, async (t) => {
  const { root, other, workspace, text } = await setup(t);
  mkdirSync(path.join(root, 'real'));
  writeFileSync(path.join(root, 'real/AGENTS.md'), 'of the user\n');
  writeFileSync(path.join(other, 'CLAUDE.md'), 'of the user\n');
  symlinkSync('real', path.join(root, 'docs'));
  symlinkSync('docs/AGENTS.md', path.join(root, 'AGENTS.md'));
  symlinkSync(path.join(other, 'CLAUDE.md'), path.join(root, 'CLAUDE.md'));
  await workspace.exec(
    `rm docs; mkdir docs; echo evil > docs/AGENTS.md; echo evil > real/AGENTS.md; echo evil > ${other}/CLAUDE.md; mv ${other}/CLAUDE.md ${other}/x`,
    { timeoutMs: 60_000 },
  );
  assert.equal(text('AGENTS.md'), 'of the user\n');
  assert.equal(text('CLAUDE.md'), 'of the user\n', 'also in another working folder');
  assert.equal(readlinkSync(path.join(root, 'docs')), 'real');
  assertAttack(t, 156, ['blocked']);
});

test('an approved write to the target of a protected link stays', { skip }, async (t) => {
  const { root, workspace, text, during } = await setup(t);
  symlinkSync('docs/AGENTS.md', path.join(root, 'AGENTS.md'));
  await during('touch ready; sleep 60', () => workspace.write('docs/AGENTS.md', 'approved'));
  assert.equal(text('AGENTS.md'), 'approved');
});
