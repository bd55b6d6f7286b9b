// However a stream is split, encoded and ended: all bytes are forwarded in order, and no byte of a call before its decision.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { wireFormats } from '../../wire/formats/index.ts';
import { parseSseEvents, createToolCallHold } from './hold-tool-calls.ts';

const chunk = (delta: object): string => JSON.stringify({ choices: [{ index: 0, delta, finish_reason: null }] });
const textChunk = (content: string): string => chunk({ content });
const call = chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'run', arguments: '{"command":"rm"}' } }] });

const textFrames = fc.constantFrom(
  textChunk('Go on.'),
  textChunk('"tool_calls"'),
  textChunk('tool_calls'),
  textChunk('Grüße\n\n'),
  ': ping',
);
const callFrames = fc.constantFrom(call, call.replace('tool_calls', String.raw`tool\u005fcalls`));
const ends = fc.constantFrom('\n\n', '\r\n\r\n', '\r\r', '\n\r\n');
const formatFrame = (data: string, end: string): string => `${data.startsWith(':') ? data : `data: ${data}`}${end}`;

test('[M31] no byte of a call is forwarded before the decision, and all bytes keep their order', async () => {
  const sample = fc.tuple(
    fc.array(textFrames, { maxLength: 5 }),
    fc.option(callFrames),
    fc.array(textFrames, { maxLength: 3 }),
    ends,
    fc.integer({ min: 1, max: 40 }),
  );
  await fc.assert(
    fc.asyncProperty(sample, async ([before, made, after, end, step]) => {
      const first = before.map((each) => formatFrame(each, end)).join('');
      const rest = [...(made === null ? [] : [made]), ...after].map((each) => formatFrame(each, end)).join('');
      const bytes = Buffer.from(first + rest);
      const way = createToolCallHold(wireFormats.chat, false);
      let out = '';
      for (let at = 0; at < bytes.length; at += step) out += way.push(bytes.subarray(at, at + step))?.toString() ?? '';
      out += way.finish()?.toString() ?? '';
      const held = Buffer.concat(way.held).toString();
      assert.equal(out + held, first + rest);
      assert.equal(way.isHolding, made !== null);
      assert.ok(!out.includes('"run"'), out);
      // A late line feed belongs to the previous event.
      if (made !== null) assert.equal(out.trimEnd(), first.trimEnd());
      const read = await parseSseEvents([...way.sent, ...way.held]);
      assert.equal(
        read.length,
        [...before, ...(made === null ? [] : [made]), ...after].filter((each) => !each.startsWith(':')).length,
      );
    }),
    { numRuns: 300 },
  );
});

test('if text is checked too, nothing is forwarded', () => {
  const way = createToolCallHold(wireFormats.chat, true);
  assert.equal(way.push(Buffer.from(formatFrame(textChunk('Hi.'), '\n\n'))), undefined);
  assert.equal(way.finish(), undefined);
  assert.equal(way.held.length, 1);
});
