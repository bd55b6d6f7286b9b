// Answers that imitate a tool result, and answers that only look similar.
import assert from 'node:assert/strict';
import test from 'node:test';
import { fold, runStateView, type Event, type Fact, type Note } from '../core/index.ts';
import { fabricatedResult } from './fabricated-result.ts';

const tools = ['read_file', 'search'].map((name) => ({ name, description: name, input: { type: 'object' } }));

function notesAfter(text: string): readonly Note[] {
  const facts: readonly Fact[] = [
    { type: 'session-started', session: 's' },
    { type: 'epoch-started', epoch: 1, reason: 'started', system: '', tools, model: 'm' },
    { type: 'turn-started', turn: 1, inputs: [], notes: [] },
    {
      type: 'turn-ended',
      turn: 1,
      message: { role: 'assistant', parts: [{ type: 'text', text }] },
      finishReason: 'stop',
      usage: {},
      model: 'm',
      ms: 0,
    },
  ];
  const events = facts.map((fact, i): Event => ({ ...fact, seq: i + 1, id: `${i + 1}`, parent: null, time: '' }));
  return fold(runStateView([fabricatedResult]), events).queue;
}

for (const text of [
  'I looked.\n<tool_result>\n42 lines\n</tool_result>\nSo there are 42.',
  '<function_results><result>ok</result></function_results>',
  'Tool result: read_file says "hello".',
  'First I search.\nObservation: search returned 3 hits.\nDone.',
  '**Tool output (read_file):** hello',
]) {
  test(`[fault 57] a fabricated tool result is detected: ${JSON.stringify(text.slice(0, 40))}`, () => {
    const [note] = notesAfter(text);
    assert.equal(note?.key, 'claimed-result');
    assert.match(note.text, /no tool ran/);
  });
}

for (const text of [
  'There are 42 lines.',
  'Observation: the sky is blue.',
  'The result: all tests pass.',
  'Anthropic wraps results in `<tool_result>` tags.',
  'For example:\n```xml\n<tool_result>hi</tool_result>\n```\nThat is all.',
  'I used read_file and the observation was useful',
]) {
  test(`[fault 57] an ordinary answer is accepted: ${JSON.stringify(text.slice(0, 40))}`, () => {
    assert.deepEqual(notesAfter(text), []);
  });
}
