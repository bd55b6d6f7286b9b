// Workers are killed, suspended and stopped while runs have external effects: every run ends, and each effect happens once.
// FAIRLEAD_TEST_RUNS=1000 handles that many runs on each store instead of 50; FAIRLEAD_SEED repeats the random kills.
import assert from 'node:assert/strict';
import test, { after, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { createRandom } from './crash/faulty-disks.ts';
import { createWorkerSpawner, type WorkerProcess } from './support/spawn-workers.ts';
import {
  assertRanOnce,
  countEvents,
  readRunEvents,
  createFleetFixture,
  effectTools,
  type FleetFixture,
} from './support/fleet-fixture.ts';
import { startPostgresStores } from './support/postgres-stores.ts';
import { createSqlitePath } from './support/sqlite-store.ts';

/** A kind of store: how a new one is created, and what happens to it during the test. */
type StoreKind = {
  readonly name: string;
  readonly skip?: string;
  readonly fresh: (t: TestContext) => Promise<string>;
  readonly disrupt?: () => Promise<void>;
};

const postgres = await startPostgresStores();
after(() => postgres.close());

const storeKinds: readonly StoreKind[] = [
  { name: 'sqlite', fresh: async (t) => createSqlitePath(t) },
  { name: 'postgres', ...postgres, disrupt: () => postgres.restart() },
];

const runs = Number(process.env['FAIRLEAD_TEST_RUNS'] ?? 50);
const seed = Number(process.env['FAIRLEAD_SEED'] ?? Date.now() % 1_000_000);
const kills = Math.ceil(runs / 8);
const spawnWorker = await createWorkerSpawner();

const createStoreFixture = async (t: TestContext, { fresh }: StoreKind): Promise<FleetFixture> =>
  createFleetFixture(t, await fresh(t), spawnWorker);

/** Stops the workers in order. A worker that was started last may not have its signal handler yet. */
async function stopWorkers(hands: readonly WorkerProcess[]): Promise<void> {
  await Promise.all(hands.map((hand) => hand.waitForLine('ready')));
  for (const hand of hands) hand.signal('SIGTERM');
  for (const hand of hands) assert.equal(await hand.ended, 0, hand.output());
}

/** Kills workers one after the other and replaces them, each at a random moment of its share of the runs, so that all die while there are runs. */
async function killWorkersRandomly(
  { recorder, spawnWorker }: FleetFixture,
  hands: WorkerProcess[],
  over: AbortSignal,
  upset?: () => Promise<void>,
): Promise<void> {
  const random = createRandom(seed);
  for (let done = 0; done < kills; done++) {
    const moment = ((done + random()) / kills) * runs * effectTools.length * 0.9;
    while (recorder.entries.length < moment && !over.aborted) await pause(2);
    await pause(random() * 20);
    if (over.aborted) return;
    if (done === Math.floor(kills / 2)) await upset?.();
    const i = Math.floor(random() * hands.length);
    const victim = hands[i] as WorkerProcess;
    victim.signal('SIGKILL');
    assert.equal(await victim.ended, 'SIGKILL', victim.output());
    hands[i] = spawnWorker();
  }
}

async function testDrain(t: TestContext, kind: StoreKind): Promise<void> {
  t.diagnostic(`FAIRLEAD_SEED=${seed}`);
  const set = await createStoreFixture(t, kind);
  const { store, recorder, spawnWorker, waitForRuns } = set;
  await store.queue.enqueue(Array.from({ length: runs }, (_, i) => ({ id: `r${i}`, prompt: 'Do it.' })));
  const hands = [spawnWorker(), spawnWorker(), spawnWorker(), spawnWorker()];
  const over = new AbortController();
  t.after(() => over.abort());
  const [ended] = await Promise.all([waitForRuns(), killWorkersRandomly(set, hands, over.signal, kind.disrupt)]);
  await stopWorkers(hands);
  assert.equal(ended.length, runs);
  let [asked, attempts, killed] = [0, 0, 0];
  for (const run of ended) {
    const events = await readRunEvents(store, run);
    assertRanOnce(run, events, recorder);
    assert.deepEqual(await store.inbox.read(run.session, 0), [], `${run.id}: unread messages`);
    const asks = countEvents(events, 'approval-requested');
    asked += asks;
    attempts += run.attempts;
    if (run.attempts - asks > 1) killed++;
  }
  const held = (await store.sessions.list({ limit: runs })).filter(({ holder }) => holder !== undefined);
  assert.deepEqual(held, []);
  const happened = recorder.effects().length;
  assert.equal(happened, runs * effectTools.length);
  assert.ok(killed > 0, 'no kill interrupted a run');
  const repeats = recorder.entries.length - happened;
  t.diagnostic(
    `${kills} kills hit ${killed} runs: ${attempts} attempts, of them ${attempts - runs - asked} takeovers and ${asked} after a question; ` +
      `${happened} effects, 0 duplicates, 0 lost, ${repeats} repeats refused by their key`,
  );
  t.diagnostic(`measured crash-runs-ended ${killed}/${killed}`);
  t.diagnostic(`measured effects-once ${happened}/${happened}`);
}

/** Creates runs that wait for a held response: in a model call, and in each of the tools, whose effect has happened. */
async function enqueueBlockedRuns({ store, recorder }: FleetFixture): Promise<{
  readonly ids: readonly string[];
  readonly open: () => void;
  readonly reached: Promise<unknown>;
}> {
  const places = ['think-0', ...effectTools];
  const doors = places.map((place) => recorder.holdReply(`in ${place}`, place));
  const ids = places.map((place) => `in ${place}`);
  await store.queue.enqueue(ids.map((id) => ({ id, prompt: 'Do it.' })));
  return {
    ids,
    open: () => doors.forEach((each) => each.open()),
    reached: Promise.all(doors.map((each) => each.reached)),
  };
}

async function testZombieWorker(t: TestContext, kind: StoreKind): Promise<void> {
  const set = await createStoreFixture(t, kind);
  const { store, recorder, spawnWorker, waitForRuns } = set;
  const { ids, open, reached } = await enqueueBlockedRuns(set);
  const zombie = spawnWorker(2000);
  await reached;
  zombie.signal('SIGSTOP');
  const did = (): number => recorder.entries.filter(({ by }) => by === zombie.pid).length;
  const done = did();
  // One run has recorded nothing yet when the worker resumes: only the fencing number protects the log.
  const asked = recorder.holdReply('in pay', 'find');
  const other = spawnWorker();
  await asked.reached;
  const ended = await Promise.all(
    (await waitForRuns(1))
      .filter(({ status }) => status === 'ended')
      .map(async (run) => ({ run, events: await readRunEvents(store, run) })),
  );
  assert.equal(ended.length, ids.length - 1);

  // The responses are there when the worker resumes, before it can notice anything.
  open();
  zombie.signal('SIGCONT');
  for (const id of ids) await zombie.waitForLine(`over ${id}`);
  asked.open();
  for (const run of await waitForRuns()) assertRanOnce(run, await readRunEvents(store, run), recorder);
  assert.equal(did(), done, 'it has no effect on runs of other workers');
  for (const { run, events } of ended) {
    assert.deepEqual(await readRunEvents(store, run), events, `${run.id}: its write was refused`);
    assert.deepEqual(await store.queue.run(run.id), run);
  }
  t.diagnostic(
    zombie
      .output()
      .match(/refused .*/g)
      ?.join(', ') ?? 'It noticed by itself.',
  );
  await stopWorkers([other]);
  await store.queue.enqueue([{ id: 'after', prompt: 'Do it.' }]);
  await waitForRuns();
  const by = new Set(recorder.effects('after').map((entry) => entry.by));
  assert.deepEqual(by, new Set([zombie.pid]), 'it continues with other runs');
  await stopWorkers([zombie]);
}

async function testGracefulStop(t: TestContext, kind: StoreKind): Promise<void> {
  const set = await createStoreFixture(t, kind);
  const { store, recorder, spawnWorker, waitForRuns } = set;
  const { ids, open, reached } = await enqueueBlockedRuns(set);
  const first = spawnWorker();
  await reached;
  first.signal('SIGTERM');
  await first.waitForLine('leaving');
  open();
  assert.equal(await first.ended, 0, first.output());
  for (const id of ids) {
    const run = await store.queue.run(id);
    assert.deepEqual([run?.status, run?.attempts], ['queued', 1], id);
  }
  const second = spawnWorker();
  for (const run of await waitForRuns()) {
    const events = await readRunEvents(store, run);
    assertRanOnce(run, events, recorder);
    assert.deepEqual(
      [countEvents(events, 'approval-requested'), run.attempts],
      [0, 2],
      `${run.id}: no outcome is unknown`,
    );
  }
  assert.equal(
    recorder.entries.length,
    ids.length * effectTools.length,
    'nothing was repeated, not even with a known key',
  );
  await stopWorkers([second]);
}

for (const kind of storeKinds) {
  const options = { timeout: 120_000 + runs * 1000, ...(kind.skip === undefined ? {} : { skip: kind.skip }) };
  const amid = kind.disrupt ? ' and the store once' : '';
  test(
    `${kind.name}: [A52, A53, A71, A112, A116] ${runs} runs end, each effect happens once, while workers are killed ${kills} times${amid}`,
    options,
    (t) => testDrain(t, kind),
  );
  test(
    `${kind.name}: [A52, A53, A71] a suspended worker whose leases expired cannot write to runs that another worker claimed, and continues with other runs`,
    options,
    (t) => testZombieWorker(t, kind),
  );
  test(
    `${kind.name}: [A53, A116] a worker that gets a stop signal releases its runs, and no outcome is unknown`,
    options,
    (t) => testGracefulStop(t, kind),
  );
}
