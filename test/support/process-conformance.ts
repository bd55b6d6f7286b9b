// Conformance tests of stores with real processes that are killed, suspended and resumed.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { zeroUsage, type FleetStore } from '../../src/core/index.ts';
import { openFleetStore } from '../../src/stores/index.ts';
import { spawnScriptedWorker, startScriptedWorker, type ScriptedWorker } from './scripted-worker.ts';

/** Creates an empty location for a store, as `openFleetStore` takes it. */
export type FreshStoreLocation = (t: TestContext) => Promise<string>;

const leaseMs = 700;

const spawnReadyActor = (t: TestContext, location: string): Promise<ScriptedWorker> =>
  spawnScriptedWorker(t, location, leaseMs);
const spawnActor = (t: TestContext, location: string): Promise<ScriptedWorker> =>
  startScriptedWorker(t, location, leaseMs);

async function openStore(t: TestContext, location: string): Promise<FleetStore> {
  const store = await openFleetStore(location, { leaseMs, retryMs: 20 });
  t.after(() => store.close());
  return store;
}

/** Handles runs until the queue is empty, and returns which. */
async function drainQueue(store: FleetStore): Promise<readonly string[]> {
  const runs: string[] = [];
  await store.queue.work({
    worker: 'here',
    concurrency: 2,
    drain: true,
    signal: new AbortController().signal,
    async handle(run) {
      runs.push(`${run.id} ${run.attempts}`);
      return { type: 'completed', outcome: { reason: 'answered', text: 'here', spent: zeroUsage } };
    },
  });
  return runs;
}

/** Registers the tests; they are skipped with the reason in `skip`. */
export function processConformance(
  name: string,
  fresh: FreshStoreLocation,
  options: { readonly skip?: string } = {},
): void {
  const register = (title: string, work: (t: TestContext, location: string) => Promise<void>): void =>
    void test(`${name}: ${title}`, { timeout: 120_000, ...options }, async (t) => work(t, await fresh(t)));

  register('[A116] processes that open a new store at the same time all open it', async (t, location) => {
    const actors = await Promise.all([1, 2, 3, 4].map(() => spawnReadyActor(t, location)));
    for (const actor of actors) actor.send('go');
    for (const actor of actors) assert.equal(await actor.waitForLine(''), 'ready');
    for (const actor of actors) assert.equal(await actor.ask('standing'), 'stopped false');
    assert.deepEqual(await (await openStore(t, location)).queue.depth(), { queued: 0, running: 0, waiting: 0 });
  });

  register('[A95] the kill switch that one process sets is set for all', async (t, location) => {
    const actor = await spawnActor(t, location);
    const { killSwitch } = await openStore(t, location);
    await killSwitch.stop('a test', 'me');
    assert.equal(await actor.ask('standing'), 'stopped true');
    await killSwitch.resume('me');
    assert.equal(await actor.ask('standing'), 'stopped false');
  });

  register(
    '[A52] a session of a killed process can be opened, with everything that was durable',
    async (t, location) => {
      const actor = await spawnActor(t, location);
      assert.equal(await actor.ask('open'), 'opened');
      assert.equal(await actor.ask('append'), 'saved 1');
      const { sessions } = await openStore(t, location);
      await assert.rejects(sessions.open('one'), { code: 'store/locked', message: new RegExp(`p${actor.pid}`) });
      await actor.kill();
      const log = await openWithRetry(sessions);
      const [event] = await log.append(1, [{ type: 'annotation-added', key: 'k', value: 1 }], { durable: true });
      assert.equal(event?.seq, 2);
      await log.close();
    },
  );

  register('[A71, A116] the run of a killed worker is taken over by another', async (t, location) => {
    const store = await openStore(t, location);
    await store.queue.enqueue([{ id: 'r', prompt: '' }]);
    const actor = await spawnActor(t, location);
    actor.send('take');
    await actor.waitForLine('took r 1');
    await actor.kill();
    assert.deepEqual(await drainQueue(store), ['r 2']);
  });

  register(
    '[A52] [attack 97] a run that lost its worker three times in a row ends with the reason, and is not handed out again',
    async (t, location) => {
      const store = await openStore(t, location);
      await store.queue.enqueue([{ id: 'poison', prompt: '' }]);
      for (const attempt of [1, 2, 3]) {
        const actor = await spawnActor(t, location);
        actor.send('take');
        await actor.waitForLine(`took poison ${attempt}`);
        await actor.kill();
      }
      assert.deepEqual(await drainQueue(store), []);
      const run = await store.queue.run('poison');
      assert.equal(run?.status, 'ended');
      assert.match(
        run?.outcome?.detail ?? '',
        /^The run lost its worker 3 times in a row: .* It is not handed out again/,
      );
    },
  );

  register(
    '[A116] a worker that was suspended while others took its run over has its writes refused',
    async (t, location) => {
      const store = await openStore(t, location);
      const zombie = await spawnActor(t, location);
      assert.equal(await zombie.ask('open'), 'opened');
      assert.equal(await zombie.ask('append'), 'saved 1');
      await store.queue.enqueue([{ id: 'r', prompt: '', session: 'one' }]);
      zombie.send('take');
      await zombie.waitForLine('took r 1');
      zombie.signal('SIGSTOP');
      assert.deepEqual(await drainQueue(store), ['r 2']);
      const log = await store.sessions.open('one', { force: true });
      // The command is there when the process resumes, before it can have noticed anything.
      zombie.send('append');
      zombie.signal('SIGCONT');
      const first = await zombie.waitForLine('');
      const second = await zombie.waitForLine('');
      assert.deepEqual([first, second].toSorted(), ['lost r', 'store/fenced']);
      zombie.send('append');
      assert.equal(await zombie.waitForLine('store/'), 'store/fenced');
      assert.equal((await log.append(1, [{ type: 'annotation-added', key: 'k', value: 1 }])).length, 1);
      zombie.send('finish');
      await zombie.waitForLine('worked');
      assert.equal((await store.queue.run('r'))?.outcome?.text, 'here', 'a late settlement changes nothing');
      await zombie.close();
      await log.close();
    },
  );

  register('[A52, A71, A116] workers that are killed lose no run and repeat none', async (t, location) => {
    const store = await openStore(t, location);
    const runs = await store.queue.enqueue(Array.from({ length: 40 }, (_, i) => ({ id: `r${i}`, prompt: '' })));
    const startDraining = async (): Promise<ScriptedWorker> => {
      const actor = await spawnActor(t, location);
      actor.send('drain');
      return actor;
    };
    let actors: readonly ScriptedWorker[] = await Promise.all([startDraining(), startDraining()]);
    for (let kills = 0; kills < 2; kills++) {
      const before = (await store.queue.list({ status: 'ended' })).length;
      const wanted = Math.min(32, before + 8);
      while ((await store.queue.list({ status: 'ended' })).length < wanted)
        await new Promise((resolve) => setTimeout(resolve, 5));
      await actors[0]?.kill();
      actors = [...actors.slice(1), await startDraining()];
    }
    for (const actor of actors) await actor.waitForLine('drained');
    for (const { id, session } of runs) {
      assert.equal((await store.queue.run(id))?.outcome?.reason, 'answered');
      const dones: string[] = [];
      for await (const events of (await store.sessions.reader(session)).read())
        for (const event of events) if (event.type === 'annotation-added' && event.key === 'done') dones.push(event.id);
      assert.equal(dones.length, 1, `${id} was handled ${dones.length} times`);
    }
    for (const actor of actors) await actor.close();
  });
}

async function openWithRetry(sessions: FleetStore['sessions']): ReturnType<FleetStore['sessions']['open']> {
  for (;;) {
    try {
      return await sessions.open('one');
    } catch (error) {
      assert.equal((error as { code?: string }).code, 'store/locked');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
