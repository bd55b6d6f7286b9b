// Files are replaced through a temporary file with an unpredictable name.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, watch } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { localWorkspace } from './index.ts';

test(
  'attack 34: a temporary file has an unpredictable name, and a different one each time',
  { timeout: 10_000 },
  async (t) => {
    const root = mkdtempSync(path.join(tmpdir(), 'fairlead-draft-'));
    const drafts = new Set<string>();
    const watcher = watch(root, (_, name) => void (name?.endsWith('.tmp') && drafts.add(name)));
    t.after(() => {
      watcher.close();
      rmSync(root, { recursive: true, force: true });
    });
    const workspace = localWorkspace({ roots: [root] });
    for (const name of ['one', 'two']) await workspace.write(name, 'x');
    while (drafts.size < 2) await new Promise((wake) => setTimeout(wake, 5));
    for (const draft of drafts) assert.match(draft, /^\.fairlead-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.tmp$/);
  },
);
