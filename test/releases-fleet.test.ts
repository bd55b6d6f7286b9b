// A fleet on releases: a canary with an injected regression is rolled back by itself, and no run changes its release, also after kill -9.
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { Event, FleetRun, FleetStore } from '../src/core/index.ts';
import {
  createReleaseKey,
  foldHistory,
  openReleaseStore,
  promoteRelease,
  signManifest,
  type ReleaseManifest,
  type ReleaseStore,
} from '../src/coding-agent/releases/index.ts';
import { sha256 } from '../src/coding-agent/releases/manifest.ts';
import { openFleetStore } from '../src/stores/open-fleet-store.ts';
import { bundleProgram } from './support/bundle.ts';
import { readRunEvents } from './support/fleet-fixture.ts';

const key = createReleaseKey();
const passedGate = async (): Promise<{ isPassed: boolean; summary: string }> => ({ isPassed: true, summary: 'passed' });

type ReleaseFleet = {
  readonly store: FleetStore;
  readonly releases: ReleaseStore;
  readonly promote: (name: string, text: string, share: number) => Promise<string>;
  readonly spawnWorker: () => ChildProcess;
  readonly output: () => string;
  readonly waitForRuns: () => Promise<readonly FleetRun[]>;
};

async function createReleaseFleet(t: TestContext): Promise<ReleaseFleet> {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-releases-'));
  const where = path.join(folder, 'fleet.sqlite');
  const keyFile = path.join(folder, 'keys.pem');
  writeFileSync(keyFile, key.publicKey);
  const releases = openReleaseStore(path.join(folder, 'releases'));
  const store = await openFleetStore(where, { maxWorkerLosses: 1000 });
  const program = await bundleProgram(path.join(import.meta.dirname, 'support/release-worker-process.ts'));
  const children: ChildProcess[] = [];
  t.after(async () => {
    await Promise.all(
      children.map(async (child) => {
        if (child.exitCode === null && child.signalCode === null && child.kill('SIGKILL')) await once(child, 'close');
      }),
    );
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  let output = '';
  return {
    store,
    releases,
    output: () => output,
    async promote(name, text, share) {
      const manifest: ReleaseManifest = {
        format: 1,
        name,
        created: new Date().toISOString(),
        by: 'ann',
        program: '1.0.0',
        files: [{ path: 'AGENTS.md', kind: 'prompt', hash: sha256(text), bytes: text.length }],
        tools: [],
      };
      const contents = new Map([[sha256(text), Buffer.from(text)]]);
      const { id } = releases.add(manifest, signManifest(manifest, key.privateKey), contents);
      await promoteRelease({ releases, release: id, trustedKeys: [key.publicKey], gate: passedGate, share, by: 'ann' });
      return id;
    },
    spawnWorker() {
      const child = spawn(process.execPath, [program, where, releases.folder, keyFile], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
      children.push(child);
      return child;
    },
    async waitForRuns() {
      for (;;) {
        const { queued, running, waiting } = await store.queue.depth();
        if (queued + running + waiting === 0) return store.queue.list({ limit: 10_000 });
        await pause(20);
      }
    },
  };
}

const findReleases = (events: readonly Event[]): readonly string[] =>
  events.flatMap((event) =>
    event.type === 'annotation-added' && event.key === 'release' ? [String((event.value as { id?: unknown }).id)] : [],
  );

test('[A114] a canary with a regression is rolled back in a fleet of 500 runs with killed workers, and no run changes its release', async (t) => {
  const fleet = await createReleaseFleet(t);
  const { store, releases } = fleet;
  const good = await fleet.promote('good', 'fails 0.02', 1);
  const bad = await fleet.promote('bad', 'fails 0.4', 0.2);
  await store.queue.enqueue(Array.from({ length: 500 }, (_, n) => ({ id: `run-${n}`, prompt: 'Look it up.' })));
  let [first, second] = [fleet.spawnWorker(), fleet.spawnWorker()];
  // Each worker is killed once while the canary is active.
  await pause(600);
  first.kill('SIGKILL');
  first = fleet.spawnWorker();
  await pause(600);
  second.kill('SIGKILL');
  second = fleet.spawnWorker();
  const runs = await fleet.waitForRuns();
  for (const child of [first, second]) child.kill('SIGTERM');

  const entry = releases.readHistory().find(({ action }) => action === 'rolled-back');
  assert.ok(entry, 'the canary was rolled back');
  assert.deepEqual([entry.release, foldHistory(releases.readHistory())], [bad, { current: good }]);
  assert.match(fleet.output(), /roll-back after \d+ runs: /);
  t.diagnostic(
    fleet
      .output()
      .split('\n')
      .find((line) => line.startsWith('roll-back')) ?? '',
  );

  assert.equal(runs.length, 500);
  const names = new Map([
    [good, 'good'],
    [bad, 'bad'],
  ]);
  const counts = { good: 0, bad: 0 };
  for (const run of runs) {
    const { outcome, attempts, started } = run;
    const recorded = findReleases(await readRunEvents(store, run));
    assert.deepEqual(recorded, [outcome?.release], `${run.id}: one release in the log, and it is that of the outcome`);
    const name = names.get(outcome?.release ?? '') as 'good' | 'bad';
    if (outcome?.reason === 'answered') assert.equal(outcome.text, name, `${run.id} answered with its release`);
    if (attempts === 1 && (started ?? '') > entry.time)
      assert.equal(name, 'good', `${run.id} started after the rollback`);
    counts[name]++;
  }
  assert.ok(counts.bad >= 10 && counts.bad < 120, `${counts.bad} runs of the canary`);
  assert.ok(
    runs.some(({ attempts }) => attempts > 1),
    'a killed worker left runs to another one',
  );
});

test('[A114] a release that no trusted key signed runs nothing', async (t) => {
  const fleet = await createReleaseFleet(t);
  await fleet.promote('good', 'fails 0', 1);
  writeFileSync(path.join(fleet.releases.folder, '../keys.pem'), createReleaseKey().publicKey);
  await fleet.store.queue.enqueue([{ id: 'one', prompt: 'Look it up.' }]);
  fleet.spawnWorker();
  const [run] = await fleet.waitForRuns();
  assert.deepEqual(
    [run?.outcome?.reason, run?.outcome?.error?.code, run?.outcome?.release],
    ['provider-error', 'release/not-trusted', undefined],
  );
});
