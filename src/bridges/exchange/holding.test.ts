// However a stream is cut, spelt and ended: everything comes out in order, and nothing of a call before it is judged.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { chatDialect } from '../dialects/chat.ts';
import { eventsIn, passage } from './holding.ts';

const chunk = (delta: object): string => JSON.stringify({ choices: [{ index: 0, delta, finish_reason: null }] });
const words = (content: string): string => chunk({ content });
const call = chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'run', arguments: '{"command":"rm"}' } }] });

const spoken = fc.constantFrom(
  words('Go on.'),
  words('"tool_calls"'),
  words('tool_calls'),
  words('Grüße\n\n'),
  ': ping',
);
const called = fc.constantFrom(call, call.replace('tool_calls', String.raw`tool\u005fcalls`));
const ends = fc.constantFrom('\n\n', '\r\n\r\n', '\r\r', '\n\r\n');
const framed = (data: string, end: string): string => `${data.startsWith(':') ? data : `data: ${data}`}${end}`;

test('[M31] nothing of a call passes before its verdict, and all bytes stay in their order', async () => {
  const sample = fc.tuple(
    fc.array(spoken, { maxLength: 5 }),
    fc.option(called),
    fc.array(spoken, { maxLength: 3 }),
    ends,
    fc.integer({ min: 1, max: 40 }),
  );
  await fc.assert(
    fc.asyncProperty(sample, async ([before, made, after, end, step]) => {
      const first = before.map((each) => framed(each, end)).join('');
      const rest = [...(made === null ? [] : [made]), ...after].map((each) => framed(each, end)).join('');
      const bytes = Buffer.from(first + rest);
      const way = passage(chatDialect, false);
      let out = '';
      for (let at = 0; at < bytes.length; at += step) out += way.take(bytes.subarray(at, at + step))?.toString() ?? '';
      out += way.end()?.toString() ?? '';
      const held = Buffer.concat(way.held).toString();
      assert.equal(out + held, first + rest);
      assert.equal(way.holds, made !== null);
      assert.ok(!out.includes('"run"'), out);
      // A line feed that came late belongs to the event before.
      if (made !== null) assert.equal(out.trimEnd(), first.trimEnd());
      const read = await eventsIn([...way.sent, ...way.held]);
      assert.equal(
        read.length,
        [...before, ...(made === null ? [] : [made]), ...after].filter((each) => !each.startsWith(':')).length,
      );
    }),
    { numRuns: 300 },
  );
});

test('where words are judged too, nothing passes at all', () => {
  const way = passage(chatDialect, true);
  assert.equal(way.take(Buffer.from(framed(words('Hi.'), '\n\n'))), undefined);
  assert.equal(way.end(), undefined);
  assert.equal(way.held.length, 1);
});
