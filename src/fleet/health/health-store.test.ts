// Tests of the health report with a real worker and store: runs that are answered, fail, abstain, wait and are cancelled.
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { openTempFleetStore } from '../../../test/support/fleet-store.ts';
import { startPostgres } from '../../../test/support/postgres.ts';
import { resolveAgent } from '../../agent/index.ts';
import { lastItem, messageText, type Check, type FleetStore } from '../../core/index.ts';
import { openFleetStore } from '../../stores/open-fleet-store.ts';
import { fails, says, scriptedProvider } from '../../testing/index.ts';
import { createAgentRunHandler, startWorker } from '../index.ts';
import { readHealth } from './health.ts';
import { formatMetrics } from './metrics.ts';

const unsure: Check = {
  name: 'unsure',
  run({ messages }) {
    const answer = lastItem(messages);
    const doubts = answer !== undefined && messageText(answer).includes('doubt');
    return doubts ? { type: 'abstained', why: 'Nobody can tell.' } : { type: 'passed' };
  },
};

const postgres = await startPostgres();
const isHere = typeof postgres !== 'string';
if (isHere) after(() => postgres.close());

test('[A65, A94] the health report of a fleet on SQLite matches its runs', async (t) => {
  await tells(await openTempFleetStore(t));
});

test(
  '[A65, A94] the health report of a fleet on PostgreSQL matches its runs',
  { skip: isHere ? false : postgres },
  async (t) => {
    assert.ok(isHere);
    const store = await openFleetStore(await postgres.createDatabase());
    t.after(() => store.close());
    await tells(store);
  },
);

async function tells(store: FleetStore): Promise<void> {
  const provider = scriptedProvider(({ prompt }) =>
    prompt.includes('break') ? fails(401) : says(`You said ${prompt}`),
  );
  const parts = resolveAgent({ provider, system: 'You are a test.', checks: [unsure] });
  const run = createAgentRunHandler(async () => ({ parts, close: async () => {} }));
  const prompts = [...Array.from({ length: 12 }, () => 'hello'), 'break', 'break', 'break', 'doubt', 'doubt'];
  await store.queue.enqueue(prompts.map((prompt) => ({ prompt })));
  const [gone] = await store.queue.enqueue([{ prompt: 'never' }]);
  await store.queue.cancel(gone?.id ?? '', 'not needed');
  await startWorker({ store, handlers: { run }, drain: true }).done;
  const later = new Date(Date.now() + 3_600_000).toISOString();
  await store.queue.enqueue([{ prompt: 'later', notBefore: later }]);
  const about = { breakers: [{ model: 'scripted/m', state: 'open' }] };
  await store.workers.heartbeat({
    worker: 'w',
    host: 'h',
    pid: 1,
    version: '1',
    startedAt: '',
    running: 0,
    info: about,
  });
  await store.killSwitch.stop('a drill', 'me');

  const now = new Date(Date.now() + 1000);
  const health = await readHealth(store, now);
  const { rates } = health;
  assert.deepEqual([rates.ended, rates.cancelled], [18, 1]);
  assert.deepEqual(
    [rates.answered, rates.errors, rates.abstained, rates.limited].map(({ good, total }) => `${good}/${total}`),
    ['12/17', '3/17', '2/17', '0/17'],
  );
  assert.equal(health.depth.queued, 1);
  assert.equal(health.durationMs?.p50.count, 17, 'a run that never started has no duration');
  assert.ok((health.durationMs?.p99.value ?? -1) >= 0 && (health.queueMs?.p50.value ?? -1) >= 0);
  assert.deepEqual(health.breakers, [{ worker: 'w', model: 'scripted/m', state: 'open' }]);
  assert.equal(health.killSwitch.reason, 'a drill');
  assert.deepEqual(
    health.slo.map(({ id, verdict }) => `${id}: ${verdict}`),
    ['answered: missed', 'waitedMs: not enough data', 'tookMs: not enough data'],
    '12 of 17 is significantly below 90 %; 17 runs are too few for an interval of the 95th percentile',
  );
  assert.ok(health.drift.every(({ verdict }) => verdict === 'not enough data'));
  const text = formatMetrics(
    health,
    await store.queue.stats(new Date(0).toISOString(), now.toISOString(), now.getTime()),
  );
  assert.match(text, /^fairlead_window_runs\{reason="abstained"\} 2$/m);
  assert.match(text, /^fairlead_stopped 1$/m);
}
