// Which settings a sub-agent inherits from its parent, and which not.
import assert from 'node:assert/strict';
import test from 'node:test';
import { bareAgentParts } from '../../test/support/bare-agent.ts';
import { deriveSubagent, getModelOrigin, runStateView, type ResolvedAgent, type Tool } from './index.ts';

test('a sub-agent uses its own output schema, not its parent’s', () => {
  const shape = { schema: { type: 'object' }, validate: () => undefined };
  const parent: ResolvedAgent = {
    system: 's',
    provider: { family: 'f', model: 'm', stream: () => assert.fail('no approval is requested') },
    tools: new Map(),
    rules: [],
    reminders: [],
    gates: [],
    stops: [],
    checks: [],
    settings: { seed: 1 },
    outputSchema: shape,
  };
  const { initial } = runStateView();
  const child = deriveSubagent(parent, initial, {});
  assert.ok(!('outputSchema' in child));
  assert.deepEqual(child.settings, parent.settings, 'the rest is inherited');
  assert.equal(deriveSubagent(parent, initial, { outputSchema: shape }).outputSchema, shape);
});

test('a sub-agent gets no client tools, because no client waits for their results', () => {
  const tool = (name: string, more: Partial<Tool> = {}): [string, Tool] => [
    name,
    { name, description: name, input: {}, effect: 'read', execute: () => name, ...more },
  ];
  const parent: ResolvedAgent = {
    system: 's',
    provider: { family: 'f', model: 'm', stream: () => assert.fail('no approval is requested') },
    tools: new Map([tool('here'), tool('there', { clientSideQuestion: 'It is made there.' })]),
    ...bareAgentParts,
  };
  const { initial } = runStateView();
  assert.deepEqual([...deriveSubagent(parent, initial, {}).tools.keys()], ['here']);
  assert.deepEqual([...deriveSubagent(parent, initial, { tools: ['there'] }).tools.keys()], []);
});

test('a sub-agent with another model does not inherit where the model of its parent was opened', () => {
  const provider = { family: 'f', model: 'm', stream: () => assert.fail('nothing is requested') };
  const origin = { modelProvider: 'anthropic', modelHost: 'api.example', modelName: 'n' };
  const parent: ResolvedAgent = { system: 's', provider, tools: new Map(), ...bareAgentParts, ...origin };
  const { initial } = runStateView();
  assert.deepEqual(getModelOrigin(deriveSubagent(parent, initial, {})), origin);
  assert.deepEqual(getModelOrigin(deriveSubagent(parent, initial, { provider: { ...provider } })), {});
});
