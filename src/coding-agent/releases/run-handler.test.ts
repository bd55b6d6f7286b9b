// Tests of runs on releases: a plan and its child runs keep one release, tasks record theirs, and a session stays on one side of a canary.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { resolveAgent } from '../../agent/index.ts';
import { zeroUsage, type FleetRun, type FleetStore } from '../../core/index.ts';
import {
  createOrchestrationHandler,
  createTaskRunHandler,
  startWorker,
  type AgentFactory,
  type RunHandler,
} from '../../fleet/index.ts';
import { planOrchestration } from '../../fleet/plan/index.ts';
import { openFleetStore } from '../../stores/open-fleet-store.ts';
import { says, scriptedProvider } from '../../testing/index.ts';
import { createReleaseKey, signManifest } from './keys.ts';
import { sha256, type ReleaseManifest } from './manifest.ts';
import { promoteRelease, rollBack } from './promote.ts';
import { openReleaseStore, type ReleaseStore } from './release-store.ts';
import { createReleaseRunHandler, createReleaseTaskHandler } from './run-handler.ts';

const key = createReleaseKey();
const trustedKeys = [key.publicKey];

const withoutRelease: RunHandler = async () => ({
  type: 'completed',
  outcome: { reason: 'answered', text: 'no release', spent: zeroUsage },
});

async function createFixture(t: TestContext) {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-release-runs-'));
  const store = await openFleetStore(path.join(folder, 'fleet.sqlite'));
  t.after(async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return { store, releases: openReleaseStore(path.join(folder, 'releases')) };
}

async function promote(releases: ReleaseStore, name: string, share: number): Promise<string> {
  const manifest: ReleaseManifest = {
    format: 1,
    name,
    created: new Date().toISOString(),
    by: 'ann',
    program: '1.0.0',
    files: [{ path: 'AGENTS.md', kind: 'prompt', hash: sha256(name), bytes: name.length }],
    tools: [],
  };
  const contents = new Map([[sha256(name), Buffer.from(name)]]);
  const { id } = releases.add(manifest, signManifest(manifest, key.privateKey), contents);
  const gate = async () => ({ isPassed: true, summary: 'passed' });
  await promoteRelease({ releases, release: id, trustedKeys, gate, share, by: 'ann' });
  return id;
}

const plan = JSON.stringify({
  steps: [
    { id: 'a', task: 'Look at A.', after: [] },
    { id: 'b', task: 'Look at B.', after: ['a'] },
  ],
});

async function readReleaseRecords({ sessions }: FleetStore, run: FleetRun): Promise<readonly unknown[]> {
  const found: unknown[] = [];
  const log = await sessions.reader(run.session);
  for await (const events of log.read())
    for (const event of events)
      if (event.type === 'annotation-added' && event.key === 'release') found.push(event.value);
  await log.close();
  return found;
}

/** Handlers of runs, plans and checks on releases; an agent answers with the name of its release. */
function createHandlers(
  releases: ReleaseStore,
  onAgent: (run: FleetRun) => Promise<void>,
): Readonly<Record<string, RunHandler>> {
  const options = { releases, trustedKeys, withoutRelease };
  const createAgent =
    (name: string): AgentFactory =>
    async (run) => {
      await onAgent(run);
      const provider = scriptedProvider(() => says(run.id.endsWith('/plan-1') ? plan : name));
      return { parts: resolveAgent({ system: name, tools: [], provider }), close: async () => {} };
    };
  const planHandler = createOrchestrationHandler(planOrchestration);
  return {
    run: createReleaseRunHandler({ ...options, createAgent: ({ manifest }) => createAgent(manifest.name) }),
    plan: createReleaseTaskHandler({ ...options, withoutRelease: planHandler, createHandler: () => planHandler }),
    check: createReleaseTaskHandler({
      ...options,
      createHandler: ({ manifest }) =>
        createTaskRunHandler(async () => ({
          outcome: { reason: 'answered', text: manifest.name },
          result: {},
          spent: {},
        })),
    }),
  };
}

test('[A114] a plan and all of its child runs use the release of its start, also if another one is promoted meanwhile', async (t) => {
  const { store, releases } = await createFixture(t);
  const first = await promote(releases, 'first', 1);
  let second = '';
  const handlers = createHandlers(releases, async (run) => {
    if (run.id.endsWith('/step-a-1') && second === '') second = await promote(releases, 'second', 1);
  });
  await store.queue.enqueue([{ id: 'p', prompt: 'Compare A and B.', kind: 'plan' }]);
  await startWorker({ store, handlers, drain: true }).done;
  await store.queue.enqueue([{ id: 'later', prompt: 'Look.' }]);
  await startWorker({ store, handlers, drain: true }).done;

  const runs = await store.queue.list({ limit: 100 });
  const releaseOf = new Map(runs.map((run) => [run.id, run.outcome?.release]));
  assert.equal(releaseOf.get('later'), second, 'a new run uses the new release');
  releaseOf.delete('later');
  assert.deepEqual([...releaseOf.keys()].toSorted(), ['p', 'p/answer', 'p/plan-1', 'p/step-a-1', 'p/step-b-1']);
  assert.deepEqual([...new Set(releaseOf.values())], [first]);
  for (const run of runs.filter(({ id }) => id !== 'later'))
    assert.deepEqual(await readReleaseRecords(store, run), [{ run: run.id, id: first }], run.id);
});

test('[A114] a plan that started without a release stays without one', async (t) => {
  const { store, releases } = await createFixture(t);
  let isPromoted = false;
  const handlers = createHandlers(releases, async () => {});
  const counted: RunHandler = async (run, context) => {
    if (!isPromoted) await promote(releases, 'first', 1);
    isPromoted = true;
    return (handlers['run'] as RunHandler)(run, context);
  };
  await store.queue.enqueue([{ id: 'p', prompt: 'Compare A and B.', kind: 'plan' }]);
  await startWorker({ store, handlers: { ...handlers, run: counted }, drain: true }).done;
  const runs = await store.queue.list({ limit: 100 });
  assert.ok(runs.length > 1 && runs.every(({ outcome }) => outcome?.release === undefined));
});

test('[A114] a task without an agent records its release in its session and in its outcome', async (t) => {
  const { store, releases } = await createFixture(t);
  const id = await promote(releases, 'first', 1);
  await store.queue.enqueue([{ id: 'c', prompt: 'Check it.', kind: 'check' }]);
  await startWorker({ store, handlers: createHandlers(releases, async () => {}), drain: true }).done;
  const run = await store.queue.run('c');
  assert.ok(run);
  assert.deepEqual([run.outcome?.text, run.outcome?.release], ['first', id]);
  assert.deepEqual(await readReleaseRecords(store, run), [{ run: 'c', id }]);
});

test('[A114] all runs of a session are on the same side of a canary, and leave it with its rollback', async (t) => {
  const { store, releases } = await createFixture(t);
  const current = await promote(releases, 'current', 1);
  const canary = await promote(releases, 'canary', 0.5);
  const handlers = createHandlers(releases, async () => {});
  const sessions = Array.from({ length: 12 }, (_, n) => `s${n}`);
  const ask = async (round: number): Promise<ReadonlyMap<string, string | undefined>> => {
    await store.queue.enqueue(sessions.map((session) => ({ id: `${session}-${round}`, prompt: 'Go on.', session })));
    await startWorker({ store, handlers, drain: true }).done;
    const runs = await store.queue.list({ limit: 100 });
    return new Map(
      runs.filter(({ id }) => id.endsWith(`-${round}`)).map(({ session, outcome }) => [session, outcome?.release]),
    );
  };
  const [one, two] = [await ask(1), await ask(2)];
  assert.deepEqual(new Set(one.values()), new Set([current, canary]));
  for (const session of sessions) assert.equal(two.get(session), one.get(session), session);
  await rollBack(releases, 'ann', 'worse');
  assert.deepEqual([...new Set((await ask(3)).values())], [current]);
});
