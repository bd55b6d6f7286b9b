// What OpenAI's clients are streamed: never taken back, so what is said again is told only as far as it is new.
import assert from 'node:assert/strict';
import test from 'node:test';
import { formatSseFrame } from '../http/sse.ts';
import { readRunOutput } from './text-deltas.ts';

const chunk = (turn: number, text: string, restarted?: true): string =>
  formatSseFrame('chunk', { turn, text, ...(restarted ? { restarted } : {}) });

const ended = (turn: number, text: string): string =>
  formatSseFrame(
    'event',
    { type: 'turn-ended', turn, message: { role: 'assistant', parts: [{ type: 'text', text }] } },
    turn,
  );

async function collectText(...frames: readonly string[]): Promise<string> {
  async function* all(): AsyncGenerator<string> {
    yield* frames;
  }
  let text = '';
  for await (const piece of readRunOutput(all())) if (piece.type === 'text') text += piece.text;
  return text;
}

test('words come as they are said, and what was not heard comes with the end of the turn', async () => {
  assert.equal(
    await collectText(chunk(1, 'One '), chunk(1, 'two'), ended(1, 'One two three'), ended(2, 'Four')),
    'One two three\n\nFour',
  );
  assert.equal(await collectText(chunk(1, ' One'), ended(1, 'One')), ' One', 'not twice because of a blank');
});

test('an attempt that was broken off is gone on with where the next says the same', async () => {
  const again = [chunk(1, 'One two'), chunk(1, '', true)];
  assert.equal(
    await collectText(...again, chunk(1, 'One '), chunk(1, 'two three'), ended(1, 'One two three')),
    'One two three',
  );
  assert.equal(
    await collectText(...again, chunk(2, 'One '), chunk(2, 'two three'), ended(2, 'One two three')),
    'One two three',
  );
  assert.equal(await collectText(...again, ended(2, 'One two three')), 'One two three');
  assert.equal(await collectText(chunk(1, 'One'), chunk(1, 'One two', true)), 'One two');
});

test('where the next attempt says something else, all of it is told', async () => {
  const again = [chunk(1, 'One two'), chunk(1, '', true)];
  const all = 'One two\n\nOne, or two';
  assert.equal(await collectText(...again, chunk(1, 'One'), chunk(1, ', or two'), ended(1, 'One, or two')), all);
  assert.equal(await collectText(...again, ended(2, 'One, or two')), all);
});
