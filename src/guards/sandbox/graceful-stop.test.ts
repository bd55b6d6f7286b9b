// A sandboxed command gets a stop request before it is killed, although no signal to its sandbox arrives inside.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { noSandbox } from '../../../test/support/sandbox.ts';
import { localWorkspace } from '../../workspace/index.ts';
import { chooseSandbox } from './choose.ts';
import { withSandbox } from './sandbox.ts';

const skip = await noSandbox();

for (const [what, command, made] of [
  [
    'handles the signal and cleans up',
    'trap "echo tidy > tidied; exit" TERM; echo up; while :; do sleep 0.05; done',
    true,
  ],
  ['ignores signals', 'trap "" TERM; echo up; while :; do sleep 0.05; done; echo late > tidied', false],
] as const)
  test(`[fault 31] a sandboxed command that is stopped and ${what} ends`, { skip, timeout: 60_000 }, async (t) => {
    const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-stopping-')));
    t.after(() => rmSync(root, { recursive: true, force: true }));
    const sandbox = await chooseSandbox({ roots: [root], home: homedir(), path: process.env['PATH'] ?? '' });
    const stop = new AbortController();
    const ran = await withSandbox(localWorkspace({ roots: [root] }), sandbox).exec(command, {
      signal: stop.signal,
      // A command that handles the signal ends quickly; a slow machine may need some time.
      graceMs: made ? 30_000 : 100,
      onOutput: () => stop.abort(),
    });
    assert.equal(ran.stopped, 'abort');
    const file = path.join(root, 'tidied');
    assert.equal(existsSync(file) && readFileSync(file, 'utf8'), made && 'tidy\n');
  });
