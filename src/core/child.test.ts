// What a child takes over from its parent, and what it does not.
import assert from 'node:assert/strict';
import test from 'node:test';
import { bare } from '../../test/support/bare-agent.ts';
import { childParts, runView, type AgentParts, type Tool } from './index.ts';

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

test('a child is not given what is made elsewhere: nobody outside waits for it', () => {
  const tool = (name: string, more: Partial<Tool> = {}): [string, Tool] => [
    name,
    { name, description: name, input: {}, effect: 'read', run: () => name, ...more },
  ];
  const parent: AgentParts = {
    system: 's',
    provider: { family: 'f', model: 'm', stream: () => assert.fail('nobody is asked') },
    tools: new Map([tool('here'), tool('there', { elsewhere: 'It is made there.' })]),
    ...bare,
  };
  const { initial } = runView();
  assert.deepEqual([...childParts(parent, initial, {}).tools.keys()], ['here']);
  assert.deepEqual([...childParts(parent, initial, { tools: ['there'] }).tools.keys()], []);
});
