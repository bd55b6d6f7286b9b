// Damaged session files: every readable event loads, and every loss is reported.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import * as fc from 'fast-check';
import type { Event } from '../src/core/index.ts';
import { openJsonl, verifyFile, type SessionFileProblem } from '../src/stores/index.ts';
import { assertNoLeftovers, readLogEvents, inspectSession } from './crash/checker.ts';
import { tempDir, createSessionFiles, writeSessionBytes, getFinishedSession } from './crash/session-files.ts';

const annotationFact = { type: 'annotation-added', key: 'after', value: 'the damage' } as const;

/** Opens a damaged file, appends an event, and opens it again: the events and the new one must be there. */
async function assertSurvives(
  file: string,
): Promise<{ readonly events: readonly Event[]; readonly report: readonly SessionFileProblem[] }> {
  const { events, log } = await inspectSession(file);
  const again = await openJsonl(file);
  const [added] = await again.append(events.at(-1)?.seq ?? 0, [annotationFact], { durable: true });
  await again.close();
  const later = await inspectSession(file);
  assert.deepEqual(later.events, [...events, added]);
  return { events, report: log.report };
}

const getEventIds = (events: readonly Event[]): readonly string[] => events.map(({ id }) => id);
const omitLines = (events: readonly Event[], ...lines: readonly number[]): readonly Event[] =>
  events.filter((_, i) => !lines.includes(i + 2));
const getKeptBytes = (report: readonly SessionFileProblem[]): Buffer =>
  fs.readFileSync(report.find((problem) => problem.backupFile)?.backupFile ?? '');

test('fault 2: a last line torn at any byte is kept in a side file, truncated before the next event, and reported', async () => {
  const { lines, events } = await getFinishedSession();
  const before = lines.slice(0, -1).join('');
  const end = lines.at(-1) ?? '';
  for (let n = 1; n < end.length - 1; n += 5) {
    const { file } = writeSessionBytes(before + end.slice(0, n));
    const { events: found, report } = await assertSurvives(file);
    assert.deepEqual(found, events.slice(0, -1));
    assert.equal(report[0]?.kind, 'torn');
    assert.equal(report[0]?.line, lines.length);
    assert.equal(report[0]?.offset, Buffer.byteLength(before));
    assert.equal(getKeptBytes(report).toString(), end.slice(0, n));
    assert.equal((await verifyFile(file)).ok, true);
    assertNoLeftovers(file, ['.torn-1']);
  }
});

test('fault 2: a last line that lacks only its line end counts', async () => {
  const { lines, events } = await getFinishedSession();
  const { file } = writeSessionBytes(lines.join('').slice(0, -1));
  const { events: found, report } = await assertSurvives(file);
  assert.deepEqual(found, events);
  assert.deepEqual(report, []);
  assertNoLeftovers(file);
});

test('fault 3: events before and after a block of NUL bytes load, and the gap is reported', async () => {
  const { lines, events } = await getFinishedSession();
  const bytes = Buffer.from(lines.join(''));
  const start = Buffer.byteLength(lines.slice(0, 20).join('')) + 30;
  bytes.fill(0, start, start + 600);
  const hurt = events.flatMap((_, i) => {
    const from = Buffer.byteLength(lines.slice(0, i + 1).join(''));
    return from + (lines[i + 1] ?? '').length > start && from < start + 600 ? [i + 2] : [];
  });
  const { file } = writeSessionBytes(bytes);
  const { events: found, report } = await assertSurvives(file);
  assert.ok(hurt.length > 1);
  assert.deepEqual(getEventIds(found), getEventIds(omitLines(events, ...hurt)));
  assert.match(report[0]?.message ?? '', /^Line 21 holds NUL bytes/);
  assert.ok(getKeptBytes(report).includes(Buffer.alloc(600)));
  assert.equal((await verifyFile(file)).ok, false);
});

test('fault 3: a block of NUL bytes between or inside lines costs no complete event', async () => {
  const { lines, events } = await getFinishedSession();
  const zeros = '\0'.repeat(512);
  const between = await assertSurvives(writeSessionBytes(lines.toSpliced(20, 0, zeros).join('')).file);
  assert.deepEqual(between.events, events);
  const alone = await assertSurvives(writeSessionBytes(lines.toSpliced(20, 0, `${zeros}\n`).join('')).file);
  assert.deepEqual(alone.events, events);
  assert.equal(alone.report.length, 1);
});

test('fault 4: two records on one line, or a torn record before its full copy, load once each', async () => {
  const { lines, events } = await getFinishedSession();
  const line = lines[20] ?? '';
  const glued = lines.with(20, line.trimEnd());
  for (const text of [
    glued.join(''),
    lines.with(20, line.slice(0, 50) + line).join(''),
    lines.with(20, line.slice(0, -20) + line).join(''),
    lines.with(20, line.trimEnd() + line).join(''),
    lines.with(20, line.trimEnd() + line.trimEnd() + line.slice(0, 40)).join(''),
  ]) {
    const { file } = writeSessionBytes(text);
    const { events: found, report } = await assertSurvives(file);
    assert.deepEqual(getEventIds(found), getEventIds(events));
    assert.deepEqual(found, events);
    assert.equal(report[0]?.line, 21);
    assert.ok(getKeptBytes(report).length > line.length);
  }
});

test('fault 5: a bad line in the middle hides no later one', async () => {
  const { lines, events } = await getFinishedSession();
  for (const bad of [
    'garbage\n',
    '{"seq":19,"id":"j.\n',
    '[]\n',
    '{"type":"nonsense"}\n',
    '\u{1F4A5}\n',
    '{"a":1}\n',
  ]) {
    const { file } = writeSessionBytes(lines.with(20, bad).join(''), events);
    const { events: found, report } = await assertSurvives(file);
    assert.deepEqual(found, omitLines(events, 21), bad);
    assert.equal(report[0]?.line, 21);
    assert.equal(getKeptBytes(report).toString(), bad);
    assertNoLeftovers(file, [`.damaged-${report[0]?.offset}`]);
  }
});

test('fault 5: every line may be bad, one at a time, the header too', async () => {
  const { lines, events } = await getFinishedSession();
  for (let n = 0; n < lines.length; n++) {
    const { file } = writeSessionBytes(lines.with(n, `${'x'.repeat(40)}\n`).join(''), events);
    const { events: found, report } = await assertSurvives(file);
    assert.deepEqual(found, n === 0 ? events : omitLines(events, n + 1));
    assert.equal(report[0]?.line, n + 1);
  }
});

test('fault 7: a duplicated record counts once, wherever its copy is', async () => {
  const { lines, events } = await getFinishedSession();
  const line = lines[20] ?? '';
  for (const at of [21, 22, 30, lines.length]) {
    const { file } = writeSessionBytes(lines.toSpliced(at, 0, line).join(''));
    const { events: found, report } = await assertSurvives(file);
    assert.deepEqual(found, events);
    assert.deepEqual(
      report.map(({ kind, line }) => [kind, line]),
      [['duplicate', at + 1]],
    );
  }
  const twice = await assertSurvives(
    writeSessionBytes(lines.flatMap((each, i) => (i === 0 ? [each] : [each, each])).join('')).file,
  );
  assert.deepEqual(twice.events, events);
});

test('fault 20: a flipped bit is detected by the hash, quarantined, and costs at most its own record', async () => {
  const { lines, events } = await getFinishedSession();
  const start = Buffer.byteLength(lines.slice(0, 25).join(''));
  const length = Buffer.byteLength(lines[25] ?? '') - 1;
  // Every third byte, and every byte of the hash; the flipped bit is another one at each byte.
  for (let i = 0; i < length; i += i < length - 30 ? 3 : 1) {
    const bytes = Buffer.from(lines.join(''));
    const flipped = (bytes[start + i] ?? 0) ^ (1 << (i % 8));
    bytes[start + i] = flipped;
    const { file } = writeSessionBytes(bytes, events);
    const { events: found, report } = await assertSurvives(file);
    // A flipped bit in the hash field may cost nothing: the next line proves the event.
    const isInHash = i >= length - `,"hash":"${'x'.repeat(22)}"}`.length;
    const isComplete = isInHash && found.length === events.length;
    assert.deepEqual(found, isComplete ? events : omitLines(events, 26), `byte ${i}`);
    assert.equal(report[0]?.line, 26);
    assert.equal(report[0].kind, 'damaged');
    assert.equal((await verifyFile(file)).ok, false);
    if (flipped !== 10)
      assert.equal(getKeptBytes(report).toString(), bytes.subarray(start, start + length + 1).toString());
  }
});

test('fault 20: several flipped bits cost their own record and no other', async () => {
  const { lines, events } = await getFinishedSession();
  const line = lines[25] ?? '';
  const { file } = writeSessionBytes(lines.with(25, line.replace('c00004', 'hello!')).join(''), events);
  const { events: found, report } = await assertSurvives(file);
  assert.deepEqual(found, omitLines(events, 26));
  assert.equal(report[0]?.kind, 'damaged');
  const last = lines.at(-1) ?? '';
  const end = writeSessionBytes(lines.with(lines.length - 1, last.replace('answered', 'stuck')).join(''), events);
  assert.deepEqual((await assertSurvives(end.file)).events, events.slice(0, -1));
});

test('fault 20: a damaged hash costs nothing, because the next line proves its event', async () => {
  const { lines, events } = await getFinishedSession();
  const line = lines[25] ?? '';
  const { file } = writeSessionBytes(lines.with(25, `${line.slice(0, -25)}${'A'.repeat(22)}"}\n`).join(''));
  const { events: found, report } = await assertSurvives(file);
  assert.deepEqual(found, events);
  assert.match(report[0]?.message ?? '', /The hash of line 26 is damaged/);
});

test('fault 22: a copy taken while a session is being written opens as a prefix of it', async () => {
  const { file, ledger } = createSessionFiles();
  const program = path.join(import.meta.dirname, 'crash/crashing-process.ts');
  const child = spawn(process.execPath, [program, file, ledger], { stdio: 'ignore' });
  const ended = new Promise((resolve) => {
    child.on('close', resolve);
  });
  const copies: string[] = [];
  const timer = setInterval(() => {
    if (!fs.existsSync(file)) return;
    const copy = path.join(tempDir, `copy-${copies.length}.jsonl`);
    fs.copyFileSync(file, copy);
    copies.push(copy);
  }, 2);
  await ended;
  clearInterval(timer);
  const { events } = await inspectSession(file);
  assert.ok(copies.length > 3);
  for (const copy of copies) {
    const found = (await inspectSession(copy)).events;
    assert.deepEqual(found, events.slice(0, found.length));
  }
});

type FileCorruption = {
  readonly kind: string;
  readonly at: number;
  readonly length: number;
  readonly bytes: Uint8Array;
};

/** A corruption: bytes are overwritten, zeroed, removed, duplicated or inserted. */
const arbitraryCorruption: fc.Arbitrary<FileCorruption> = fc.record({
  kind: fc.constantFrom('overwrite', 'zero', 'cut', 'double', 'insert', 'flip', 'end'),
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  length: fc.integer({ min: 1, max: 700 }),
  bytes: fc.uint8Array({ minLength: 1, maxLength: 60 }),
});

function applyCorruption(bytes: Buffer, { kind, at, length, bytes: other }: FileCorruption): Buffer {
  const start = Math.floor(at * bytes.length);
  const [before, hit, after] = [
    bytes.subarray(0, start),
    bytes.subarray(start, start + length),
    bytes.subarray(start + length),
  ];
  if (kind === 'overwrite') return Buffer.concat([before, other, bytes.subarray(start + other.length)]);
  if (kind === 'zero') return Buffer.concat([before, Buffer.alloc(hit.length), after]);
  if (kind === 'cut') return Buffer.concat([before, after]);
  if (kind === 'double') return Buffer.concat([before, hit, hit, after]);
  if (kind === 'insert') return Buffer.concat([before, other, hit, after]);
  if (kind === 'end') return Buffer.from(before);
  const flipped = Buffer.from(bytes);
  flipped[start] = (flipped[start] ?? 0) ^ (1 << (length % 8));
  return flipped;
}

test('after any corruption a session opens, folds to a valid request, continues, and reads the same when opened again', async () => {
  const { lines, events } = await getFinishedSession();
  const header = Buffer.byteLength(lines[0] ?? '');
  const whole = Buffer.from(lines.join(''));
  await fc.assert(
    fc.asyncProperty(
      fc.array(arbitraryCorruption, { minLength: 1, maxLength: 4 }),
      fc.boolean(),
      async (accidents, untouched) => {
        const hurt = accidents.reduce(applyCorruption, whole.subarray(header));
        const { file } = writeSessionBytes(Buffer.concat([whole.subarray(0, header), hurt]), untouched ? events : []);
        await assertSurvives(file);
      },
    ),
    { numRuns: 60 },
  );
});

test('a model answer that is in a damaged file twice counts as two answers, and the request stays valid', async () => {
  const { lines } = await getFinishedSession();
  const at = lines.findLastIndex((line) => line.includes('"type":"turn-ended"'));
  // A block that was written twice can begin anywhere: here near the start of a line, so that both lines are readable.
  const seam = Buffer.byteLength(lines.slice(0, at).join('')) + 40;
  const whole = Buffer.from(lines.join(''));
  const length = Buffer.byteLength(lines[at] ?? '');
  const twice = Buffer.concat([whole.subarray(0, seam + length), whole.subarray(seam)]);
  const { events } = await assertSurvives(writeSessionBytes(twice).file);
  assert.equal(events.filter((event) => event.type === 'turn-ended' && event.turn === 11).length, 2);
});

test('a file that is not a session is refused and not changed', async () => {
  for (const text of ['hello', 'hello\nworld\n', '{"role":"user","content":"hi"}\n', '# title\n\ntext\n']) {
    const { file } = writeSessionBytes(text);
    await assert.rejects(openJsonl(file), { code: 'store/not-a-session' });
    await assert.rejects(verifyFile(file), { code: 'store/not-a-session' });
    assert.equal(fs.readFileSync(file, 'utf8'), text);
    assertNoLeftovers(file);
  }
});

test('line endings of another system cost nothing', async () => {
  const { lines, events } = await getFinishedSession();
  const { file } = writeSessionBytes(lines.join('').replaceAll('\n', '\r\n'));
  const { events: found, report } = await assertSurvives(file);
  assert.deepEqual(found, events);
  assert.equal(report[0]?.kind, 'format');
  const log = await openJsonl(file, { mode: 'read' });
  assert.equal((await readLogEvents(log)).length, events.length + 1);
  await log.close();
});
