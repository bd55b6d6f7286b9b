// Views of an agent: the same from the root and from an epoch, and after a change of rules.
import assert from 'node:assert/strict';
import test from 'node:test';
import { memoryLog } from '../stores/memory.ts';
import { epochStartedFact } from './epoch.ts';
import type { Event, Fact } from './fact.ts';
import { openSessionWriter } from './session-writer.ts';
import type { NamedView } from './ports.ts';
import { fold, runStateView, type RunState } from './state.ts';
import { toArray } from './persistent-list.ts';
import { readView } from './projections.ts';

const inputs: NamedView<number> = {
  name: 'inputs',
  initial: 0,
  on: (count, event) => (event.type === 'input-received' ? count + 1 : count),
  serialize: (count) => count,
  restore: (kept) => (typeof kept === 'number' ? kept : undefined),
};
const unserializedView: NamedView<number> = {
  name: 'forgetful',
  initial: 0,
  on: (count, event) => inputs.on(count, event),
};

const inputFact = (text: string): Fact => ({
  type: 'input-received',
  input: text,
  how: 'prompt',
  parts: [{ type: 'text', text }],
});

const compacted = (state: RunState): readonly Fact[] => [epochStartedFact(state, 'compacted', toArray(state.messages))];

test('[M11, M16] a view gets each event once, and an epoch stores its state', async () => {
  const log = memoryLog();
  const view = runStateView([], [inputs, unserializedView]);
  const head = await openSessionWriter(log, view);
  await head.record([{ type: 'session-started', session: 's' }, inputFact('a'), inputFact('b')]);
  await head.record(compacted);
  await head.record([inputFact('c')]);
  assert.equal(readView(head.state, inputs), 3);
  const short = await openSessionWriter(log, view, 'epoch');
  assert.equal(readView(short.state, inputs), 3);
  assert.equal(readView(short.state, unserializedView), 1, 'a view without stored state starts again');
  const root = await openSessionWriter(log, view, 'root');
  assert.equal(readView(root.state, unserializedView), 3);
});

test('a corrupted view state in an epoch is not used', () => {
  const view = runStateView([], [inputs]);
  const state = fold(view, []);
  const epoch = epochStartedFact({ ...state, session: 's' }, 'compacted', []);
  const bad = { ...epoch, baseline: { ...epoch.baseline!, views: { inputs: 'many' } } };
  const event = { ...bad, seq: 1, id: 'a', parent: null, time: '' };
  assert.equal(readView(fold(view, [event]), inputs), 0);
});

test('reading a view that the agent does not have is an error that names it', () => {
  assert.throws(() => readView(runStateView().initial, inputs), { code: 'core/no-view', hint: /Add it/ });
});

test('a head with changed rules and views evaluates the whole session with them', async () => {
  const head = await openSessionWriter(memoryLog(), runStateView());
  await head.record([{ type: 'session-started', session: 's' }, inputFact('a')]);
  const rule = (event: Fact): readonly { key: string; text: string }[] =>
    event.type === 'input-received' ? [{ key: event.input, text: `Mind ${event.input}.` }] : [];
  await head.setView(runStateView([rule], [inputs]));
  assert.equal(readView(head.state, inputs), 1);
  assert.deepEqual(head.state.queue, [{ key: 'a', text: 'Mind a.' }]);
  await head.record([inputFact('b')]);
  assert.equal(readView(head.state, inputs), 2);
  assert.equal(head.state.queue.length, 2);
});

/** A view that counts its folds. */
function counted(): { readonly view: NamedView<number>; readonly folded: () => number } {
  let folded = 0;
  const on = (count: number): number => {
    folded++;
    return count + 1;
  };
  return { view: { name: 'counted', initial: 0, on }, folded: () => folded };
}

const remarks = (many: number): readonly Event[] =>
  Array.from({ length: many }, (_, i) => {
    const place = { seq: i + 1, id: `e${i}`, parent: null, time: '' };
    return { type: 'annotation-added', text: '', ...place } as unknown as Event;
  });

test('a view is folded lazily, each event once, and every earlier state keeps its own value', () => {
  const { view, folded } = counted();
  const run = runStateView([], [view]);
  const [early, late] = [remarks(10), remarks(30).slice(10)];
  const before = fold(run, early);
  const after = fold(run, late, before);
  assert.equal(folded(), 0, 'the view was not read');
  assert.deepEqual([readView(before, view), folded()], [10, 10]);
  assert.deepEqual([readView(after, view), folded()], [30, 30]);
  assert.deepEqual([readView(before, view), readView(after, view), folded()], [10, 30, 30]);
});

test('events are not kept forever for a view that is never read', () => {
  const { view, folded } = counted();
  const state = fold(runStateView([], [view]), remarks(50_010));
  assert.equal(folded(), 50_000);
  assert.deepEqual([readView(state, view), folded()], [50_010, 50_010]);
});
