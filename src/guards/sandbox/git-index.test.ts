// Tests of the gitlinks of an index, with indexes that git wrote, and with damaged ones that git reads too.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { readGitlinks } from './git-index.ts';

const skip = spawnSync('git', ['--version']).status === 0 ? false : 'needs git';
const env = {
  PATH: process.env['PATH'],
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_SYSTEM: '/dev/null',
};

function git(folder: string, args: readonly string[], input = ''): string | undefined {
  const { status, stdout } = spawnSync('git', args, { cwd: folder, env, input, encoding: 'latin1' });
  return status === 0 ? stdout : undefined;
}

const commit = '1'.repeat(40);
const blob = 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391';

type Repository = { readonly folder: string; readonly index: string; readonly add: (...entries: string[]) => void };

function createRepository(t: test.TestContext, ...initArgs: string[]): Repository {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-git-index-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  assert.ok(git(folder, ['init', '-q', ...initArgs, '.']) !== undefined);
  const add = (...entries: string[]): void => {
    assert.ok(git(folder, ['update-index', '--add', '--index-info'], `${entries.join('\n')}\n`) !== undefined);
  };
  return { folder, index: path.join(folder, '.git/index'), add };
}

const files = Array.from({ length: 30 }, (_, i) => `100644 ${blob}\tsrc/some-file-${i}.ts`);
const links = [`160000 ${commit}\tmodules/one`, `160000 ${commit}\tz`];
const readNames = ({ folder }: Repository): readonly string[] | undefined =>
  readGitlinks(folder)
    ?.folders?.map((each) => path.relative(folder, each))
    .toSorted();

const variants: Readonly<Record<string, (repository: Repository) => void>> = {
  'of version 2': ({ add }) => add(...files, ...links),
  'of version 3': ({ add, folder }) => {
    add(...files, ...links);
    writeFileSync(path.join(folder, 'later'), '');
    git(folder, ['add', '-N', 'later']);
  },
  'of version 4': ({ add, folder }) => {
    add(...files, ...links);
    git(folder, ['update-index', '--index-version', '4']);
  },
  'with an offset table': ({ add, folder, index }) => {
    git(folder, ['config', 'index.threads', '3']);
    add(...files, ...links);
    git(folder, ['update-index', '--index-version', '4']);
    assert.match(readFileSync(index, 'latin1'), /IEOT[^]*EOIE/);
  },
  'with a shared index': ({ add, folder }) => {
    add(...files, links[0] ?? '');
    git(folder, ['update-index', '--split-index']);
    add(links[1] ?? '');
  },
};
for (const [name, fill] of Object.entries(variants))
  test(`an index ${name} gives its gitlinks`, { skip }, (t) => {
    const repository = createRepository(t);
    fill(repository);
    assert.deepEqual(readNames(repository), ['modules/one', 'z']);
  });

test('an index with SHA-256 gives its gitlinks', { skip }, (t) => {
  const repository = createRepository(t, '--object-format=sha256');
  repository.add(`160000 ${'1'.repeat(64)}\tmodules/one`);
  assert.deepEqual(readNames(repository), ['modules/one']);
});

test('a path of a shared index that became a gitlink is found', { skip }, (t) => {
  const repository = createRepository(t);
  repository.add(...files, `100644 ${blob}\tx`);
  git(repository.folder, ['update-index', '--split-index']);
  repository.add(`160000 ${commit}\tx`);
  const found = readNames(repository);
  assert.ok(found === undefined || found.includes('x'), String(found));
});

test('a shared index that was replaced is read again', { skip }, (t) => {
  const repository = createRepository(t);
  repository.add(...files);
  git(repository.folder, ['update-index', '--split-index']);
  assert.deepEqual(readNames(repository), []);
  const other = createRepository(t);
  other.add(...files, ...links);
  const folder = path.join(repository.folder, '.git');
  const shared = readdirSync(folder).find((name) => name.startsWith('sharedindex.')) ?? '';
  writeFileSync(path.join(folder, shared), readFileSync(other.index));
  assert.deepEqual(readNames(repository), ['modules/one', 'z']);
});

test('repositories in a folder of a sparse index are found', { skip }, (t) => {
  const repository = createRepository(t);
  const { folder } = repository;
  writeFileSync(path.join(folder, 'top'), '');
  mkdirSync(path.join(folder, 'far/below'), { recursive: true });
  writeFileSync(path.join(folder, 'far/below/file'), '');
  git(folder, ['add', '.']);
  git(folder, ['-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'first']);
  git(folder, ['sparse-checkout', 'init', '--cone', '--sparse-index']);
  assert.match(git(folder, ['ls-files', '--sparse', '-s']) ?? '', /^040000 .*\tfar\/$/m);
  assert.deepEqual(readNames(repository), []);
  mkdirSync(path.join(folder, 'far/repository/.git'), { recursive: true });
  assert.deepEqual(readNames(repository), ['far/repository']);
});

/** Changes a few bytes, most of them to values that have a meaning in an index. */
function damage(content: Buffer, random: (below: number) => number): Buffer {
  const copy = Buffer.from(content);
  for (let left = 1 + random(3); left > 0; left--) {
    const at = 4 + random(copy.length - 4);
    const values = [0, 1, 2, 4, 8, 0x40, 0xe0, 0xff, 'T'.charCodeAt(0), random(256)];
    copy[at] = values[random(values.length)] ?? 0;
  }
  return copy;
}

test('what git reads as a gitlink in a damaged index is found, or the index is refused', { skip }, (t) => {
  const cases = Number(process.env['FAIRLEAD_TEST_CASES'] ?? 50);
  let seed = Number(process.env['FAIRLEAD_SEED'] ?? 7);
  const random = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((seed / 2 ** 31) * below);
  };
  let readByBoth = 0;
  for (const [name, fill] of Object.entries(variants)) {
    const repository = createRepository(t);
    fill(repository);
    const content = readFileSync(repository.index);
    for (let n = 0; n < cases; n++) {
      const damaged = damage(content, random);
      writeFileSync(repository.index, damaged);
      const listed = git(repository.folder, ['ls-files', '-s', '-z']);
      const found = readGitlinks(repository.folder)?.folders;
      if (listed === undefined || found === undefined) continue;
      readByBoth += 1;
      const expected = [...listed.matchAll(/(?:^|\0)160000 [^\t]*\t([^\0]*)/g)].map(([, each = '']) => each);
      for (const each of expected)
        assert.ok(
          found.includes(path.join(repository.folder, Buffer.from(each, 'latin1').toString())),
          `${name}, case ${n}: ${each} in ${damaged.toString('base64')}`,
        );
    }
  }
  assert.ok(readByBoth > 0);
});
