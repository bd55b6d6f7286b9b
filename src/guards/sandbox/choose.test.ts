import assert from 'node:assert/strict';
import { homedir, tmpdir } from 'node:os';
import test from 'node:test';
import { chooseSandbox } from './choose.ts';
import type { SandboxMode } from './sandbox.ts';

const choose = (mode: SandboxMode): ReturnType<typeof chooseSandbox> =>
  chooseSandbox({
    mode,
    roots: [tmpdir()],
    hidden: [],
    quarantine: `${tmpdir()}/fairlead-trash`,
    home: homedir(),
    path: '/nonexistent',
    container: { engine: '/nonexistent/podman', image: 'alpine' },
  });

test('a named sandbox that does not work refuses commands, and never falls back to another or to none', async () => {
  assert.equal((await choose('container')).name, 'refused');
  assert.equal((await choose('bubblewrap')).name, 'refused');
  assert.match((await choose('container')).description, /no container engine with the image/);
  assert.equal((await choose('none')).name, 'none');
});
