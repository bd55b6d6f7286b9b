// The fast reading of times agrees with Date.parse.
import assert from 'node:assert/strict';
import test from 'node:test';
import { parseTime } from './parse-time.ts';

test('[A50] times of events are read as Date.parse reads them, in one second, in others, and in other formats', () => {
  const texts = [
    '2026-05-01T10:20:30.123Z',
    '2026-05-01T10:20:30.999Z',
    '2026-05-01T10:20:31.000Z',
    '2026-05-01T10:20:30.001Z',
    '2026-13-01T10:20:30.123Z',
    '2026-13-01T10:20:30.124Z',
    '2026-05-01T10:20:30.12xZ',
    '2026-05-01T10:20:30+01:00',
    '2026-05-01',
    '',
  ];
  assert.deepEqual(texts.map(parseTime), texts.map(Date.parse));
});
