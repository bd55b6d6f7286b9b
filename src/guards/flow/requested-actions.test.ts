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
      send_gift: { ...destructive, action: 'pay', inputs: { id: 'id' } },
    },
  }),
);

for (const [prompt, tool, expected] of [
  ['Revoke the code X-51', 'revoke_code', 'allow'],
  ['Approve the expenses X-51', 'approve_expense', 'allow'],
  ['What is the code X-51?', 'revoke_code', 'not-requested'],
  ['Who can revoke X-51?', 'revoke_code', 'not-requested'],
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
