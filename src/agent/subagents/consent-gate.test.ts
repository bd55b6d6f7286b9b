// The gate before sub-agents: thresholds by number and by estimated cost, and what is asked again.
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  defaultSubagentCaps,
  fold,
  runStateView,
  zeroUsage,
  type FairleadError,
  type Tool,
  type ToolContext,
  type Decision,
  type SubagentCaps,
} from '../../core/index.ts';
import { defineTool } from '../index.ts';
import { createSubagentManager } from './lifecycle.ts';
import { estimateSubagentUsd, formatSubagentCaps, sumSubagentUse } from './caps.ts';
import { requestedTurns, subagentConsentGate } from './consent-gate.ts';
import { subagentId, type SubagentInfo } from './metadata.ts';

const emptyState = fold(runStateView(), []);
const [tool, messageTool] = ['spawn_agent', 'manage_agents'].map((name) =>
  defineTool({ name, description: name, input: { type: 'object' }, run: () => '' }),
) as [Tool, Tool];

const subagent = (key: string, usd = 0): SubagentInfo => ({
  id: subagentId(key),
  metadata: { task: 't', parent: 'p', key },
  state: { ...emptyState, total: { ...zeroUsage, usd } },
  running: false,
});

async function decide(
  subagents: readonly SubagentInfo[],
  {
    caps = {},
    estimate = 0,
    isUnattended = false,
    key,
    message,
  }: { caps?: Partial<SubagentCaps>; estimate?: number; isUnattended?: boolean; key?: string; message?: string } = {},
): Promise<Decision> {
  const gate = subagentConsentGate({
    caps: { ...defaultSubagentCaps, ...caps },
    tool,
    messageTool,
    isUnattended,
    list: async () => subagents,
    estimateUsd: () => estimate,
  });
  const made =
    message === undefined
      ? { tool: tool.name, input: { task: 'x' } }
      : { tool: messageTool.name, input: { action: 'message', agent: message, message: 'More.' } };
  return gate({ id: 'c', ...made, ...(key === undefined ? {} : { key }) }, emptyState);
}

const many = (count: number, usd = 0): readonly SubagentInfo[] =>
  Array.from({ length: count }, (_, at) => subagent(`${at}`, usd));

test('[A69] the user is asked after each five agents, and an approval counts up to the next five', async () => {
  const asked = await Promise.all(Array.from({ length: 12 }, async (_, count) => (await decide(many(count))).type));
  assert.deepEqual(
    asked.flatMap((type, count) => (type === 'ask' ? [count] : [])),
    [5, 10],
  );
  assert.equal((await decide(many(5), { caps: { askAfter: 0 } })).type, 'allow');
  const denied = await decide(many(5), { isUnattended: true });
  assert.ok(denied.type === 'deny' && /no user is present/.test(denied.reason));
});

test('[A69] the user is asked when the estimated cost passes a multiple of the threshold, with a question that does not change while agents work', async () => {
  const question = async (usd: number, estimate: number): Promise<string> => {
    const decision = await decide([subagent('a', usd)], { estimate });
    return decision.type === 'ask' ? decision.question : decision.type;
  };
  assert.equal(await question(1, 3.9), 'allow');
  assert.match(await question(1, 4), /may cost \$5\.00 or more, of at most \$10\.00\. Start another one\?$/);
  assert.equal(await question(1.5, 4), await question(1, 4));
  assert.equal(await question(6, 1), 'allow', 'what was asked about is not asked again');
  assert.match(await question(9, 1), /\$10\.00 or more/);
  assert.equal((await decide([subagent('a', 9)], { estimate: 9, isUnattended: true })).type, 'deny');
  assert.equal((await decide([subagent('a', 9)], { estimate: 9, caps: { askUsd: 0 } })).type, 'allow');
});

test('[A69] agents that run count with their estimate, so that several that start at once do not pass the threshold unseen', async () => {
  const running = (usd: number): SubagentInfo => {
    const state = { ...emptyState, total: { ...zeroUsage, usd }, spent: { ...zeroUsage, usd } };
    return { ...subagent(`r${usd}`), running: true, state };
  };
  assert.equal((await decide([running(0)], { estimate: 2 })).type, 'allow');
  assert.equal((await decide([running(0), running(0.5)], { estimate: 2 })).type, 'ask');
  assert.equal((await decide([running(3), running(2.5)], { estimate: 2 })).type, 'allow', 'above its estimate');
});

test('[A69] a message with which an agent runs again is asked about as a start is, by its cost and not by the number', async () => {
  const id = subagentId('a');
  const done = subagent('a', 4);
  const asked = await decide([done], { estimate: 2, message: id });
  assert.match(
    asked.type === 'ask' ? asked.question : asked.type,
    /\$5\.00 or more, of at most \$10\.00\. Let it run again\?$/,
  );
  assert.equal((await decide([done], { estimate: 2, message: id, isUnattended: true })).type, 'deny');
  assert.equal((await decide([{ ...done, running: true }], { estimate: 2, message: id })).type, 'allow', 'no new run');
  assert.equal((await decide([done, ...many(4)], { message: id })).type, 'allow', 'no new agent');
  assert.equal((await decide([done], { estimate: 9, message: 'agent-unknown' })).type, 'allow', 'the tool refuses it');
});

test('[A24, A69] after a crash the same call continues its agent without a question', async () => {
  assert.equal((await decide(many(5), { key: '3' })).type, 'allow');
  assert.equal((await decide(many(5), { key: 'another' })).type, 'ask');
});

test('[A69] the caps are one sentence with what is used, and a cost that is not known is said', () => {
  const use = sumSubagentUse([
    subagent('a', 1.5),
    { ...subagent('b'), running: true, state: { ...emptyState, total: { ...zeroUsage, turnsWithoutPrice: 2 } } },
  ]);
  assert.equal(
    formatSubagentCaps(defaultSubagentCaps, use),
    'Agents of this session: at most 20 (2 started), 4 at a time (1 running), $10.00 for all ($1.50 and turns without a known price used). They start no agents.',
  );
  assert.equal(estimateSubagentUsd({ input: 3, output: 15 }, 10).toFixed(2), '0.75');
  assert.equal(estimateSubagentUsd({ input: 3, output: 15 }, 10, 0.5), 0.5);
  assert.equal(estimateSubagentUsd(undefined, 10), 0);
  assert.deepEqual(
    [requestedTurns({ max_turns: 40 }, 7), requestedTurns({ max_turns: 3 }, 7), requestedTurns({})],
    [7, 3, 25],
  );
});

test('[A69] a session that has started or paid as much as its caps allow starts no agent, and opens no log for it', async () => {
  const start = async (subagents: readonly SubagentInfo[], caps: Partial<SubagentCaps>): Promise<unknown> => {
    const manager = createSubagentManager({
      caps: { ...defaultSubagentCaps, ...caps },
      store: { open: () => assert.fail('a log was opened'), list: async () => subagents },
    });
    const context = { state: emptyState, key: 'new' } as unknown as ToolContext;
    return manager.spawn({ task: 'x' }, context).catch((error: unknown) => (error as FairleadError).code);
  };
  assert.equal(await start(many(3), { agents: 3 }), 'agent/too-many-started');
  assert.equal(await start(many(2, 1), { usd: 2 }), 'agent/money');
});
