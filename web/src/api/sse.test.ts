// Tests of the server-sent events parser, with streams split at every position.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { createSseParser } from './sse.ts';

const stream =
  '\uFEFF: still here\r\n\r\nid: 7\nevent: event\ndata: {"a":1}\n\ndata:one\r\ndata: two\r\n\r\nid: 8\revent: run\rdata: x\r\rdata\n\nevent: end\n\nid: 9\ndata: unfinished';
const expected = [
  { event: 'event', data: '{"a":1}', id: '7' },
  { event: 'message', data: 'one\ntwo', id: '7' },
  { event: 'run', data: 'x', id: '8' },
  { event: 'message', data: '', id: '8' },
];

test('[A93] a stream is parsed by the standard: comments, all three line endings, multi-line data, ids that persist', () => {
  assert.deepEqual(createSseParser()(stream), expected);
});

test('[A93] the messages are the same for every way the stream is split into chunks', () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: stream.length }), { maxLength: 12 }), (cuts) => {
      const read = createSseParser();
      const places = [0, ...cuts.toSorted((a, b) => a - b), stream.length];
      const found = places.slice(1).flatMap((end, i) => read(stream.slice(places[i], end)));
      assert.deepEqual(found, expected);
    }),
  );
});

test('an id that contains a null character is ignored, and a message without data is dropped', () => {
  assert.deepEqual(createSseParser()('id: a\0b\nevent: x\n\ndata: y\n\n'), [
    { event: 'message', data: 'y', id: undefined },
  ]);
});
