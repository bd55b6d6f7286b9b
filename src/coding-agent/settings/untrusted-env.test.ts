// Tests of directories that a `.env` file may not set: its own project, system directories, and those that other users can write.
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { readSettings, type Settings } from './settings.ts';

type Room = {
  readonly top: string;
  readonly home: string;
  readonly cwd: string;
  /** Reads the settings in a folder of a project with this `.env` file at its root. */
  readonly read: (envFile: string, env?: Record<string, string>) => Settings;
};

function room(t: TestContext): Room {
  const top = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-foreign-')));
  t.after(() => rmSync(top, { recursive: true, force: true }));
  const [home, cwd] = [path.join(top, 'home'), path.join(top, 'home/src/project')];
  mkdirSync(path.join(cwd, 'filled/fairlead'), { recursive: true });
  return {
    top,
    home,
    cwd,
    read(envFile, env = {}) {
      writeFileSync(path.join(cwd, '.env'), envFile);
      return readSettings({ env: { HOME: home, ...env }, cwd, platform: 'linux' });
    },
  };
}

test('[attack 39] a .env file cannot move the state into its own project, under any path', (t) => {
  const { top, home, cwd, read } = room(t);
  symlinkSync(path.join(cwd, 'filled'), path.join(top, 'link'));
  const names = [
    path.join(cwd, 'filled'),
    path.join(cwd, 'not/there'),
    path.join(top, 'link'),
    `${home}/x/../src/project`,
  ];
  for (const value of names)
    for (const [name, place] of [
      ['XDG_STATE_HOME', 'state'],
      ['XDG_DATA_HOME', 'data'],
      ['XDG_CACHE_HOME', 'cache'],
    ] as const) {
      const { dirs, warnings, all } = read(`${name}=${value}\n`);
      assert.ok(dirs[place].startsWith(path.join(home, '.')), `${name}=${value} led to ${dirs[place]}`);
      assert.equal(all.get(`dirs.${place}`)?.origin.type, 'default');
      assert.deepEqual(warnings.length, 1);
      assert.match(warnings[0] ?? '', new RegExp(`^${name} in .*\\.env is not used: it leads into the project`));
    }
});

test('[attack 39] system directories cannot be used instead, nor can the name of the program’s directory', (t) => {
  const { home, read } = room(t);
  const usual = path.join(home, '.local/state/fairlead');
  for (const value of ['/proc/self/cwd/filled', '/proc/self/cwd/../x', '/dev/fd/3', '/sys/kernel']) {
    const { dirs, warnings } = read(`XDG_STATE_HOME=${value}\n`);
    assert.equal(dirs.state, usual, value);
    assert.match(warnings[0] ?? '', /^XDG_STATE_HOME in .* is not used: it leads into /);
  }
  const named = read('HARNESS_ROOT_DIRS_NAME=project\n', { XDG_STATE_HOME: path.join(home, 'src') });
  assert.equal(named.dirs.state, path.join(home, 'src/fairlead'));
  assert.match(named.warnings[0] ?? '', /^HARNESS_ROOT_DIRS_NAME in .* is not used/);
});

test('[attack 39] the project is the whole repository, but never one that contains the home directory', (t) => {
  const { top, home, cwd, read } = room(t);
  const beside = `XDG_DATA_HOME=${path.join(home, 'src/beside')}\n`;
  assert.equal(read(beside).dirs.data, path.join(home, 'src/beside/fairlead'));
  mkdirSync(path.join(home, 'src/.git'));
  assert.equal(read(beside).dirs.data, path.join(home, '.local/share/fairlead'));
  rmSync(path.join(home, 'src/.git'), { recursive: true });
  mkdirSync(path.join(top, '.git'));
  assert.equal(read(beside).dirs.data, path.join(home, 'src/beside/fairlead'));
  assert.match(read(`XDG_DATA_HOME=${cwd}\n`).warnings[0] ?? '', /is not used: it leads into the project/);
});

test(
  '[attack 39] a directory that every user can write is not taken from a .env file',
  { skip: process.platform === 'win32' ? 'there are no such rights' : false },
  (t) => {
    const { top, read } = room(t);
    mkdirSync(path.join(top, 'all'));
    assert.equal(read(`XDG_DATA_HOME=${top}/all\n`).dirs.data, path.join(top, 'all/fairlead'));
    chmodSync(path.join(top, 'all'), 0o777);
    assert.match(
      read(`XDG_DATA_HOME=${top}/all\n`).warnings[0] ?? '',
      /is not used: it leads into a folder where others/,
    );
  },
);

test('[J77] a .env file in the home directory or above belongs to the user, and what it decides is a warning', (t) => {
  const { home, cwd, read } = room(t);
  const file = path.join(cwd, '.env');
  const { warnings, dirs } = read('HARNESS_INFERENCE_PROVIDER=vllm\nOLLAMA_API_URL=http://box:1\nXDG_DATA_HOME=/d\n');
  assert.equal(dirs.data, '/d/fairlead');
  assert.deepEqual(warnings, [`${file} decides dirs.data (/d/fairlead), provider (vllm), url (http://box:1).`]);
  assert.deepEqual(read('SANDBOX_CONTAINER_IMAGE=debian\n').warnings, []);
  writeFileSync(path.join(home, '.env'), `XDG_STATE_HOME=${home}/kept\nHARNESS_ROOT_DIRS_NAME=mine\n`);
  const own = readSettings({ env: { HOME: home }, cwd: home, platform: 'linux' });
  assert.deepEqual([own.dirs.state, own.dirs.data], [`${home}/kept/mine`, `${home}/.local/share/mine`]);
});
