// Law 5: every effect on every path passes the gates, and a sub-agent's permissions never exceed its parent's.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { Agent, agentTool } from '../src/agent/index.ts';
import {
  subagentLimits,
  deriveSubagent,
  openSessionWriter,
  runStateView,
  type Gate,
  type Tool,
} from '../src/core/index.ts';
import { memoryLog } from '../src/stores/index.ts';
import { calls, says, scriptedProvider, type ScriptStep } from '../src/testing/index.ts';
import { runCode } from '../src/tools/run-code/run-code.ts';
import {
  createScenarioStartFacts,
  runScenario,
  arbitraryModelTurn,
  wideLimits,
  createScenario,
} from './support/scenario.ts';
import { reportAttack } from './support/attack-report.ts';

test('[M31] no call runs that the gates did not allow with exactly that input', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(arbitraryModelTurn, { maxLength: 8 }), async (script) => {
      const { agent, effects, allowed } = createScenario(script);
      await runScenario(agent, memoryLog());
      const open = [...allowed];
      for (const act of effects) {
        const index = open.indexOf(`${act.tool} ${JSON.stringify(act.input)}`);
        assert.ok(index >= 0, `${act.tool} ${JSON.stringify(act.input)} was not allowed`);
        open.splice(index, 1);
      }
      assert.ok(
        effects.every((act) => act.tool !== 'save' || (act.input as { n: number }).n % 3 !== 0),
        'a denied call ran',
      );
      assert.ok(
        effects.every((act) => ((act.input as { n?: number }).n ?? 0) <= 100),
        'a call ran without its rewrite',
      );
      assert.ok(effects.every((act) => act.tool !== 'use_tool'));
    }),
    { numRuns: 150 },
  );
});

test('a call that the user rejected never runs, an approved one runs once, also after a restart', async () => {
  const script = [
    { text: '', calls: [2, 4].map((n) => ({ tool: 'send', input: { n } })), finish: 'tool-calls' as const },
  ];
  const first = createScenario(script);
  const log = memoryLog();
  const head = await openSessionWriter(log, runStateView(first.agent.rules));
  await head.record(createScenarioStartFacts(first.agent));
  const { runLoop } = await import('../src/core/index.ts');
  const resting = await runLoop(first.agent, {
    writer: head,
    signal: new AbortController().signal,
    onChunk: () => {},
    clock: () => 0,
  });
  assert.equal(first.effects.length, 0);
  assert.equal(resting.calls.filter((call) => call.ask).length, 2);
  const second = createScenario([]);
  await runScenario(second.agent, memoryLog(log.events), (question) => question === 'send 4?');
  assert.deepEqual(
    second.effects.map((act) => act.input),
    [{ n: 4 }],
  );
});

test('[A108] a gate that throws denies; a rewritten call passes every gate again; endless rewriting is denied', async () => {
  const seen: string[] = [];
  const watch: Gate = (call) => (seen.push(JSON.stringify(call.input)), { type: 'allow' });
  const endless: Gate = (call) =>
    call.tool === 'save' ? { type: 'rewrite', input: { n: (call.input as { n: number }).n + 1 } } : { type: 'allow' };
  const once: Gate = (call) =>
    (call.input as { n: number }).n === 5 ? { type: 'rewrite', input: { n: 6 } } : { type: 'allow' };
  const { agent, effects } = createScenario(
    [
      {
        text: '',
        calls: [
          { tool: 'look', input: { n: 5 } },
          { tool: 'save', input: { n: 1 } },
        ],
        finish: 'tool-calls',
      },
    ],
    { gates: [watch, once, endless] },
  );
  const { state } = await runScenario(agent, memoryLog());
  assert.deepEqual(
    effects.map((act) => act.input),
    [{ n: 6 }],
  );
  assert.deepEqual(seen.slice(0, 2), ['{"n":5}', '{"n":6}']);
  assert.equal(state.ended?.reason, 'answered');
});

test('[attack 51] [fault 39] a sub-agent has no tool, no permission and no budget that its parent does not have', (t) => {
  const deny: Gate = () => ({ type: 'deny', reason: 'no' });
  const { agent } = createScenario([], { gates: [deny] });
  const state = {
    ...runStateView().initial,
    limits: { ...wideLimits, turns: 10, usd: 1, calls: 5 },
    spent: { ...runStateView().initial.spent, turns: 4, usd: 0.75, calls: 5 },
  };
  const child = deriveSubagent(agent, state, { tools: ['look', 'secret', 'root-shell'], gates: [] });
  const isNarrow = child.tools.size === 1 && child.tools.has('look') && child.gates.includes(deny);
  reportAttack(t, 51, [isNarrow ? 'blocked' : 'done']);
  assert.deepEqual([...child.tools.keys()], ['look']);
  assert.ok(child.gates.includes(deny));
  assert.deepEqual(subagentLimits(state, { turns: 99, usd: 99 }), { turns: 6, usd: 0.25, calls: 0, errors: 20 });
  assert.equal(subagentLimits(state, { turns: 2 }).turns, 2);
  assert.deepEqual(
    [...deriveSubagent(agent, { ...state, loaded: ['secret'] }, {}).tools.keys()].includes('secret'),
    true,
  );
});

test('law 5: no path to a tool avoids the gates: a direct call, a deferred tool, code that calls a tool, a sub-agent', async () => {
  const executed: string[] = [];
  const act: Tool = {
    name: 'act',
    description: 'Acts.',
    input: { type: 'object' },
    effect: 'read',
    execute: () => `${executed.push('act')}`,
  };
  const hidden: Tool = { ...act, name: 'hidden', deferred: true };
  const denied: string[] = [];
  const denyTools: Gate = ({ tool }) =>
    tool === 'act' || tool === 'hidden'
      ? (denied.push(tool), { type: 'deny', reason: 'Not here.' })
      : { type: 'allow' };
  const child = agentTool({ name: 'delegate', description: 'Delegates.' });
  const paths: Readonly<Record<string, readonly ScriptStep[]>> = {
    'a direct call': [calls('act', {})],
    'a deferred tool': [calls('load_tools', { names: ['hidden'] }), calls('use_tool', { tool: 'hidden', input: {} })],
    'code that calls a tool': [calls('run_code', { code: 'return await tools.act({});' })],
    'a sub-agent': [calls('delegate', { task: 'Act.' }), calls('act', {}), says('Denied.')],
  };
  for (const [what, script] of Object.entries(paths)) {
    denied.length = 0;
    const model = scriptedProvider([...script, says('Done.')]);
    const agent = new Agent({ model, tools: [act, hidden, child, runCode], gates: [denyTools] });
    assert.equal((await agent.run('Act.')).status, 'success', what);
    assert.equal(denied.length, 1, `${what} reaches the gate`);
    assert.deepEqual(executed, [], what);
  }
});
