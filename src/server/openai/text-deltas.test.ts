// Tests of text deltas for OpenAI clients: they cannot be retracted, so only the new part of repeated text is sent.
import assert from 'node:assert/strict';
import test from 'node:test';
import { verificationDemandKey, type Event } from '../../core/index.ts';
import type { SessionMessage } from '../http/replay-buffer.ts';
import { readRunOutput } from './text-deltas.ts';

const chunk = (turn: number, text: string, restarted?: true): SessionMessage => ({
  type: 'chunk',
  chunk: { turn, text, ...(restarted ? { restarted } : {}) },
});

const ended = (turn: number, text: string): SessionMessage => ({
  type: 'event',
  event: {
    type: 'turn-ended',
    turn,
    message: { role: 'assistant', parts: [{ type: 'text', text }] },
  } as unknown as Event,
});

async function collectText(...messages: readonly SessionMessage[]): Promise<string> {
  async function* batches(): AsyncGenerator<readonly SessionMessage[]> {
    yield messages;
  }
  let text = '';
  for await (const output of readRunOutput(batches())) if (output.type === 'text') text += output.text;
  return text;
}

test('text is sent as it arrives, and the missing rest when the turn ends', async () => {
  assert.equal(
    await collectText(chunk(1, 'One '), chunk(1, 'two'), ended(1, 'One two three'), ended(2, 'Four')),
    'One two three\n\nFour',
  );
  assert.equal(await collectText(chunk(1, ' One'), ended(1, 'One')), ' One', 'not twice because of white space');
});

test('an attempt that repeats the text of an interrupted one is continued', async () => {
  const interrupted = [chunk(1, 'One two'), chunk(1, '', true)];
  assert.equal(
    await collectText(...interrupted, chunk(1, 'One '), chunk(1, 'two three'), ended(1, 'One two three')),
    'One two three',
  );
  assert.equal(
    await collectText(...interrupted, chunk(2, 'One '), chunk(2, 'two three'), ended(2, 'One two three')),
    'One two three',
  );
  assert.equal(await collectText(...interrupted, ended(2, 'One two three')), 'One two three');
  assert.equal(await collectText(chunk(1, 'One'), chunk(1, 'One two', true)), 'One two');
});

test('an attempt with another text is sent completely', async () => {
  const interrupted = [chunk(1, 'One two'), chunk(1, '', true)];
  const all = 'One two\n\nOne, or two';
  assert.equal(await collectText(...interrupted, chunk(1, 'One'), chunk(1, ', or two'), ended(1, 'One, or two')), all);
  assert.equal(await collectText(...interrupted, ended(2, 'One, or two')), all);
});

test('[A34] [A36] no text of a run that is verified is sent before the run has ended', async () => {
  const demand: SessionMessage = {
    type: 'event',
    event: { type: 'annotation-added', key: verificationDemandKey, value: true } as unknown as Event,
  };
  const run = { type: 'run', run: { status: 'ended' } } as unknown as SessionMessage;
  async function* batches(...messages: readonly SessionMessage[]): AsyncGenerator<readonly SessionMessage[]> {
    yield messages;
  }
  const collect = async (isVerified: boolean, ...messages: readonly SessionMessage[]): Promise<readonly string[]> => {
    const outputs: string[] = [];
    for await (const output of readRunOutput(batches(...messages, run), isVerified))
      outputs.push(output.type === 'text' ? output.text : `ended, held: ${output.isHeld}`);
    return outputs;
  };
  const draft = [chunk(1, 'One '), ended(1, 'One two')];
  assert.deepEqual(await collect(false, ...draft), ['One ', 'two', 'ended, held: false']);
  assert.deepEqual(await collect(false, demand, ...draft), ['ended, held: true']);
  assert.deepEqual(await collect(true, ...draft), ['ended, held: true']);
});
