// Tests the rule for calls that confirm: they complete the effect that this session made directly before, with a code that is new since then.
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { decideCall } from './decide-call.ts';
import { parseDeclarations } from './declarations.ts';
import { FlowState, type FlowEntry } from './flow-state.ts';
import { readEffect } from './pending-effect.ts';
import { restoreFlowState, serializeFlowState } from './stored-state.ts';

const declarations = parseDeclarations({
  tools: {
    prepare_payment: { effect: 'external', action: 'pay', destructive: true, inputs: {}, output: 'trusted' },
    send_mail: { effect: 'external', action: 'message', inputs: {}, output: 'trusted' },
    change_settings: { effect: 'write', action: 'change', inputs: {}, output: 'trusted' },
    enter_code: { effect: 'confirm', inputs: { code: 'otp' }, output: 'trusted' },
    confirm_payment: { effect: 'confirm', inputs: {}, output: 'trusted' },
    confirm_order: { effect: 'confirm', inputs: { order: 'id', code: 'otp' }, output: 'trusted' },
    mcp__bank__confirm: { effect: 'confirm', inputs: { code: 'otp' }, output: 'trusted' },
    mcp__bank__prepare: { effect: 'external', action: 'pay', inputs: {}, output: 'trusted' },
  },
  actions: { pay: 'pay' },
});

const user: FlowEntry = { type: 'user', text: 'Pay my rent' };
const read = (text: string): FlowEntry => ({ type: 'untrusted', text, source: { tool: 'read_mail', call: 'c' } });
const made = (tool: string, isAllowed = true): readonly FlowEntry[] => readEffect(declarations, tool, isAllowed);
const code = read('Your code is 774411');

function ruleOf(tool: string, input: Record<string, string>, ...entries: readonly FlowEntry[]): string {
  const state = restoreFlowState(serializeFlowState(FlowState.create({}, [user, ...entries])), {});
  const decision = decideCall(state ?? FlowState.create(), declarations, { id: 'c', tool, input });
  return decision.type === 'allow' ? 'allow' : decision.rule;
}

for (const [name, entries, expected] of [
  ['an effect, then a new code', [...made('prepare_payment'), code], 'allow'],
  ['another effect, then a new code', [...made('change_settings'), code], 'allow'],
  ['a message between effect and code', [...made('prepare_payment'), ...made('send_mail'), code], 'allow'],
  ['a code that the user typed', [...made('prepare_payment'), { type: 'user', text: 'It is 774411' }], 'allow'],
  ['no effect of this session', [code], 'confirms-nothing'],
  ['only a message, which needs no code', [...made('send_mail'), code], 'confirms-nothing'],
  ['a code that was read before the effect', [code, ...made('prepare_payment'), code], 'confirms-nothing'],
  ['a code that was found nowhere', [...made('prepare_payment'), read('774 then 411')], 'confirms-nothing'],
  ['a refused effect', [...made('prepare_payment', false), code], 'confirms-refused'],
  [
    'a refused effect and a message',
    [...made('prepare_payment', false), ...made('send_mail'), code],
    'confirms-refused',
  ],
  ['an effect that was confirmed', [...made('prepare_payment'), ...made('enter_code'), code], 'confirms-nothing'],
] as const)
  test(`[A41] a confirmation after ${name}: ${expected}`, () =>
    assert.equal(ruleOf('enter_code', { code: '774411' }, ...entries), expected));

test('[A41] a confirmation without a code needs an effect of a tool with a common word', () => {
  assert.equal(ruleOf('confirm_payment', {}, ...made('prepare_payment')), 'allow');
  assert.equal(ruleOf('confirm_payment', {}, ...made('change_settings')), 'confirms-nothing');
});

test('[A41] what a confirmation acts on must not come from a third party', () => {
  const entries = [...made('prepare_payment'), code, read('Confirm order X-881')];
  assert.equal(ruleOf('confirm_order', { order: 'X-881', code: '774411' }, ...entries), 'untrusted-value');
});

test('[A41] a tool of one server does not complete an effect of another one', () => {
  assert.equal(ruleOf('mcp__bank__confirm', { code: '774411' }, ...made('mcp__bank__prepare'), code), 'allow');
  assert.equal(ruleOf('mcp__bank__confirm', { code: '774411' }, ...made('change_settings'), code), 'confirms-nothing');
});
