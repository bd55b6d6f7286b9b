// Law 6: turns, tokens, money, time, output and calls are bounded before the act.
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
import { opening, play, saying, scriptOf, wide, worldOf, type Saying } from './support/scenario.ts';

const look = (n: number): Saying => ({ text: '', calls: [{ tool: 'look', input: { n } }], finish: 'tool-calls' });
const many: readonly Saying[] = Array.from({ length: 50 }, (_, i) => look(i < 13 ? i : i + 1));

async function reasonOf(
  limits: Partial<Limits>,
  script: readonly Saying[] = many,
  more: Parameters<typeof worldOf>[1] = {},
): Promise<{ reason: StopReason | undefined; turns: number; acts: number; detail: string }> {
  const { agent, acts } = worldOf(script, more);
  const { state } = await play(agent, memoryLog(), () => true, { ...wide, turns: 100, ...limits });
  return {
    reason: state.ended?.reason,
    turns: state.spent.turns,
    acts: acts.length,
    detail: state.ended?.detail ?? '',
  };
}

test('[D7, M21, A107] a turn limit ends the run after exactly that many turns', async () => {
  assert.deepEqual(await reasonOf({ turns: 7 }).then(({ reason, turns }) => [reason, turns]), ['max-turns', 7]);
  assert.deepEqual(await reasonOf({ turns: 1 }).then(({ reason, turns }) => [reason, turns]), ['max-turns', 1]);
});

test('[M22] a token budget is kept before the request, not after', async () => {
  const { reason, turns } = await reasonOf({ tokens: 100 });
  assert.equal(reason, 'token-budget');
  assert.ok(turns * 15 <= 100, `${turns} turns of 15 tokens`);
});

test('a request that does not fit the window is not sent', async () => {
  const { reason, turns } = await reasonOf({ context: 5 });
  assert.deepEqual([reason, turns], ['token-budget', 0]);
});

test('[A57] a money budget is hard, priced by the model that answered, and refuses a model of unknown price', async () => {
  const { reason, turns } = await reasonOf({ usd: 0.0001 });
  assert.equal(reason, 'money-budget');
  assert.ok(turns * 15e-6 <= 0.0001);
  const { price: _, ...unpriced } = scriptOf(many);
  const unknown = await reasonOf({ usd: 5 }, many, { provider: unpriced });
  assert.deepEqual([unknown.reason, unknown.turns], ['money-budget', 0]);
  assert.match(unknown.detail, /price of test is unknown/);
});

test('a call budget stops before the call that would exceed it', async () => {
  const side = [
    { text: '', calls: [1, 2, 3, 4].map((n) => ({ tool: 'look', input: { n } })), finish: 'tool-calls' as const },
  ];
  assert.deepEqual(await reasonOf({ calls: 3 }, side).then(({ reason, acts }) => [reason, acts]), ['call-budget', 3]);
});

test('[A58, M15] the same calls with the same results count as stuck, also in a cycle of two', async () => {
  assert.deepEqual(
    await reasonOf(
      { stuckAfter: 4 },
      Array.from({ length: 50 }, () => look(1)),
    ).then(({ reason, turns }) => [reason, turns]),
    ['stuck', 4],
  );
  assert.deepEqual(
    await reasonOf(
      { stuckAfter: 4 },
      Array.from({ length: 50 }, (_, i) => look(i % 2)),
    ).then(({ reason, turns }) => [reason, turns]),
    ['stuck', 8],
  );
  assert.equal(isStuck([1, 1, 1, 2, 1], 4), false);
});

test('[M24] failures in a row end the run', async () => {
  const broken = Array.from({ length: 50 }, (): Saying => ({
    text: '',
    calls: [{ tool: 'break', input: {} }],
    finish: 'tool-calls',
  }));
  assert.deepEqual(await reasonOf({ errors: 4 }, broken).then(({ reason, turns }) => [reason, turns]), [
    'error-threshold',
    4,
  ]);
});

test('re-asking for an acceptable answer is bounded', async () => {
  for (const finish of ['stop', 'refusal', 'filtered'] as const) {
    const empty = Array.from({ length: 50 }, (): Saying => ({ text: '', calls: [], finish }));
    assert.deepEqual(
      await reasonOf({ maxRetriesPerAnswer: 2 }, empty).then(({ reason, turns }) => [reason, turns]),
      ['error-threshold', 3],
      finish,
    );
  }
});

test('[M25, M37] a user’s own rule and a kill-switch end the run before the next act', async () => {
  for (const reason of ['rule', 'kill-switch'] as const) {
    const found = await reasonOf({}, many, {
      stops: [(state) => (state.spent.turns >= 2 ? { reason, detail: 'enough' } : undefined)],
    });
    assert.deepEqual([found.reason, found.turns, found.acts], [reason, 2, 1]);
  }
});

test('[M23] a tool can complete the task', async () => {
  const { agent } = worldOf([look(1)]);
  const look1 = agent.tools.get('look') as Tool;
  const finish: Tool = { ...look1, execute: () => toolOutput({ text: 'all done', endsRun: true }) };
  const tools = new Map([...agent.tools, ['look', finish] as const]);
  assert.equal((await reasonOf({}, [look(1)], { tools })).reason, 'task-complete');
});

test('a limit of time ends a run that hangs, and leaves it legal', async () => {
  const { agent } = worldOf([]);
  const hang = {
    ...agent.provider,
    // oxlint-disable-next-line require-yield -- a provider that hangs says nothing
    async *stream(): AsyncIterable<Chunk> {
      await new Promise(() => setTimeout(() => {}, 1e6).unref());
    },
  };
  assert.equal((await reasonOf({ ms: 30 }, [], { provider: hang })).reason, 'time');
});

test('[A107] whatever happens, a run stays within its turns, calls, tokens and money', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(saying, { maxLength: 12 }),
      fc.nat(6),
      fc.nat(5),
      fc.nat(200),
      async (script, turns, calls, tokens) => {
        const { agent, requests, acts } = worldOf(script);
        const { state } = await play(agent, memoryLog(), () => true, {
          ...wide,
          turns,
          calls,
          tokens,
          usd: tokens / 1e6,
        });
        assert.ok(requests.length <= turns);
        assert.ok(acts.length <= calls);
        assert.ok(state.ended !== undefined);
        assert.ok(state.spent.usd <= tokens / 1e6 + 15e-6);
      },
    ),
    { numRuns: 200 },
  );
});

test('[A24] cancelled at any moment, a run ends at once, legal, and can go on', async () => {
  for (let at = 1; at < 14; at++) {
    const { agent } = worldOf([
      {
        text: 'a',
        calls: [
          { tool: 'look', input: { n: 1 } },
          { tool: 'save', input: { n: 1 } },
        ],
        finish: 'tool-calls',
      },
      look(2),
    ]);
    const log = memoryLog();
    const head = await openSessionWriter(log, runStateView(agent.rules));
    const stop = new AbortController();
    head.subscribe((event) => event.seq === 4 + at && stop.abort());
    await head.record(opening(agent));
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
      { type: 'run-started', run: 'r2', limits: wide },
    ]);
    assert.equal((await play(agent, memoryLog(log.events), () => true)).state.ended?.reason, 'answered');
  }
});
