// Format of session files: any content is read back unchanged, and known versions open.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import * as fc from 'fast-check';
import { fold, runStateView, messageText, toArray, type Json } from '../src/core/index.ts';
import { openJsonl, verifyFile } from '../src/stores/index.ts';
import { assertNoLeftovers, readLogEvents, inspectSession } from './crash/checker.ts';
import { tempDir, createSessionFiles, writeSessionBytes, getFinishedSession } from './crash/session-files.ts';

const fixture = path.join(import.meta.dirname, 'fixtures/session-v1.jsonl');

test('fault 6: any text is one physical line and is read back unchanged', async () => {
  const nasty = [
    '\u2028',
    '\u2029',
    '\u0085',
    '\n',
    '\r\n',
    '\0',
    '\ud800',
    '\udfff x',
    '\u{1F600}',
    '"\\',
    '\uFEFF',
    '{"seq":1,"id":"1.a"',
    ',"hash":"',
    '\u007f\u0001',
  ];
  const { file } = createSessionFiles();
  const log = await openJsonl(file);
  const given = [...nasty, nasty.join(' ')].map((value) => ({ type: 'annotation-added', key: 'k', value }) as const);
  await log.append(0, given);
  await log.close();
  const text = fs.readFileSync(file, 'utf8');
  const breaks = ['\n', '\v', '\f', '\r', '\u001c', '\u001d', '\u001e', '\u0085', '\u2028', '\u2029'];
  const found = text.split('').filter((letter) => breaks.includes(letter));
  assert.deepEqual(
    found,
    Array.from({ length: given.length + 1 }, () => '\n'),
  );
  const { events } = await inspectSession(file);
  assert.deepEqual(
    events.map((event) => (event.type === 'annotation-added' ? event.value : undefined)),
    given.map(({ value }) => value),
  );
});

test('fault 6: any JSON is read back unchanged, and the file verifies', async () => {
  const file = path.join(tempDir, 'any.jsonl');
  const log = await openJsonl(file);
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units)),
  );
  let seq = 0;
  await fc.assert(
    fc.asyncProperty(fc.json({ stringUnit: 'binary' }), text, async (json, words) => {
      // JSON has no negative zero.
      const value = JSON.parse(json) as Json;
      const [event] = await log.append(seq++, [{ type: 'annotation-added', key: words, value }]);
      const found = await readLogEvents(log);
      assert.deepEqual(
        JSON.stringify(found.at(-1)),
        JSON.stringify({
          time: event?.time,
          type: 'annotation-added',
          key: words,
          value,
          seq: event?.seq,
          id: event?.id,
          parent: event?.parent,
        }),
      );
      assert.equal(found.length, seq);
    }),
    { numRuns: 300 },
  );
  await log.close();
  assert.deepEqual(await verifyFile(file), { ok: true, events: seq, problems: [] });
});

test('fault 6: a line far longer than any buffer is read back unchanged', async () => {
  const { file } = createSessionFiles();
  const log = await openJsonl(file);
  const value = 'ä\u2028'.repeat(1_000_000);
  await log.append(0, [
    { type: 'annotation-added', key: 'long', value },
    { type: 'annotation-added', key: 'next', value: 1 },
  ]);
  const read = await readLogEvents(log);
  assert.ok(read[0]?.type === 'annotation-added' && read[0].value === value);
  assert.equal(read[1]?.seq, 2);
  await log.close();
});

test('fault 21: a file of a newer format is refused and not changed', async () => {
  const { lines } = await getFinishedSession();
  const text = lines.join('').replace('{"fairlead":1,', '{"fairlead":2,');
  const { file } = writeSessionBytes(text);
  const before = fs.statSync(file).mtimeMs;
  for (const mode of ['write', 'read'] as const)
    await assert.rejects(openJsonl(file, { mode }), {
      code: 'store/newer-version',
      message: /has format version 2; this program knows versions up to 1/,
      hint: /newer version of Fairlead/,
    });
  await assert.rejects(verifyFile(file), { code: 'store/newer-version' });
  assert.equal(fs.readFileSync(file, 'utf8'), text);
  assert.equal(fs.statSync(file).mtimeMs, before);
  assertNoLeftovers(file);
});

test('fault 21: a file of the first format opens, reads, verifies and continues', async () => {
  assert.deepEqual(await verifyFile(fixture), { ok: true, events: 28, problems: [] });
  const { file } = writeSessionBytes(fs.readFileSync(fixture));
  const log = await openJsonl(file);
  assert.equal(log.session, 'first-format');
  assert.deepEqual(log.report, []);
  const events = await readLogEvents(log);
  assert.deepEqual(
    events.map(({ seq }) => seq),
    [1, 2, 22, 23, 24, 25, 26, 27, 28],
  );
  const state = fold(runStateView(), events);
  assert.deepEqual(toArray(state.messages).map(messageText), ['Summary.\nAgain.', 'Done again.']);
  const old = await readLogEvents(log, { at: `l.${events[0]?.id.slice(2)}` });
  assert.equal(old.length, 21);
  const first = fold(runStateView(), old);
  const roles = toArray(first.messages).map(({ role }) => role);
  assert.deepEqual(roles.slice(0, 3), ['user', 'assistant', 'tool']);
  assert.equal(messageText(toArray(first.messages).at(-1)!), 'One.');
  assert.equal(first.ended?.reason, 'answered');
  assert.ok(
    old[2]?.type === 'input-received' &&
      old[2].parts[0]?.type === 'text' &&
      old[2].parts[0].text === 'Grüße \u{1F600}\u2028 line\0 \ud800',
  );
  assert.deepEqual(
    (await readLogEvents(log, { from: 'epoch' })).map(({ seq }) => seq),
    [24, 25, 26, 27, 28],
  );
  await log.append(28, [{ type: 'annotation-added', key: 'still', value: 'goes' }]);
  await log.close();
  assert.equal((await verifyFile(file)).ok, true);
});

test('invalid input throws a typed error with one clear sentence', async () => {
  await assert.rejects(openJsonl(path.join(tempDir, 'nowhere/at/all.jsonl')), { code: 'store/gone', blame: 'store' });
  await assert.rejects(openJsonl(path.join(tempDir, 'missing.jsonl'), { mode: 'read' }), { code: 'store/gone' });
  await assert.rejects(openJsonl(tempDir), { code: 'store/io' });
  await assert.rejects(verifyFile(path.join(tempDir, 'missing.jsonl')), { code: 'store/gone' });
});
