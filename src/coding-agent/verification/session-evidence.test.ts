// Tests of the evidence of a session: results of tools, without what the model wrote itself.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Event, Fact, Json } from '../../core/index.ts';
import { collectSessionEvidence } from './session-evidence.ts';

const toEvents = (facts: readonly Fact[]): readonly Event[] =>
  facts.map((fact, i) => ({ ...fact, seq: i + 1, id: `e${i}`, parent: null, time: '2026-01-01T00:00:00Z' }));

const callTurn = (input: Json): Fact => ({
  type: 'turn-ended',
  turn: 1,
  message: { role: 'assistant', parts: [{ type: 'tool-call', id: 'x', tool: 'run_command', input }] },
  finishReason: 'tool-calls',
  usage: {},
  model: 'm',
  ms: 0,
});

const ended = (text: string, outcome: 'ok' | 'failed' = 'ok'): Fact => ({
  type: 'tool-ended',
  call: 'x',
  outcome,
  text,
  ms: 0,
});

const seqs = (facts: readonly Fact[]): readonly number[] =>
  collectSessionEvidence(toEvents(facts)).map(({ source }) => (source.type === 'event' ? source.seq : -1));

test('[A125] results of tools are evidence; failed ones, and those that repeat what the model wrote, are not', () => {
  const fact = 'Sydney is the capital of Australia.';
  assert.deepEqual(seqs([callTurn({ path: 'a.md' }), ended(`1| ${fact}`), ended('no', 'failed'), ended(' ')]), [2]);
  assert.deepEqual(seqs([callTurn({ command: `echo "${fact}"` }), ended(`${fact}\n`)]), []);
  assert.deepEqual(
    seqs([
      callTurn({ path: 'a.md', content: `# Facts\n\n${fact}\n` }),
      ended('Written.'),
      callTurn({ path: 'a.md' }),
      ended(`# Facts\n\n${fact}`),
    ]),
    [2],
  );
  assert.deepEqual(
    seqs([ended(`${fact} It is large.`), callTurn({ old: fact, new: 'x' })]),
    [1],
    'read before it was written',
  );
});
