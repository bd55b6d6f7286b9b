// Test fixture: a folder of releases with releases that have one file and are promoted without a gate.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import {
  createReleaseKey,
  openReleaseStore,
  promoteRelease,
  signManifest,
  type ReleaseManifest,
  type ReleaseStore,
} from '../../src/coding-agent/releases/index.ts';
import { sha256 } from '../../src/coding-agent/releases/manifest.ts';

const key = createReleaseKey();

/** Releases of a test. */
export type ReleaseFixture = {
  readonly releases: ReleaseStore;
  /** Creates a release and returns its id. */
  readonly create: (name: string) => string;
  /** Promotes a release to a share of the runs. */
  readonly promote: (release: string, share: number, reason?: string) => Promise<unknown>;
};

/** Opens an empty folder of releases, which is removed with the test. */
export function createReleaseFixture(t: TestContext): ReleaseFixture {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-releases-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const releases = openReleaseStore(folder);
  let created = 0;
  return {
    releases,
    create(name) {
      const hash = sha256(name);
      const manifest: ReleaseManifest = {
        format: 1,
        name,
        created: new Date(Date.UTC(2026, 0, 1) + created++ * 1000).toISOString(),
        by: 'ann',
        program: '1.0.0',
        files: [{ path: 'AGENTS.md', kind: 'prompt', hash, bytes: name.length }],
        tools: [{ name: 'read_file', hash }],
        model: { id: 'qwen3', parameters: {} },
      };
      return releases.add(manifest, signManifest(manifest, key.privateKey), new Map([[hash, Buffer.from(name)]])).id;
    },
    promote: (release, share, reason = '10 of 10') =>
      promoteRelease({
        releases,
        release,
        share,
        by: 'ann',
        trustedKeys: [key.publicKey],
        gate: async () => ({ isPassed: true, summary: reason }),
      }),
  };
}
