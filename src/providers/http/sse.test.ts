// Tests the decoders of server-sent events and lines: the result does not depend on where the bytes are split.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { SseEvent } from '../../wire/sse.ts';
import { createLineDecoder, createSseDecoder } from './sse.ts';

const providerInfo = { name: 'test' };

function events(...pieces: readonly (Buffer | string)[]): readonly SseEvent[] {
  const decoder = createSseDecoder(providerInfo);
  return [...pieces.flatMap((piece) => decoder.push(Buffer.from(piece))), ...decoder.end()];
}

const eventData = (...pieces: readonly (Buffer | string)[]): readonly string[] =>
  events(...pieces).map((each) => each.data);

function lines(...pieces: readonly (Buffer | string)[]): readonly string[] {
  const decoder = createLineDecoder(providerInfo);
  return [...pieces.flatMap((piece) => decoder.push(Buffer.from(piece))), ...decoder.end()];
}

test('[A6] an event has its data; its default name is message', () => {
  assert.deepEqual(events('data: a\n\nevent: error\ndata: b\n\ndata: c\n\n'), [
    { event: 'message', data: 'a' },
    { event: 'error', data: 'b' },
    { event: 'message', data: 'c' },
  ]);
});

test('[A6] one space after the colon is optional and not data; a second one is data', () => {
  assert.deepEqual(eventData('data:a\n\ndata: b\n\ndata:  c\n\n'), ['a', 'b', ' c']);
});

test('[A6] several data lines are joined, including empty ones and ones without a colon', () => {
  assert.deepEqual(eventData('data: a\ndata:\ndata: b\n\n', 'data\n\n', 'data\ndata\n\n'), ['a\n\nb', '', '\n']);
});

test('[A6] comments, unknown fields and longer field names are ignored', () => {
  assert.deepEqual(eventData(': ping\n\nid: 7\nretry: 10\nfoo: bar\ndatas: no\ndat: no\ndata: yes\n\n:\n'), ['yes']);
});

test('[A6] an event without data is dropped with its name', () => {
  assert.deepEqual(events('event: error\n\ndata: a\n\n'), [{ event: 'message', data: 'a' }]);
});

test('[A6] a byte order mark at the start is dropped, anywhere else it is text', () => {
  assert.deepEqual(eventData('\u{feff}data: a\n\ndata: \u{feff}b\n\n\u{feff}data: c\n\n'), ['a', '\u{feff}b']);
});

test('[A6] lines end with LF, CRLF or CR, mixed, and split between CR and LF', () => {
  assert.deepEqual(eventData('data: a\r\n\r\ndata: b\r\rdata: c\n\r\ndata: d\r\n\n'), ['a', 'b', 'c', 'd']);
  assert.deepEqual(eventData('data: a\r', '\n\r', '\ndata: b\r', '\r', 'data: c\n\n'), ['a', 'b', 'c']);
});

test('[A6] an event without a final blank line is dropped', () => {
  assert.deepEqual(eventData('data: a\n\ndata: b\n'), ['a']);
  assert.deepEqual(eventData('data: a\n\ndata: b'), ['a']);
});

test('[A6] other line separators, such as U+2028 and U+0085, do not end a line', () => {
  assert.deepEqual(eventData('data: a\u2028b\u2029c\u0085d\vf\n\n'), ['a\u2028b\u2029c\u0085d\vf']);
});

const fragment = fc.oneof(
  fc.constantFrom(
    'data',
    'data:',
    'data: ',
    'event: ',
    'id: ',
    ':',
    '\n',
    '\r',
    '\r\n',
    '\n\n',
    ' ',
    '\u{feff}',
    '{"a":1}',
  ),
  fc.string({ unit: 'binary', maxLength: 6 }),
  fc.constantFrom('é', '€', '😀', '\u2028', '[DONE]'),
);

/** A stream and the positions where it is split. */
const splitStream = fc
  .array(fragment, { maxLength: 40 })
  .map((all) => Buffer.from(all.join('')))
  .chain((bytes) => fc.tuple(fc.constant(bytes), fc.uniqueArray(fc.nat({ max: bytes.length }), { maxLength: 12 })));

function split(bytes: Buffer, places: readonly number[]): readonly Buffer[] {
  const ends = [...places.toSorted((a, b) => a - b), bytes.length];
  return ends.map((end, i) => bytes.subarray(ends[i - 1] ?? 0, end));
}

/** A reference implementation: the complete text, normalized, line by line. */
function referenceDecode(bytes: Buffer): readonly SseEvent[] {
  const text = bytes
    .toString('utf8')
    .replace(/^\u{feff}/u, '')
    .replaceAll('\r\n', '\n')
    .replaceAll('\r', '\n');
  const out: SseEvent[] = [];
  let event = '';
  let data: string[] = [];
  for (const line of text.split('\n').slice(0, -1)) {
    if (line === '') {
      if (data.length > 0) out.push({ event: event || 'message', data: data.join('\n') });
      event = '';
      data = [];
      continue;
    }
    const [, name, value = ''] = /^([^:]*)(?::[ ]?([^]*))?$/.exec(line) ?? [];
    if (name === 'data') data.push(value);
    if (name === 'event') event = value;
  }
  return out;
}

test('[A6] any stream in any pieces gives the events of the reference implementation', () => {
  fc.assert(
    fc.property(splitStream, ([bytes, places]) => {
      assert.deepEqual(events(...split(bytes, places)), referenceDecode(bytes));
    }),
    { numRuns: 2000 },
  );
});

test('[A6] lines in any pieces are the same lines, with or without a final line end', () => {
  fc.assert(
    fc.property(splitStream, ([bytes, places]) => {
      const text = bytes
        .toString('utf8')
        .replace(/^\u{feff}/u, '')
        .replaceAll(/\r\n?/g, '\n');
      assert.deepEqual(
        lines(...split(bytes, places)),
        text.split('\n').filter((line) => line.trim() !== ''),
      );
    }),
    { numRuns: 1000 },
  );
});

test('[A6] a line without an end is an error at 32 MB and is not buffered further', () => {
  const decoder = createSseDecoder(providerInfo);
  const piece = Buffer.alloc(2 ** 22, 'a');
  assert.throws(
    () => {
      for (let i = 0; i < 10; i++) decoder.push(piece);
    },
    { code: 'provider/too-large' },
  );
});
