// Releases of an agent: creates and signs two, promotes them by a gate, finds drift, and rolls back.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  createRelease,
  createReleaseKey,
  findDrift,
  foldHistory,
  openReleaseStore,
  promoteRelease,
  rollBack,
} from 'fairlead/releases';

const root = mkdtempSync(path.join(tmpdir(), 'releases-'));
const folder = path.join(root, 'agent');
mkdirSync(folder);
writeFileSync(path.join(folder, 'AGENTS.md'), 'Answer in one sentence.\n');

const releases = openReleaseStore(path.join(root, 'releases'));
const { privateKey, publicKey } = createReleaseKey();
const base = { releases, folder, by: 'ann', program: '1.0.0', privateKey };
const first = await createRelease({ ...base, name: 'short answers' });

writeFileSync(path.join(folder, 'AGENTS.md'), 'Answer in verse.\n');
const [change] = await findDrift(first.manifest, folder);
assert.deepEqual(change, { kind: 'prompt', name: 'AGENTS.md', change: 'changed' });
const second = await createRelease({ ...base, name: 'verse' });

// A gate runs evals with the files in `release.folder`; this one accepts every release.
const promote = {
  releases,
  trustedKeys: [publicKey],
  by: 'ann',
  gate: async () => ({ isPassed: true, summary: '10 of 10' }),
};
await promoteRelease({ ...promote, release: first.id });
await promoteRelease({ ...promote, release: second.id, share: 0.1 });
assert.equal(foldHistory(releases.readHistory()).canary?.release, second.id);

await rollBack(releases, 'ann', 'complaints about verse');
assert.equal(foldHistory(releases.readHistory()).current, first.id);
