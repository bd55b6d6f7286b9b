// The speed of the model: what counts as its time, and when there is no speed.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Event } from '../core/index.ts';
import { createSpeedMeter } from './output-speed.ts';

const ended = (output: number, ms: number): Event => ({
  type: 'turn-ended',
  seq: 1,
  id: 'e1',
  parent: null,
  time: '2026-01-01T00:00:00Z',
  turn: 1,
  message: { role: 'assistant', parts: [] },
  finishReason: 'stop',
  usage: { input: 10, output },
  model: 'm',
  ms,
});

test('the time begins with the first part of the response, and again after a restart', () => {
  let time = 0;
  const meter = createSpeedMeter(() => time);
  assert.deepEqual(meter.speed(), {});
  time = 9000;
  meter.onChunk({ type: 'part-started', index: 0, part: 'reasoning' });
  time = 10_000;
  meter.onChunk({ type: 'part-started', index: 1, part: 'text' });
  time = 11_000;
  meter.onEvent(ended(50, 11_000));
  assert.deepEqual(meter.speed(), { tokensPerSecond: 25 });
  meter.onChunk({ type: 'part-started', index: 0, part: 'text' });
  meter.onChunk({ type: 'restarted', attempt: 2, why: 'the stream broke' });
  time = 20_000;
  meter.onChunk({ type: 'part-started', index: 0, part: 'text' });
  time = 21_000;
  meter.onEvent(ended(30, 10_000));
  assert.deepEqual(meter.speed(), { tokensPerSecond: 30 });
});

test('without a stream the time is that of the request; without counted tokens or time there is no speed', () => {
  const meter = createSpeedMeter(() => 0);
  meter.onEvent(ended(40, 2000));
  assert.deepEqual(meter.speed(), { tokensPerSecond: 20 });
  meter.onEvent(ended(0, 2000));
  assert.deepEqual(meter.speed(), {});
  meter.onEvent(ended(40, 3));
  assert.deepEqual(meter.speed(), {});
});
