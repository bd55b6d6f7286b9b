// Statistics of a session's history, which are the same wherever the fold began.
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  fold,
  readView,
  epochStartedFact,
  runStateView,
  type Fact,
  type NamedView,
  type RunState,
} from '../../core/index.ts';
import { buildFixtureLog, type ExampleStep } from '../testing/fixture-log.ts';
import { extractEntities } from './entities.ts';
import {
  callsSince,
  contextUsage,
  mentionedEntities,
  toolFailures,
  touchedFiles,
  fileUsage,
  isRetry,
  detectLoop,
  idleMs,
  spendingBreakdown,
  toolStats,
  callAttempts,
  attemptsOf,
} from './selectors.ts';
import { sessionStats } from './view.ts';

const stateAfter = (...steps: readonly ExampleStep[]): RunState =>
  buildFixtureLog(steps, { views: [sessionStats] }).state;
const failing = (called: string, input = {}): ExampleStep => ({ called, input, outcome: 'failed', result: 'No.' });

/** An answer that calls a tool. */
const callTurn = (tool: string): Fact => ({
  type: 'turn-ended',
  turn: 1,
  message: { role: 'assistant', parts: [{ type: 'tool-call', id: 'c00001000', tool, input: {} }] },
  finishReason: 'tool-calls',
  usage: {},
  model: 'm',
  ms: 1,
});

test('[M12] failures of a tool are counted in total and in a row; a denial is no failure', () => {
  const state = stateAfter(
    { said: 'go' },
    failing('run'),
    { called: 'run' },
    failing('run'),
    failing('run'),
    { called: 'run', outcome: 'denied' },
    failing('other'),
  );
  assert.deepEqual(toolFailures(state, 'run'), { total: 3, inARow: 2, last: 'No.' });
  assert.deepEqual(toolFailures(state, 'never'), { total: 0, inARow: 0, last: '' });
  assert.equal(toolFailures(state).total, 4);
  assert.equal(toolFailures(state).inARow, 3);
});

test('[M13] attempts are counted by tool and arguments in any key order, with failures and results', () => {
  const state = stateAfter(
    { said: 'go' },
    failing('run', { a: 1, b: 2 }),
    { called: 'run', input: { b: 2, a: 1 } },
    { called: 'look' },
  );
  const tried = attemptsOf(state, { tool: 'run', input: { a: 1, b: 2 } });
  assert.deepEqual([tried.count, tried.failed, tried.same, tried.turn], [2, 1, 1, 2]);
  assert.equal(attemptsOf(state, { tool: 'run', input: { a: 1 } }).count, 0);
  assert.deepEqual(
    callAttempts(state).map(({ tool }) => tool),
    ['look', 'run'],
  );
});

test('[M29] a retry is the same call after its failure in the same user turn, and steering begins no new user turn', () => {
  const call = { tool: 'run', input: { n: 1 } };
  assert.equal(isRetry(stateAfter({ said: 'go' }, failing('run', { n: 1 })), call), true);
  assert.equal(isRetry(stateAfter({ said: 'go' }, failing('run', { n: 2 })), call), false);
  assert.equal(
    isRetry(stateAfter({ said: 'go' }, failing('run', { n: 1 }), { called: 'run', input: { n: 1 } }), call),
    false,
  );
  const steered = stateAfter(
    { said: 'go' },
    failing('run', { n: 1 }),
    { said: 'hm', how: 'steer' },
    { answered: 'Yes.' },
  );
  assert.equal(isRetry(steered, call), true);
  const again = stateAfter({ said: 'go' }, failing('run', { n: 1 }), { said: 'on', how: 'follow-up' });
  assert.equal(isRetry(again, call), true, 'a follow-up that was not delivered yet starts no user turn');
  assert.equal(
    isRetry(stateAfter({ said: 'go' }, failing('run', { n: 1 }), { said: 'on' }, { answered: 'Yes.' }), call),
    false,
  );
  assert.deepEqual(
    toolStats(stateAfter({ said: 'go' }, failing('run'), failing('run'), failing('run')), 'run').turn.retries,
    2,
  );
});

test('[M14] the size of the context is measured, by source', () => {
  const state = stateAfter(
    { said: 'x'.repeat(40), window: 1000 },
    { called: 'look', result: 'y'.repeat(80) },
    { answered: 'z'.repeat(20), usage: { input: 240, output: 10 } },
  );
  const use = contextUsage(state);
  assert.equal(use.used, 250);
  assert.equal(use.share, 0.25);
  assert.equal(use.words, 10);
  assert.deepEqual(use.results, { look: 20 });
  assert.ok(use.answers >= 5);
  assert.equal(contextUsage(stateAfter({ said: 'go' })).share, 0, 'an unknown context window is not full');
});

test('[M14] a note counts as a note, also after a compaction kept it', () => {
  const rule = (event: Fact): readonly { key: string; text: string }[] =>
    event.type === 'input-received' ? [{ key: 'k', text: 'Mind the gap.' }] : [];
  const parts = { rules: [rule], views: [sessionStats] };
  const steps: readonly ExampleStep[] = [
    { said: 'words' },
    { called: 'look', result: 'a'.repeat(40) },
    { answered: 'ok' },
  ];
  const { notes, words, results } = contextUsage(buildFixtureLog(steps, parts).state);
  assert.ok(notes > 10);
  assert.deepEqual([words, results], [2, { look: 10 }]);
  const kept = contextUsage(buildFixtureLog([...steps, { compacted: true }], parts).state);
  assert.ok(kept.notes > 10);
  assert.deepEqual([kept.words, kept.results], [2, { look: 10 }]);
});

test('[M15] the same call with the same result, and cycles of two and three calls, are loops; different results are not', () => {
  const call = (called: string, result: string): ExampleStep => ({ called, result });
  assert.equal(detectLoop(stateAfter({ said: 'go' }, call('a', '1'), call('a', '2'), call('a', '3'))), undefined);
  assert.deepEqual(detectLoop(stateAfter({ said: 'go' }, call('a', '1'), call('a', '1'), call('a', '1'))), {
    period: 1,
    times: 3,
    tools: ['a'],
  });
  const two = stateAfter(
    { said: 'go' },
    call('x', '0'),
    call('a', '1'),
    call('b', '2'),
    call('a', '1'),
    call('b', '2'),
  );
  assert.deepEqual(detectLoop(two), { period: 2, times: 2, tools: ['a', 'b'] });
  const three = ['a', 'b', 'c', 'a', 'b', 'c'].map((name) => call(name, name));
  assert.deepEqual(detectLoop(stateAfter({ said: 'go' }, ...three)), { period: 3, times: 2, tools: ['a', 'b', 'c'] });
});

test('[M11] files that were read, edited and written are counted under one spelling', () => {
  const state = stateAfter(
    { said: 'go' },
    { called: 'read_file', input: { path: './src/a.ts' }, data: { path: 'src/a.ts', hash: 'h1' } },
    { called: 'edit_file', input: { path: 'src/a.ts' }, data: { path: 'src/a.ts', before: 'h1', after: 'h2' } },
    { called: 'edit_file', input: { path: 'src/a.ts' }, outcome: 'failed' },
    { called: 'write_file', input: { path: 'b.ts' } },
  );
  const { reads, edits, writes } = fileUsage(state, 'src/./a.ts');
  assert.deepEqual([reads, edits, writes], [1, 1, 0]);
  assert.equal(fileUsage(state, 'b.ts').writes, 1);
  assert.deepEqual(
    touchedFiles(state).map((file) => [file.path, file.edits]),
    [
      ['src/a.ts', 1],
      ['b.ts', 0],
    ],
  );
});

test('[M11] paths, URLs, issues and identifiers are recognized, and lookalikes are not', () => {
  const words =
    'Fix #12 and acme/tool#7 in src/core/state.ts, see https://example.org/a?b=1. Mail ann@example.org about `runView` and README.md and/or 1/2.';
  const found = Object.fromEntries(extractEntities(words).map(({ name, kind }) => [name, kind]));
  assert.deepEqual(found, {
    'https://example.org/a?b=1': 'url',
    'ann@example.org': 'email',
    '#12': 'issue',
    'acme/tool#7': 'issue',
    runView: 'identifier',
    'src/core/state.ts': 'path',
    'README.md': 'path',
  });
  const state = stateAfter({ said: 'Look at src/a.ts' }, { answered: 'I looked at src/a.ts and `main`.' });
  assert.deepEqual(
    mentionedEntities(state).map(({ name, count, by }) => [name, count, by]),
    [
      ['src/a.ts', 2, 'user'],
      ['main', 1, 'model'],
    ],
  );
  assert.deepEqual(
    mentionedEntities(state, 'identifier').map(({ name }) => name),
    ['main'],
  );
});

test('[M11] time and money by model and by tool, calls since a tool, and the pause before an event are measured', () => {
  const state = stateAfter(
    { said: 'go' },
    { called: 'todo' },
    { called: 'look' },
    { called: 'look' },
    { pausedMinutes: 90 },
    { said: 'on' },
  );
  const { models, tools, run } = spendingBreakdown(state);
  assert.equal(models['example']?.turns, 3);
  assert.equal(models['example']?.input, 300);
  assert.equal(tools['look']?.calls, 2);
  assert.equal(run.turns, 0, 'a new run has spent nothing');
  assert.equal(callsSince(state, ['todo']), 2);
  assert.ok(idleMs(stateAfter({ said: 'go' }, { pausedMinutes: 90 }, { said: 'on', how: 'steer' })) >= 90 * 60_000);
});

test('a call that started twice because of a crash is one call', () => {
  const call = { type: 'tool-started', call: 'c00001000', tool: 'look', key: 'k' } as const;
  const { state } = buildFixtureLog(
    [{ said: 'go' }, { fact: { type: 'turn-started', turn: 1, inputs: [], notes: [] } }],
    {
      views: [sessionStats],
    },
  );
  const events = [callTurn('look'), call, call].map((fact, i) => ({
    ...fact,
    seq: state.seq + 1 + i,
    id: `x${i}`,
    parent: null,
    time: '',
  }));
  assert.equal(toolStats(fold(runStateView([], [sessionStats]), events, state), 'look').calls, 1);
});

test('a call that waits for approval while an epoch begins is still known when it ends', () => {
  const asked = buildFixtureLog(
    [{ said: 'go' }, { fact: { type: 'turn-started', turn: 1, inputs: [], notes: [] } }, { fact: callTurn('look') }],
    { views: [sessionStats] },
  );
  const epoch = epochStartedFact(asked.state, 'compacted', [{ role: 'user', parts: [{ type: 'text', text: 'go' }] }]);
  const ended: Fact = { type: 'tool-ended', call: 'c00001000', outcome: 'failed', text: 'No.', ms: 1 };
  const events = [epoch, ended].map((fact, i) => ({ ...fact, seq: i + 1, id: `x${i}`, parent: null, time: '' }));
  assert.equal(toolFailures(fold(runStateView([], [sessionStats]), events), 'look').total, 1);
});

test('the statistics, and what an epoch stores of them, do not grow with the session', () => {
  const many = Array.from({ length: 400 }, (_, i): ExampleStep => ({
    called: `tool_${i}`,
    input: { path: `folder/file-${i}.ts`, text: 'x'.repeat(500) },
    outcome: i % 3 ? 'ok' : 'failed',
    result: 'y'.repeat(500),
  }));
  const state = stateAfter({ said: 'go' }, ...many);
  const size = JSON.stringify(sessionStats.serialize?.(readView(state, sessionStats))).length;
  assert.ok(size < 48_000, `${size} characters`);
  assert.equal(toolStats(state, 'tool_399').calls, 1, 'the latest are there');
  assert.equal(toolStats(state, 'tool_0').calls, 0, 'the oldest are not');
});

test('corrupted statistics in an epoch are not used', () => {
  const good = sessionStats.serialize?.(
    readView(stateAfter({ said: 'go' }, { called: 'look' }), sessionStats),
  ) as Record<string, unknown>;
  assert.ok(sessionStats.restore?.(good as never));
  for (const bad of [
    null,
    'x',
    {},
    { ...good, counts: {} },
    { ...good, tools: { young: [['a', 1]], old: [] } },
    { ...good, steps: [1] },
  ])
    assert.equal(sessionStats.restore?.(bad as never), undefined);
});

test('[M16] users can add views, and any rule can read them', () => {
  const longest: NamedView<number> = {
    name: 'longest-answer',
    initial: 0,
    on: (most, event) => (event.type === 'turn-ended' ? Math.max(most, JSON.stringify(event.message).length) : most),
  };
  const { state } = buildFixtureLog([{ said: 'go' }, { answered: 'x'.repeat(500) }], {
    views: [sessionStats, longest],
  });
  assert.ok(readView(state, longest) > 500);
});
