// Which programs of a home directory a sandboxed command sees: programs, and never keys next to them.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { toolFolders } from './mounts.ts';

// Nothing in /tmp is mounted, so these homes are elsewhere.
const baseFolder = '/var/tmp';
const skip = existsSync(baseFolder) ? false : `no ${baseFolder} here`;

test(
  'programs on the search path in the home directory are mounted, with their installation if it cannot contain keys',
  { skip },
  (t) => {
    const home = realpathSync(mkdtempSync(path.join(baseFolder, 'fairlead-home-')));
    t.after(() => rmSync(home, { recursive: true, force: true }));
    const at = (name: string): string => path.join(home, name);
    const folders = [
      '.cargo/bin',
      '.local/bin',
      'bin',
      'tools/node/bin',
      '.rustup',
      'work/node_modules/.bin',
      '.nvm/v24/bin',
    ];
    for (const name of folders) mkdirSync(at(name), { recursive: true });
    const search = [
      '.cargo/bin',
      '.local/bin',
      'bin',
      'tools/node/bin',
      '.nvm/v24/bin',
      'work/node_modules/.bin',
      'absent',
    ].map(at);
    const seen = toolFolders({
      home,
      roots: [at('work')],
      path: [...search, '.', 'relative', '/usr/bin', '/tmp'].join(':'),
    });
    assert.deepEqual(
      new Set(seen),
      new Set(['.rustup', '.nvm', '.cargo/bin', '.local/bin', 'bin', 'tools/node'].map(at)),
    );
  },
);

test('a search path never mounts the home directory or the root', { skip }, (t) => {
  const home = realpathSync(mkdtempSync(path.join(baseFolder, 'fairlead-home-')));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const places = [home, path.dirname(home), '/', '/home', '/var'];
  const seen = toolFolders({ home, roots: ['/elsewhere'], path: places.join(':') });
  assert.ok(!seen.some((each) => home.startsWith(each)), seen.join());
});
