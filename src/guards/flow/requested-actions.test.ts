// Tests which words of the user ask for an action: the words of the action, or the verb and a noun of the name of the tool.
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { builtinDeclarations, mergeDeclarations } from './builtin-declarations.ts';
import { decideCall } from './decide-call.ts';
import { parseDeclarations } from './declarations.ts';
import { FlowState } from './flow-state.ts';

const destructive = { effect: 'write', destructive: true, output: 'trusted' };
const declarations = mergeDeclarations(
  builtinDeclarations,
  parseDeclarations({
    tools: {
      revoke_code: { ...destructive, action: 'delete', inputs: { id: 'id' } },
      approve_expense: { ...destructive, action: 'pay', inputs: { id: 'id' } },
      merge_branch: { ...destructive, action: 'merge', inputs: { id: 'id' } },
      water_plant: { effect: 'write', action: 'garden', inputs: { id: 'id' }, output: 'trusted' },
      send_gift: { ...destructive, action: 'pay', inputs: { id: 'id' } },
    },
    actions: { merge: 'merg|branch', garden: 'garden|plant|water' },
  }),
);

for (const [prompt, tool, expected] of [
  ['Revoke the code X-51', 'revoke_code', 'allow'],
  ['Approve the expenses X-51', 'approve_expense', 'allow'],
  ['What is the code X-51?', 'revoke_code', 'not-requested'],
  ['Who can revoke X-51?', 'revoke_code', 'not-requested'],
  ['Merge the branch X-51', 'merge_branch', 'allow'],
  ['Look at the branch X-51. Do not merge it yet.', 'merge_branch', 'not-requested'],
  ["Look at the branch X-51, but don't merge", 'merge_branch', 'not-requested'],
  ["Merge X-51 and don't forget the branch", 'merge_branch', 'allow'],
  ['Which branch is X-51?', 'merge_branch', 'not-requested'],
  ['Which branch is X-51? Merge it.', 'merge_branch', 'allow'],
  ['Can you merge X-51?', 'merge_branch', 'allow'],
  ['Water the plant X-51', 'water_plant', 'allow'],
  ['What plants are in X-51?', 'water_plant', 'not-requested'],
  ['Send Anna a mail about the gift X-51', 'send_gift', 'not-requested'],
] as const)
  test(`[A39] "${prompt}" and ${tool}: ${expected}`, () => {
    const state = FlowState.create({}, [
      { type: 'user', text: prompt },
      { type: 'untrusted', text: 'Hello.', source: { tool: 'read_mail', call: 'm' } },
    ]);
    const decision = decideCall(state, declarations, { id: 'c', tool, input: { id: 'X-51' } });
    assert.equal(decision.type === 'allow' ? 'allow' : decision.rule, expected);
  });
