// Law 6: turns, tokens, money, time, output and calls are limited before they are used.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import {
  isStuck,
  openSessionWriter,
  runLoop,
  runStateView,
  type Chunk,
  type Limits,
  type StopReason,
  type Tool,
  toolOutput,
} from '../src/core/index.ts';
import { memoryLog } from '../src/stores/index.ts';
import {
  createScenarioStartFacts,
  runScenario,
  arbitraryModelTurn,
  createModelProvider,
  wideLimits,
  createScenario,
  type ModelTurn,
} from './support/scenario.ts';

const createLookTurn = (n: number): ModelTurn => ({
  text: '',
  calls: [{ tool: 'look', input: { n } }],
  finish: 'tool-calls',
});
const manyTurns: readonly ModelTurn[] = Array.from({ length: 50 }, (_, i) => createLookTurn(i < 13 ? i : i + 1));

async function getStopReason(
  limits: Partial<Limits>,
  script: readonly ModelTurn[] = manyTurns,
  more: Parameters<typeof createScenario>[1] = {},
): Promise<{ reason: StopReason | undefined; turns: number; acts: number; detail: string }> {
  const { agent, effects } = createScenario(script, more);
  const { state } = await runScenario(agent, memoryLog(), () => true, { ...wideLimits, turns: 100, ...limits });
  return {
    reason: state.ended?.reason,
    turns: state.spent.turns,
    acts: effects.length,
    detail: state.ended?.detail ?? '',
  };
}

test('[D7, M21, A107] a turn limit ends the run after exactly that many turns', async () => {
  assert.deepEqual(await getStopReason({ turns: 7 }).then(({ reason, turns }) => [reason, turns]), ['max-turns', 7]);
  assert.deepEqual(await getStopReason({ turns: 1 }).then(({ reason, turns }) => [reason, turns]), ['max-turns', 1]);
});

test('[M22] a token budget is checked before the request, not after', async () => {
  const { reason, turns } = await getStopReason({ tokens: 100 });
  assert.equal(reason, 'token-budget');
  assert.ok(turns * 15 <= 100, `${turns} turns of 15 tokens`);
});

test('a request that does not fit the window is not sent', async () => {
  const { reason, turns } = await getStopReason({ context: 5 });
  assert.deepEqual([reason, turns], ['token-budget', 0]);
});

test('[A57] a money budget is a hard limit, priced by the model that answered, and refuses a model of unknown price', async () => {
  const { reason, turns } = await getStopReason({ usd: 0.0001 });
  assert.equal(reason, 'money-budget');
  assert.ok(turns * 15e-6 <= 0.0001);
  const { price: _, ...unpriced } = createModelProvider(manyTurns);
  const unknown = await getStopReason({ usd: 5 }, manyTurns, { provider: unpriced });
  assert.deepEqual([unknown.reason, unknown.turns], ['money-budget', 0]);
  assert.match(unknown.detail, /price of test is unknown/);
});

test('a call budget stops before the call that would exceed it', async () => {
  const side = [
    { text: '', calls: [1, 2, 3, 4].map((n) => ({ tool: 'look', input: { n } })), finish: 'tool-calls' as const },
  ];
  assert.deepEqual(await getStopReason({ calls: 3 }, side).then(({ reason, acts }) => [reason, acts]), [
    'call-budget',
    3,
  ]);
});

test('[A58, M15] the same calls with the same results count as stuck, also in a cycle of two', async () => {
  assert.deepEqual(
    await getStopReason(
      { stuckAfter: 4 },
      Array.from({ length: 50 }, () => createLookTurn(1)),
    ).then(({ reason, turns }) => [reason, turns]),
    ['stuck', 4],
  );
  assert.deepEqual(
    await getStopReason(
      { stuckAfter: 4 },
      Array.from({ length: 50 }, (_, i) => createLookTurn(i % 2)),
    ).then(({ reason, turns }) => [reason, turns]),
    ['stuck', 8],
  );
  assert.equal(isStuck([1, 1, 1, 2, 1], 4), false);
});

test('[M24] failures in a row end the run', async () => {
  const broken = Array.from({ length: 50 }, (): ModelTurn => ({
    text: '',
    calls: [{ tool: 'break', input: {} }],
    finish: 'tool-calls',
  }));
  assert.deepEqual(await getStopReason({ errors: 4 }, broken).then(({ reason, turns }) => [reason, turns]), [
    'error-threshold',
    4,
  ]);
});

test('requests for an acceptable answer are limited', async () => {
  for (const finish of ['stop', 'refusal', 'filtered'] as const) {
    const empty = Array.from({ length: 50 }, (): ModelTurn => ({ text: '', calls: [], finish }));
    assert.deepEqual(
      await getStopReason({ maxRetriesPerAnswer: 2 }, empty).then(({ reason, turns }) => [reason, turns]),
      ['error-threshold', 3],
      finish,
    );
  }
});

test('[M25, M37] a user’s stop condition and the kill switch end the run before the next step', async () => {
  for (const reason of ['rule', 'kill-switch'] as const) {
    const found = await getStopReason({}, manyTurns, {
      stops: [(state) => (state.spent.turns >= 2 ? { reason, detail: 'enough' } : undefined)],
    });
    assert.deepEqual([found.reason, found.turns, found.acts], [reason, 2, 1]);
  }
});

test('[M23] a tool can complete the task', async () => {
  const { agent } = createScenario([createLookTurn(1)]);
  const look1 = agent.tools.get('look') as Tool;
  const finish: Tool = { ...look1, execute: () => toolOutput({ text: 'all done', endsRun: true }) };
  const tools = new Map([...agent.tools, ['look', finish] as const]);
  assert.equal((await getStopReason({}, [createLookTurn(1)], { tools })).reason, 'task-complete');
});

test('a time limit ends a run that hangs, with a valid history', async () => {
  const { agent } = createScenario([]);
  const hang = {
    ...agent.provider,
    // oxlint-disable-next-line require-yield -- a provider that hangs says nothing
    async *stream(): AsyncIterable<Chunk> {
      await new Promise(() => setTimeout(() => {}, 1e6).unref());
    },
  };
  assert.equal((await getStopReason({ ms: 30 }, [], { provider: hang })).reason, 'time');
});

test('[A107] whatever happens, a run stays within its turns, calls, tokens and money', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(arbitraryModelTurn, { maxLength: 12 }),
      fc.nat(6),
      fc.nat(5),
      fc.nat(200),
      async (script, turns, calls, tokens) => {
        const { agent, requests, effects } = createScenario(script);
        const { state } = await runScenario(agent, memoryLog(), () => true, {
          ...wideLimits,
          turns,
          calls,
          tokens,
          usd: tokens / 1e6,
        });
        assert.ok(requests.length <= turns);
        assert.ok(effects.length <= calls);
        assert.ok(state.ended !== undefined);
        assert.ok(state.spent.usd <= tokens / 1e6 + 15e-6);
      },
    ),
    { numRuns: 200 },
  );
});

test('[A24] cancelled at any moment, a run ends at once with a valid history, and can be continued', async () => {
  for (let at = 1; at < 14; at++) {
    const { agent } = createScenario([
      {
        text: 'a',
        calls: [
          { tool: 'look', input: { n: 1 } },
          { tool: 'save', input: { n: 1 } },
        ],
        finish: 'tool-calls',
      },
      createLookTurn(2),
    ]);
    const log = memoryLog();
    const head = await openSessionWriter(log, runStateView(agent.rules));
    const stop = new AbortController();
    head.subscribe((event) => event.seq === 4 + at && stop.abort());
    await head.record(createScenarioStartFacts(agent));
    const state = await runLoop(agent, {
      writer: head,
      signal: stop.signal,
      onChunk: () => {},
      clock: () => performance.now(),
    });
    if (!stop.signal.aborted) continue;
    assert.ok(['cancelled', 'answered'].includes(state.ended?.reason ?? ''), `at ${at}: ${state.ended?.reason}`);
    assert.equal(state.calls.length, 0);
    await head.record([
      { type: 'input-received', input: 'i2', how: 'prompt', parts: [{ type: 'text', text: 'go on' }] },
      { type: 'run-started', run: 'r2', limits: wideLimits },
    ]);
    assert.equal((await runScenario(agent, memoryLog(log.events), () => true)).state.ended?.reason, 'answered');
  }
});
