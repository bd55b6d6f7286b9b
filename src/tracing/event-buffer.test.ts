// Which run a turn belongs to while its events wait: it is told only if the last events leave no doubt.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Event, Fact, RunState } from '../core/index.ts';
import { EventBuffer } from './event-buffer.ts';

const limits = { turns: 1, errors: 1, maxRetriesPerAnswer: 0, stuckAfter: 0, outputChars: 1 };
const runStarted: Fact = { type: 'run-started', run: 'r', limits };
const runEnded: Fact = { type: 'run-ended', reason: 'answered' };
const note: Fact = { type: 'annotation-added', key: 'k', value: 'v' };
const turnStarted = (turn: number): Fact => ({ type: 'turn-started', turn, inputs: [], notes: [] });

/** A buffer that got these facts, each with its session; and the events. */
function fill(...facts: readonly (readonly [string, Fact])[]): {
  readonly buffer: EventBuffer;
  readonly events: readonly Event[];
} {
  const buffer = new EventBuffer({
    maxEvents: 100,
    findRun: () => assert.fail('not called'),
    onWaiting: () => {},
    onError: (error) => assert.fail(String(error)),
  });
  const events = facts.map(([session, fact], i): Event => {
    const event = { ...fact, seq: i + 1, id: `e${i}`, parent: null, time: '2026-01-01T00:00:00.000Z' };
    buffer.add(event, { session } as RunState);
    return event;
  });
  return { buffer, events };
}

const state = (session: string, turn: number): RunState => ({ session, turn }) as RunState;

test('[A50] the run of a turn is that of the last start in its session, if nothing else changed the run', () => {
  const { buffer } = fill(['a', note], ['a', runStarted], ['a', turnStarted(1)]);
  assert.equal(buffer.findStart(state('a', 1)), undefined, 'a note can name the parent of the run');
  const plain = fill(['a', runEnded], ['a', runStarted], ['a', turnStarted(1)]);
  assert.equal(plain.buffer.findStart(state('a', 1)), plain.events[1]);
  assert.equal(plain.buffer.findStart(state('a', 2)), undefined, 'another turn');
  assert.equal(plain.buffer.findStart(state('b', 1)), undefined, 'another session');
  assert.equal(fill(['a', turnStarted(1)]).buffer.findStart(state('a', 1)), 'known');
  for (const facts of [
    [
      ['a', runStarted],
      ['b', runStarted],
      ['a', turnStarted(1)],
    ],
    [
      ['a', runStarted],
      ['a', runEnded],
      ['a', turnStarted(1)],
    ],
    [
      ['a', runStarted],
      ['a', turnStarted(1)],
      ['a', note],
    ],
    [],
  ] as const satisfies readonly (readonly (readonly [string, Fact])[])[])
    assert.equal(fill(...facts).buffer.findStart(state('a', 1)), undefined);
});
