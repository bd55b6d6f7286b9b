// Tests of the view that keeps the grants of a session: what it takes from the log, and what it does not.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Event, Json } from '../../core/index.ts';
import { runGrantsView } from './run-grants.ts';

const event = (fields: Readonly<Record<string, unknown>>): Event => fields as unknown as Event;
const granted = (value: Json): Event => event({ type: 'annotation-added', key: 'grant', value });
const rule = { type: 'command', tool: 'run_command', words: ['npm', 'test'] } as const;

test('[A41] the grants of a session are folded from its log, and a fork starts without them', () => {
  const started = runGrantsView.on(runGrantsView.initial, event({ type: 'session-started', session: 'a' }));
  const state = runGrantsView.on(started, granted({ folder: '/work', rule }));
  assert.deepEqual(state, { session: 'a', grants: [{ folder: '/work', rule }] });
  assert.deepEqual(runGrantsView.restore?.(runGrantsView.serialize?.(state) ?? null), state);
  const epoch = (session: string): Event => event({ type: 'epoch-started', baseline: { session } });
  assert.deepEqual(runGrantsView.on(state, epoch('a')), state);
  assert.deepEqual(runGrantsView.on(state, epoch('b')), { session: 'b', grants: [] });
  assert.deepEqual(runGrantsView.on(state, event({ type: 'session-started', session: 'b' })).grants, []);
});

test('[A41] an entry of the log that is no grant grants nothing', () => {
  const broken: readonly Json[] = [
    null,
    'all',
    { rule },
    { folder: '/work' },
    { folder: '/work', rule: { type: 'everything' } },
    { folder: '/work', rule: { type: 'command', tool: 'run_command', words: [] } },
    { folder: '/work', rule: { type: 'command', tool: 'run_command', words: [1] } },
    { folder: '/work', rule: { type: 'call' } },
    { folder: '/work', rule: { type: 'tool' } },
  ];
  for (const value of broken)
    assert.deepEqual(runGrantsView.on(runGrantsView.initial, granted(value)).grants, [], JSON.stringify(value));
  assert.equal(runGrantsView.restore?.({ session: 'a' }), undefined);
});
