// Tests of publishing partial text: text only, per turn, and none after the worker has lost the run.
import assert from 'node:assert/strict';
import test from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { resolveAgent } from '../agent/index.ts';
import type { FleetStore, PartialText } from '../core/index.ts';
import { calls, says, scriptedProvider, type Script } from '../testing/index.ts';
import { openTempFleetStore } from '../../test/support/fleet-store.ts';
import { createAgentRunHandler } from './run-handler.ts';
import { startWorker, type Worker } from './worker.ts';

const look = {
  name: 'look',
  description: 'Looks.',
  input: { type: 'object' },
  effect: 'read',
  execute: () => 'seen',
} as const;

function startTestWorker(store: FleetStore, script: Script): Worker {
  const parts = resolveAgent({ provider: scriptedProvider(script), system: 'Work.', tools: [look] });
  return startWorker({
    store,
    handlers: { run: createAgentRunHandler(async () => ({ parts, close: async () => {} })) },
    drain: true,
  });
}

test('[A93] the text of each turn is published with the position of the turn; reasoning and calls are not', async (t) => {
  const store = await openTempFleetStore(t);
  const said: PartialText[] = [];
  store.partialText.subscribe('r', (text) => said.push(text));
  const script: Script = ({ results }) =>
    results.length === 0
      ? [{ reasoning: 'I had better look.' }, says('Let me look.'), calls('look', {})]
      : says('Seen.');
  await store.queue.enqueue([{ id: 'r', prompt: 'Go.' }]);
  await startTestWorker(store, script).done;
  const log = await store.sessions.reader('r');
  const began: number[] = [];
  for await (const events of log.read())
    for (const { type, seq } of events) if (type === 'turn-started') began.push(seq);
  await log.close();
  const of = (since: number | undefined): string =>
    said.flatMap((each) => (each.since === since ? each.text : [])).join('');
  assert.deepEqual([of(began[0]), of(began[1])], ['Let me look.', 'Seen.']);
  assert.ok(said.every(({ since, turn, restarted }) => since === began[turn - 1] && !restarted));
  store.partialText.subscribe('r', () =>
    assert.fail('A later subscriber must not receive the text of a completed turn.'),
  );
});

test('[A93] text of a turn that another worker takes over is retracted', async (t) => {
  const store = await openTempFleetStore(t);
  const received = { text: '' };
  store.partialText.subscribe(
    'r',
    ({ text, restarted }) => void (received.text = (restarted ? '' : received.text) + text),
  );
  await store.queue.enqueue([{ id: 'r', prompt: 'Go.' }]);
  const worker = startTestWorker(store, [{ chunks: ['Half ', 'of it'], cutAfter: 1, hang: true }, says('All of it')]);
  while (received.text !== 'Half ') await pause(5);
  // Another writer holds the session now; this worker must publish nothing more.
  const log = await store.sessions.open('r', { holder: 'another', force: true });
  await store.inbox.send('r', { type: 'steer', text: 'Are you there?' });
  worker.abort();
  await worker.done;
  await log.close();
  assert.equal(received.text, '');
});
