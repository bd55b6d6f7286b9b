// Tests of durable appends of a run: before and after each external effect, and at its end.
import assert from 'node:assert/strict';
import test from 'node:test';
import { resolveAgent, defineTool } from '../agent/index.ts';
import { epochStartedFact, runStateView, type Event, type Fact, type FleetStore, type Log } from '../core/index.ts';
import { memoryLog } from '../stores/index.ts';
import { calls, scriptedProvider } from '../testing/index.ts';
import { openTempFleetStore } from '../../test/support/fleet-store.ts';
import { createAgentRunHandler } from './run-handler.ts';
import { createRunLog } from './run-log.ts';
import { startWorker } from './worker.ts';

/** Records the appended facts, and whether each append was durable. */
const noting = (store: FleetStore, seen: string[]): FleetStore => ({
  ...store,
  sessions: {
    ...store.sessions,
    async open(...given) {
      const log = await store.sessions.open(...given);
      return {
        ...log,
        append(after, facts, options) {
          seen.push(`${facts.map(({ type }) => type).join(' ')}${options?.durable === true ? ', durable' : ''}`);
          return log.append(after, facts, options);
        },
      };
    },
  },
});

test('[A52] the start of a turn and of a call is durable before the request and the tool run, and so are their results and the end of the run', async (t) => {
  const seen: string[] = [];
  const store = noting(await openTempFleetStore(t), seen);
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    effect: 'external',
    input: { type: 'object' },
    run: () => void seen.push('PAY'),
  });
  const script = scriptedProvider([calls('pay', {}), 'Paid.']);
  const provider = {
    ...script,
    stream: (...given: Parameters<typeof script.stream>) => (seen.push('ASK'), script.stream(...given)),
  };
  const parts = resolveAgent({ provider, system: 'Work.', tools: [pay] });
  await store.queue.enqueue([{ id: 'r', prompt: 'Go.' }]);
  const run = createAgentRunHandler(async () => ({ parts, close: async () => {} }));
  await startWorker({ store, handlers: { run }, drain: true }).done;
  assert.equal((await store.queue.run('r'))?.outcome?.text, 'Paid.');
  assert.deepEqual(seen, [
    'session-started epoch-started',
    'input-received run-started',
    'turn-started, durable',
    'ASK',
    'turn-ended, durable',
    'tool-started, durable',
    'PAY',
    'tool-ended, durable',
    'turn-started, durable',
    'ASK',
    'turn-ended, durable',
    'run-ended, durable',
  ]);
});

test('[A52] inbox messages are durable together with their position, and so is a paid summary', async (t) => {
  const seen: string[] = [];
  const { sessions } = noting(await openTempFleetStore(t), seen);
  const log = createRunLog(await sessions.open('s'), new AbortController().signal);
  const place = { type: 'annotation-added', key: 'inbox', value: 1 } as const;
  const said = { type: 'input-received', input: 'i', how: 'steer', parts: [] } as const;
  const { baseline, ...epoch } = epochStartedFact(runStateView().initial, 'compacted', []);
  assert.ok(baseline);
  const settle = true;
  await log.append(0, [said, place], { durable: settle });
  await log.append(2, [{ ...epoch, baseline }], { durable: settle });
  await log.append(3, [epoch], { durable: settle });
  await log.append(4, [place]);
  assert.deepEqual(seen, [
    'input-received annotation-added, durable',
    'epoch-started, durable',
    'epoch-started',
    'annotation-added',
  ]);
  await log.close();
});

/** A log whose appends take so many milliseconds each, and the number of its empty appends. */
function createSlowLog(durations: readonly number[]): { readonly log: Log; readonly checks: () => number } {
  let now = 0;
  let appends = 0;
  let checks = 0;
  const slow: Log = {
    ...memoryLog(),
    async append(_after, facts) {
      now += durations[appends++] ?? 0;
      if (facts.length === 0) checks += 1;
      return facts.map((fact, i): Event => ({ ...fact, seq: i + 1, id: `${i}`, parent: null, time: '' }));
    },
  };
  const log = createRunLog(slow, new AbortController().signal, { monotonicMs: () => now });
  return { log, checks: () => checks };
}

const callStarted: Fact = { type: 'tool-started', call: 'c', tool: 'pay', key: 'k' };

test('[A53] a worker that was suspended while it recorded the start of a call checks its lease until one check was quick', async () => {
  const cases: readonly (readonly [durations: readonly number[], checks: number])[] = [
    [[400], 0],
    [[600, 10], 1],
    [[600, 9000, 10], 2],
    [[600, 600, 600, 600, 600, 10], 5],
  ];
  for (const [durations, checks] of cases) {
    const slow = createSlowLog(durations);
    await slow.log.append(0, [callStarted]);
    assert.equal(slow.checks(), checks, durations.join(' '));
  }
  const tooSlow = createSlowLog([600, 600, 600, 600, 600, 600]);
  await assert.rejects(tooSlow.log.append(0, [callStarted]), { code: 'run/left', retry: true });
  const withoutEffect = createSlowLog([600, 9000]);
  await withoutEffect.log.append(0, [{ type: 'run-ended', reason: 'answered' }]);
  assert.equal(withoutEffect.checks(), 1, 'an append before no effect is checked once');
});
