// Behaviour 4: stop conditions over the state, in any combination, with the reason in the log.
import assert from 'node:assert/strict';
import { tool, Harness } from 'fairlead';
import {
  allOf,
  anyOf,
  contextLimit,
  errorThreshold,
  expectedOutput,
  answerMatches,
  compileRuleSet,
  stopWhen,
  stuckLoop,
  toolStats,
  turnLimit,
} from 'fairlead/rules';
import { callsThenAnswer, says, scriptedProvider } from 'fairlead/testing';

const look = tool({
  name: 'look',
  description: 'Looks.',
  effect: 'read',
  inputSchema: { type: 'object' },
  execute: (input) => JSON.stringify(input),
});

const stop = anyOf(
  turnLimit(20),
  contextLimit({ share: 0.9 }),
  errorThreshold(3),
  stuckLoop(3),
  allOf(
    stopWhen('enough', (state) => toolStats(state, 'look').run.calls >= 4 && 'Four looks are enough.'),
    stopWhen('late', (state) => state.spent.turns >= 4),
  ),
);
const provider = scriptedProvider(callsThenAnswer(10, 'look', (i) => ({ i }), 'Seen.'));
const harness = new Harness({
  provider,
  system: '',
  tools: [look],
  ...compileRuleSet({ name: 'stops', stops: [stop] }),
  runDir: null,
});
const result = await harness.runResult('Look around.');
assert.equal(result.reason, 'rule');
assert.equal(result.detail, 'enough: Four looks are enough. late: its condition is true.');

// A run is complete if that is detected, or if the checks pass: a failed check sends its reason to the model, and the run continues.
const done = new Harness({
  provider: scriptedProvider([says('I think so.'), says('DONE: 42')]),
  system: '',
  ...compileRuleSet({ name: 'done', stops: [expectedOutput(/DONE: \d+/)], checks: [answerMatches('DONE')] }),
  runDir: null,
});
assert.equal((await done.runResult('What is it?')).reason, 'task-complete');
