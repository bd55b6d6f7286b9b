// What a child takes over from its parent, and what it does not.
import assert from 'node:assert/strict';
import test from 'node:test';
import { childParts, runView, type AgentParts } from './index.ts';

test('a child is held to a schema of its own alone: its report is not its parent’s answer', () => {
  const shape = { schema: { type: 'object' }, check: () => undefined };
  const parent: AgentParts = {
    system: 's',
    provider: { family: 'f', model: 'm', stream: () => assert.fail('nobody is asked') },
    tools: new Map(),
    rules: [],
    reminders: [],
    gates: [],
    stops: [],
    checks: [],
    settings: { seed: 1 },
    answer: shape,
  };
  const { initial } = runView();
  const child = childParts(parent, initial, {});
  assert.ok(!('answer' in child));
  assert.deepEqual(child.settings, parent.settings, 'the rest is the parent’s');
  assert.equal(childParts(parent, initial, { answer: shape }).answer, shape);
});
