// Fixture of fleet crash tests: runs with external effects, automatic answers to outcome questions, and the final assertions.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { Event, FleetRun, FleetStore } from '../../src/core/index.ts';
import { sendMessage } from '../../src/fleet/index.ts';
import { openFleetStore } from '../../src/stores/open-fleet-store.ts';
import { readLogEvents } from '../crash/checker.ts';
import type { WorkerProcess, SpawnWorker } from './spawn-workers.ts';
import { startEffectRecorder, type EffectRecorder } from './effect-recorder.ts';

/** The effects of each run. */
export const effectTools: readonly string[] = ['pay', 'book', 'mail'];

/** The longest time without progress, in milliseconds. */
const maxIdleMs = 60_000;

/** A fleet with its effect recorder and automatic answers. */
export type FleetFixture = {
  readonly store: FleetStore;
  readonly recorder: EffectRecorder;
  /** Starts a worker process; its lease is 10 seconds by default. */
  readonly spawnWorker: (leaseMs?: number) => WorkerProcess;
  /** Waits until all runs except `left` have ended, and returns all; meanwhile answers outcome questions from the recorder. */
  readonly waitForRuns: (left?: number) => Promise<readonly FleetRun[]>;
};

/** Creates the fixture on a store. */
export async function createFleetFixture(t: TestContext, where: string, hire: SpawnWorker): Promise<FleetFixture> {
  const outside = await startEffectRecorder(t);
  const store = await openFleetStore(where, { maxWorkerLosses: 1000 });
  t.after(() => store.close());
  return {
    store,
    recorder: outside,
    spawnWorker: (leaseMs = 10_000) => hire(t, where, outside.url, leaseMs),
    async waitForRuns(left = 0) {
      let last = { seen: '', at: 0 };
      for (;;) {
        const open = await retryWhileStoreDown(() => answerQuestions(store, outside));
        if (open <= left) return retryWhileStoreDown(() => store.queue.list({ limit: 10_000 }));
        const seen = `${open} ${outside.entries.length}`;
        if (seen !== last.seen) last = { seen, at: Date.now() };
        else if (Date.now() - last.at > maxIdleMs) await failWithOpenRuns(store);
        await pause(20);
      }
    },
  };
}

/** Throws with the status of each run that has not ended. */
async function failWithOpenRuns({ queue }: FleetStore): Promise<never> {
  const open = (await queue.list({ limit: 10_000 })).filter(({ status }) => status !== 'ended');
  assert.fail(`nothing goes on any more: ${JSON.stringify(open)}`);
}

/** Retries while the store is unavailable. */
async function retryWhileStoreDown<T>(work: () => Promise<T>): Promise<T> {
  for (const end = Date.now() + 60_000; ; await pause(100)) {
    try {
      return await work();
    } catch (error) {
      if (Date.now() > end || (error as { blame?: string }).blame !== 'store') throw error;
    }
  }
}

/** Answers pending questions from the recorded effects, and returns the number of runs that have not ended. */
async function answerQuestions(store: FleetStore, outside: EffectRecorder): Promise<number> {
  for (const { session, id, pendingApprovals: questions } of await store.queue.list({
    status: 'waiting',
    limit: 10_000,
  }))
    for (const { call, tool, kind } of questions) {
      assert.deepEqual([kind, tool], ['unknown-outcome', 'mail'], 'the user is asked only if no program can tell');
      const happened = outside.effects(id, tool).length > 0;
      await sendMessage(store, session, { type: 'answer', call, allowed: !happened, happened, by: 'the test' });
    }
  const { queued, running, waiting } = await store.queue.depth();
  return queued + running + waiting;
}

/** Returns all events of a run's session. */
export async function readRunEvents({ sessions }: FleetStore, { session }: FleetRun): Promise<readonly Event[]> {
  const log = await sessions.reader(session);
  const events = await readLogEvents(log);
  await log.close();
  return events;
}

/** Counts the events of a type. */
export const countEvents = (events: readonly Event[], type: Event['type']): number =>
  events.filter((event) => event.type === type).length;

/** Asserts that a run recorded and did everything exactly once. */
export function assertRanOnce(run: FleetRun, events: readonly Event[], outside: EffectRecorder): void {
  const { outcome, status, id } = run;
  assert.deepEqual([status, outcome?.reason, outcome?.text], ['ended', 'answered', '3 things done'], id);
  const happened = effectTools.map((tool) => outside.effects(id, tool).length);
  assert.deepEqual(happened, [1, 1, 1], `${id}: number of each effect`);
  const once = ['run-started', 'input-received', 'run-ended'] as const;
  assert.deepEqual(
    once.map((type) => countEvents(events, type)),
    [1, 1, 1],
    `${id}: number of starts and ends`,
  );
  const done = events.flatMap((event) => (event.type === 'tool-ended' ? [event.outcome] : []));
  assert.deepEqual(done, ['ok', 'ok', 'ok'], `${id}: outcomes of its calls`);
}
