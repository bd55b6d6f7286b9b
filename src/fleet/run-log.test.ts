// Tests of durable appends of a run: before and after each external effect, and at its end.
import assert from 'node:assert/strict';
import test from 'node:test';
import { resolveAgent, defineTool } from '../agent/index.ts';
import { epochStartedFact, runStateView, type FleetStore } from '../core/index.ts';
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
