// Tools that need approval: the gate that asks, the pending calls, and the reason of a rejection.
import assert from 'node:assert/strict';
import test from 'node:test';
import { createCoreFixture, createTestTool } from '../../test/support/core-fixture.ts';
import {
  copyTool,
  deriveSubagent,
  evaluateGates,
  pendingApprovals,
  type GateResult,
  type Json,
  type Tool,
  type ToolCall,
} from './index.ts';

const call: ToolCall = { id: 'c', tool: 'save', input: { n: 1 } };

async function evaluate(needsApproval: Tool['needsApproval'], request: ToolCall = call): Promise<GateResult> {
  const save = createTestTool('save', 'write', () => 'saved', needsApproval ? { needsApproval } : {});
  const { agent, head } = await createCoreFixture({ tools: [save] });
  return evaluateGates(agent, request, head.state);
}

test('a tool that needs approval asks about its input, whatever the gates say; only false does not ask', async () => {
  assert.equal((await evaluate(undefined)).type, 'allow');
  assert.equal((await evaluate(() => false)).type, 'allow');
  assert.deepEqual(await evaluate(() => true), { type: 'ask', question: 'Run save with {"n":1}?' });
  assert.equal((await evaluate(async () => undefined as never)).type, 'ask');
});

test('a tool whose needsApproval throws is denied', async () => {
  const result = await evaluate(() => {
    throw new Error('a fault');
  });
  assert.equal(result.type, 'deny');
});

test('an approval counts for the input that was asked about and for no other', async () => {
  const granted = ['Run save with {"n":1}?'];
  assert.equal((await evaluate(() => true, { ...call, granted })).type, 'allow');
  assert.equal((await evaluate(() => true, { ...call, granted, input: { n: 2 } })).type, 'ask');
});

test('a rejection gives its reason to the model', async () => {
  const ask = { question: 'Save?', allowed: false };
  const plain = await evaluate(undefined, { ...call, ask });
  assert.ok(plain.type === 'deny' && plain.reason === 'Denied by user.');
  const reasoned = await evaluate(undefined, { ...call, ask: { ...ask, reason: 'not today' } });
  assert.ok(reasoned.type === 'deny' && reasoned.reason === 'Denied by user: not today');
});

test('pendingApprovals lists the calls without a decision and without a result, with their kind', () => {
  const ask = { question: 'Save?' };
  const result = { type: 'tool-result', id: 'd', tool: 'save', text: '', failed: true } as const;
  assert.deepEqual(
    pendingApprovals({
      calls: [
        { ...call, id: 'a', ask },
        { ...call, id: 'b', ask: { ...ask, allowed: true } },
        { ...call, id: 'c' },
        { ...call, id: 'd', ask, result },
        { ...call, id: 'e', ask: { ...ask, kind: 'unknown-outcome' } },
      ],
    }),
    [
      { id: 'a', tool: 'save', input: { n: 1 }, question: 'Save?' },
      { id: 'e', tool: 'save', input: { n: 1 }, question: 'Save?', kind: 'unknown-outcome' },
    ],
  );
});

class SaveTool implements Tool {
  readonly name = 'save';
  readonly description = 'Saves.';
  readonly input = { type: 'object' };
  readonly effect = 'write';
  readonly limit = 0;
  validate(input: Json): string | undefined {
    return typeof input === 'object' ? undefined : `above ${this.limit}`;
  }
  needsApproval(): boolean {
    return this.limit === 0;
  }
  checkOutcome(): unknown {
    return this.limit;
  }
  execute(): unknown {
    return this.limit;
  }
}

test('a copy of a tool that is a class instance keeps its methods, so a sub-agent asks as its parent does', async () => {
  const save = new SaveTool();
  const copy = copyTool(save, { deferred: true });
  assert.equal(copy.deferred, true);
  assert.deepEqual([copy.validate?.(1), copy.checkOutcome?.(1, {} as never)], ['above 0', 0]);
  const { agent, head } = await createCoreFixture({ tools: [save] });
  const child = deriveSubagent(agent, head.state, {});
  assert.equal((await evaluateGates(child, call, head.state)).type, 'ask');
});
