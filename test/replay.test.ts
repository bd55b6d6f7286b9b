// Law 4: the same log folds to the same state, on any machine and in any later version.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import * as fc from 'fast-check';
import {
  fold,
  runStateView,
  toArray,
  upcastEvent,
  upcastUsageTotals,
  type Event,
  type RunState,
} from '../src/core/index.ts';
import { memoryLog } from '../src/stores/index.ts';
import { runScenario, arbitraryModelTurn, createScenario } from './support/scenario.ts';

const toPlainState = (state: RunState): unknown =>
  JSON.parse(JSON.stringify({ ...state, messages: toArray(state.messages) }));

test('[M11, M16] the final state of a run is the fold of its log, read back through JSON', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(arbitraryModelTurn, { maxLength: 8 }), async (script) => {
      const { agent } = createScenario(script);
      const log = memoryLog();
      const { state } = await runScenario(agent, log);
      const reread = JSON.parse(JSON.stringify(log.events)) as Event[];
      assert.deepEqual(toPlainState(fold(runStateView(agent.rules), reread)), toPlainState(state));
    }),
    { numRuns: 100 },
  );
});

test('a fold may start at any self-contained epoch', async () => {
  const { agent } = createScenario([{ text: 'one', calls: [{ tool: 'look', input: { n: 1 } }], finish: 'tool-calls' }]);
  const log = memoryLog();
  const head = await runScenario(agent, log);
  const { epochStartedFact } = await import('../src/core/index.ts');
  await head.record((state) => [epochStartedFact(state, 'compacted', toArray(state.messages))]);
  await head.record([{ type: 'input-received', input: 'i2', how: 'prompt', parts: [{ type: 'text', text: 'again' }] }]);
  const last = log.events.findLastIndex((event) => event.type === 'epoch-started');
  const short = fold(runStateView(agent.rules), log.events.slice(last));
  assert.deepEqual(toArray(short.messages), toArray(head.state.messages));
  assert.deepEqual(
    [short.total, short.turn, short.session, short.pending],
    [head.state.total, head.state.turn, head.state.session, head.state.pending],
  );
});

test('[A51] a log of the first version folds to the same state as then; a later version may add fields', () => {
  const kept = JSON.parse(readFileSync(new URL('./fixtures/replay-v1.json', import.meta.url), 'utf8')) as {
    readonly events: readonly Event[];
    readonly state: Readonly<Record<string, unknown>>;
  };
  const events = kept.events.map((event) => upcastEvent(event) as Event);
  const state = toPlainState(fold(runStateView([]), events)) as Record<string, unknown>;
  const renamed: Readonly<Record<string, string>> = { reasks: 'answerRetries', due: 'needsTurn' };
  for (const [key, value] of Object.entries(kept.state))
    assert.deepEqual(state[renamed[key] ?? key], upcastUsageTotals(value), key);
});

test('folding a long session costs the same per event at its end as at its start', () => {
  const event = (seq: number, fact: object): Event =>
    ({ ...fact, seq, id: String(seq), parent: seq > 1 ? String(seq - 1) : null, time: '' }) as Event;
  const view = runStateView([]);
  let copies = 0;
  let state = fold(view, [event(1, { type: 'session-started', session: 's' })]);
  for (let i = 0; i < 3000; i++) {
    const items = state.messages.items;
    const call = `c${i}`;
    state = fold(
      view,
      [
        event(4 * i + 2, { type: 'turn-started', turn: i + 1, inputs: [], notes: [] }),
        event(4 * i + 3, {
          type: 'turn-ended',
          turn: i + 1,
          message: { role: 'assistant', parts: [{ type: 'tool-call', id: call, tool: 't', input: {} }] },
          finish: 'tool-calls',
          usage: {},
          model: 'm',
          ms: 1,
        }),
        event(4 * i + 4, { type: 'tool-started', call, tool: 't', key: call }),
        event(4 * i + 5, { type: 'tool-ended', call, outcome: 'ok', text: 'ok', ms: 1 }),
      ],
      state,
    );
    if (state.messages.items !== items) copies++;
  }
  assert.ok(state.messages.length >= 6000);
  assert.equal(copies, 0, 'the history is never copied');
});
