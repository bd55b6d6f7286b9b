// Views that an agent carries along: the same from the root and from an epoch, and after other rules took over.
import assert from 'node:assert/strict';
import test from 'node:test';
import { memoryLog } from '../stores/memory.ts';
import { newEpoch } from './epoch.ts';
import type { Event, Fact } from './fact.ts';
import { openHead } from './head.ts';
import type { NamedView } from './ports.ts';
import { fold, runView, type RunState } from './state.ts';
import { toArray } from './trail.ts';
import { look } from './views.ts';

const inputs: NamedView<number> = {
  name: 'inputs',
  initial: 0,
  on: (count, event) => (event.type === 'input-received' ? count + 1 : count),
  keep: (count) => count,
  restore: (kept) => (typeof kept === 'number' ? kept : undefined),
};
const forgetful: NamedView<number> = { name: 'forgetful', initial: 0, on: (count, event) => inputs.on(count, event) };

const said = (text: string): Fact => ({
  type: 'input-received',
  input: text,
  how: 'prompt',
  parts: [{ type: 'text', text }],
});

const compacted = (state: RunState): readonly Fact[] => [newEpoch(state, 'compacted', toArray(state.messages))];

test('[M11, M16] a view sees each event once, and an epoch keeps what it has seen', async () => {
  const log = memoryLog();
  const view = runView([], [inputs, forgetful]);
  const head = await openHead(log, view);
  await head.record([{ type: 'session-started', session: 's' }, said('a'), said('b')]);
  await head.record(compacted);
  await head.record([said('c')]);
  assert.equal(look(head.state, inputs), 3);
  const short = await openHead(log, view, 'epoch');
  assert.equal(look(short.state, inputs), 3);
  assert.equal(look(short.state, forgetful), 1, 'what keeps nothing begins anew');
  const root = await openHead(log, view, 'root');
  assert.equal(look(root.state, forgetful), 3);
});

test('what an epoch kept and somebody changed to nonsense is not believed', () => {
  const view = runView([], [inputs]);
  const state = fold(view, []);
  const epoch = newEpoch({ ...state, session: 's' }, 'compacted', []);
  const bad = { ...epoch, baseline: { ...epoch.baseline!, views: { inputs: 'many' } } };
  const event = { ...bad, seq: 1, id: 'a', parent: null, time: '' };
  assert.equal(look(fold(view, [event]), inputs), 0);
});

test('a view that the agent does not have is an error that says so', () => {
  assert.throws(() => look(runView().initial, inputs), { code: 'core/no-view', hint: /Add it/ });
});

test('a head that adopts other rules and views sees the whole session with them', async () => {
  const head = await openHead(memoryLog(), runView());
  await head.record([{ type: 'session-started', session: 's' }, said('a')]);
  const rule = (event: Fact): readonly { key: string; text: string }[] =>
    event.type === 'input-received' ? [{ key: event.input, text: `Mind ${event.input}.` }] : [];
  await head.adopt(runView([rule], [inputs]));
  assert.equal(look(head.state, inputs), 1);
  assert.deepEqual(head.state.queue, [{ key: 'a', text: 'Mind a.' }]);
  await head.record([said('b')]);
  assert.equal(look(head.state, inputs), 2);
  assert.equal(head.state.queue.length, 2);
});

/** A view that tells how often it was asked to fold. */
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

test('a view is folded as far as somebody looks, each event once, and every earlier state still tells its own', () => {
  const { view, folded } = counted();
  const run = runView([], [view]);
  const [early, late] = [remarks(10), remarks(30).slice(10)];
  const before = fold(run, early);
  const after = fold(run, late, before);
  assert.equal(folded(), 0, 'nobody has looked');
  assert.deepEqual([look(before, view), folded()], [10, 10]);
  assert.deepEqual([look(after, view), folded()], [30, 30]);
  assert.deepEqual([look(before, view), look(after, view), folded()], [10, 30, 30]);
});

test('events do not wait for ever to be seen', () => {
  const { view, folded } = counted();
  const state = fold(runView([], [view]), remarks(50_010));
  assert.equal(folded(), 50_000);
  assert.deepEqual([look(state, view), folded()], [50_010, 50_010]);
});
