// Behaviour 2: the conversation is a log of events; built-in selectors and a custom view read it.
import assert from 'node:assert/strict';
import { tool, Harness, openSessionWriter, runStateView } from 'fairlead';
import { readView, type NamedView } from 'fairlead/core';
import {
  contextUsage,
  mentionedEntities,
  toolFailures,
  sessionStats,
  detectLoop,
  spendingBreakdown,
  callAttempts,
} from 'fairlead/rules';
import { memoryLog } from 'fairlead/stores';
import { calls, says, scriptedProvider } from 'fairlead/testing';

const test = tool({
  name: 'test',
  description: 'Runs the tests.',
  effect: 'read',
  inputSchema: { type: 'object' },
  execute: () => {
    throw new Error('1 test failed in src/sum.test.ts');
  },
});
const longest: NamedView<number> = {
  name: 'longest-answer',
  initial: 0,
  on: (most, event) => (event.type === 'turn-ended' ? Math.max(most, JSON.stringify(event.message).length) : most),
  serialize: (most) => most,
  restore: (kept) => (typeof kept === 'number' ? kept : undefined),
};

const log = memoryLog();
const provider = scriptedProvider([
  calls('test', {}),
  calls('test', {}),
  calls('test', {}),
  says('It fails, see #12.'),
]);
const harness = new Harness({ provider, system: '', tools: [test], views: [sessionStats, longest], runDir: null });
await harness.open(log);
await harness.ask('Why does src/sum.ts fail?');

// Views are folded from the log, so every log can be queried at any time.
const { state } = await openSessionWriter(log, runStateView([], [sessionStats, longest]));
assert.equal(toolFailures(state, 'test').inARow, 3);
assert.deepEqual(
  callAttempts(state).map(({ tool, count, same }) => [tool, count, same]),
  [['test', 3, 3]],
);
assert.deepEqual(detectLoop(state), { period: 1, times: 3, tools: ['test'] });
assert.ok((contextUsage(state).results['test'] ?? 0) > 0);
assert.deepEqual(
  mentionedEntities(state).map(({ name }) => name),
  ['#12', 'src/sum.ts'],
);
assert.equal(spendingBreakdown(state).session.turns, 4);
assert.ok(readView(state, longest) > 0);
