// Tests of the status line of a session, the palette and the title of the tab.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Event } from '../../../src/core/index.ts';
import { formatRetry } from '../text/format-retry.ts';
import { formatTabTitle } from './page-title.ts';
import { filterEntries, type PaletteEntry } from './palette.ts';
import { parseRoute } from './router.ts';
import { getRunStatus } from './run-status.ts';
import { buildTimeline } from './timeline.ts';

let seq = 0;
const at = (ms: number, fact: object): Event => {
  seq += 1;
  const parent = seq === 1 ? null : String(seq - 1);
  return {
    ...fact,
    seq,
    id: String(seq),
    parent,
    time: new Date(1_700_000_000_000 + ms).toISOString(),
  } as unknown as Event;
};

function createEvents(): readonly Event[] {
  seq = 0;
  const call = { type: 'tool-call', id: 'c1', tool: 'edit_file', input: { path: 'a.ts' } };
  return [
    at(0, { type: 'session-started', session: 's' }),
    at(0, { type: 'epoch-started', epoch: 1, reason: 'started', system: '', tools: [], model: 'm', cwd: '/work' }),
    at(0, {
      type: 'input-received',
      input: 'h',
      how: 'steer',
      by: 'hook',
      parts: [{ type: 'text', text: 'A UserPromptSubmit hook of the user adds:\nlow tide' }],
    }),
    at(0, { type: 'input-received', input: 'i', how: 'prompt', parts: [{ type: 'text', text: 'go' }] }),
    at(0, { type: 'run-started', run: 'r', limits: {} }),
    at(10, { type: 'turn-started', turn: 1, inputs: ['h', 'i'], notes: [] }),
    at(110, {
      type: 'turn-ended',
      turn: 1,
      message: { role: 'assistant', parts: [call] },
      finishReason: 'tool-calls',
      usage: { input: 10, output: 5 },
      usd: 0.25,
      model: 'm',
      ms: 100,
    }),
    at(120, { type: 'approval-requested', call: 'c1', question: 'Edit?' }),
    at(1120, { type: 'approval-resolved', call: 'c1', allowed: true }),
    at(1130, { type: 'tool-started', call: 'c1', tool: 'edit_file', key: 'k' }),
    at(1180, { type: 'tool-ended', call: 'c1', outcome: 'ok', text: 'done', ms: 50 }),
    at(1190, { type: 'turn-started', turn: 2, inputs: [], notes: [] }),
    at(1490, {
      type: 'turn-failed',
      turn: 2,
      error: { code: 'provider/limited', message: 'ollama: rate limit reached (429)', retry: true },
      ms: 300,
    }),
  ];
}

test('[A87] text of a hook is labelled as such, without the words that mark it for the model', () => {
  const { items, folder } = buildTimeline(createEvents());
  assert.deepEqual(
    items.flatMap((item) => (item.type === 'input' ? [[item.by, item.text]] : [])),
    [
      ['hook', 'low tide'],
      [undefined, 'go'],
    ],
  );
  assert.equal(folder, '/work');
});

test('[A87] the status line has turn, cost, tokens and model, and says that a model call is tried again', () => {
  const status = getRunStatus(buildTimeline(createEvents()), undefined);
  assert.partialDeepStrictEqual(status, { turns: 2, usd: 0.25, tokens: 15, model: 'm' });
  assert.equal(status.retry, 'ollama: rate limit reached (429). Retrying.');
});

test('[A87] the retries of a model request are shown in its turn and in the status line', () => {
  seq = 0;
  const retry = {
    attempt: 2,
    maxAttempts: 4,
    waitMs: 3000,
    code: 'provider/rate-limited',
    provider: 'ollama',
    why: 'x',
  };
  const events = [
    at(0, { type: 'run-started', run: 'r', limits: {} }),
    at(10, { type: 'turn-started', turn: 1, inputs: [], notes: [] }),
    at(20, { type: 'annotation-added', key: 'provider-retry', value: retry }),
  ];
  const timeline = buildTimeline(events);
  const sentence = 'Rate limited by ollama: retrying in 3 s, attempt 2 of 4.';
  assert.equal(getRunStatus(timeline, undefined).retry, sentence);
  const turn = timeline.items.at(-1);
  assert.ok(turn?.type === 'turn' && turn.retries?.length === 1);
  assert.equal(formatRetry(turn.retries[0] ?? assert.fail()), sentence);
  const ended = {
    type: 'turn-ended',
    turn: 1,
    message: { role: 'assistant', parts: [] },
    usage: {},
    model: 'm',
    ms: 5,
  };
  assert.equal(getRunStatus(buildTimeline([...events, at(30, ended)]), undefined).retry, undefined);
});

test('[A87] the title that the user gave a session is the last one', () => {
  const events = createEvents();
  const named = [...events, at(2000, { type: 'annotation-added', key: 'session-labels', value: { title: 'Harbour' } })];
  assert.equal(buildTimeline(named).title, 'Harbour');
});

test('[A87] the palette finds entries by all words, and those that begin with the text first', () => {
  const entry = (name: string, words = ''): PaletteEntry => ({
    id: name,
    group: 'g',
    icon: 'add',
    name,
    words,
    act: () => undefined,
  });
  const entries = [entry('Go to runs'), entry('Runs'), entry('Stop all runs', 'kill switch')];
  const names = (typed: string): readonly string[] => filterEntries(entries, typed).map(({ name }) => name);
  assert.deepEqual(names('runs'), ['Runs', 'Go to runs', 'Stop all runs']);
  assert.deepEqual(names('kill run'), ['Stop all runs']);
  assert.deepEqual(names('nothing'), []);
  assert.equal(names('').length, 3);
});

test('[A87] an unknown address is not a screen, and the tab shows the pending approvals', () => {
  assert.equal(parseRoute('#/nowhere').screen, 'not-found');
  assert.equal(parseRoute('').screen, 'ask');
  assert.deepEqual(parseRoute('#/runs/a%20b?q=x'), { screen: 'runs', id: 'a b', query: 'q=x' });
  assert.equal(formatTabTitle('Runs', 2), '(2) Runs · Fairlead');
  assert.equal(formatTabTitle('', 0), 'Fairlead');
});
