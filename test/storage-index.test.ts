// Sidecar index of long sessions: they open from it if it is valid, and from the log alone if not.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { hash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { promisify } from 'node:util';
import { zeroUsage, type Event, type Fact } from '../src/core/index.ts';
import { openJsonl, verifyFile, type JsonlLog } from '../src/stores/index.ts';
import { assertNoLeftovers, readLogEvents } from './crash/checker.ts';
import { tempDir, createSessionFiles } from './crash/session-files.ts';

const createEpochFact = (number: number): Fact => ({
  type: 'epoch-started',
  epoch: number,
  reason: 'compacted',
  system: 's',
  tools: [],
  model: 'm',
  baseline: { session: 's', messages: [], turn: number, loaded: [], queue: [], total: zeroUsage },
});
const createAnnotation = (value: number): Fact => ({ type: 'annotation-added', key: 'k', value });
const createAnnotations = (count: number): readonly Fact[] =>
  Array.from({ length: count }, (_, i) => createAnnotation(i));

/** A session with a branch that has two epochs, the second of them indexed: the events of the branch. */
async function createIndexedSession(): Promise<{ readonly file: string; readonly events: readonly Event[] }> {
  const { file } = createSessionFiles();
  const log = await openJsonl(file, { indexBytes: 1000 });
  const [first] = await log.append(0, createAnnotations(10));
  const rest = [
    ...createAnnotations(40),
    createEpochFact(1),
    ...createAnnotations(50),
    createEpochFact(2),
    ...createAnnotations(5),
  ];
  const events = await log.append(10, rest, { parent: first!.id });
  await log.close();
  assertNoLeftovers(file, ['.index']);
  return { file, events: [first!, ...events] };
}

async function withOpenLog<T>(file: string, look: (log: JsonlLog) => Promise<T>): Promise<T> {
  const log = await openJsonl(file, { indexBytes: 1000 });
  try {
    return await look(log);
  } finally {
    await log.close();
  }
}

test('[M11] reading from an epoch reads only what follows it; reading from the root still reads everything', async () => {
  const { file, events } = await createIndexedSession();
  await withOpenLog(file, async (log) => {
    assert.deepEqual(log.opened, { from: 'index', lines: 6 });
    assert.deepEqual(await readLogEvents(log, { from: 'epoch' }), events.slice(92));
    assert.deepEqual(await readLogEvents(log), events);
    assert.deepEqual(await readLogEvents(log, { at: events[20]?.id ?? '' }), events.slice(0, 21));
    assert.deepEqual(await readLogEvents(log, { at: events[60]?.id ?? '', from: 'epoch' }), events.slice(41, 61));
    const [added] = await log.append(107, [createAnnotation(9)]);
    assert.deepEqual(await readLogEvents(log, { from: 'epoch' }), [...events.slice(92), added]);
    assert.deepEqual(await readLogEvents(log), [...events, added]);
    const [branch] = await log.append(108, [createAnnotation(10)], { parent: events[20]?.id ?? '' });
    assert.deepEqual(await readLogEvents(log), [...events.slice(0, 21), branch]);
    const seen: number[] = [];
    const stop = new AbortController();
    for await (const event of log.follow(3, stop.signal)) {
      seen.push(event.seq);
      if (event.seq === 109) stop.abort();
    }
    assert.deepEqual(
      seen,
      Array.from({ length: 106 }, (_, i) => i + 4),
    );
  });
  await withOpenLog(file, async (log) => {
    assert.equal(log.opened.from, 'start', 'a branch from before the index needs the whole file');
    assert.equal((await readLogEvents(log)).length, 22);
  });
});

test('a new epoch advances the index while the session is open', async () => {
  const { file } = await createIndexedSession();
  const offset = (): number => (JSON.parse(fs.readFileSync(`${file}.index`, 'utf8')) as { offset: number }).offset;
  const before = offset();
  await withOpenLog(file, async (log) => {
    await log.append(107, [createEpochFact(3), createAnnotation(1)]);
    while (offset() === before) await new Promise(setImmediate);
  });
  await withOpenLog(file, async (log) => {
    assert.deepEqual(log.opened, { from: 'index', lines: 2 });
    assert.equal((await readLogEvents(log)).length, 100);
  });
});

test('fault 15: an index that is missing, damaged, of another file or wrong is not used, and is written again', async () => {
  const { file, events } = await createIndexedSession();
  const index = `${file}.index`;
  const good = fs.readFileSync(index, 'utf8');
  const other = (await createIndexedSession()).file;
  for (const spoil of [
    () => fs.rmSync(index),
    () => fs.writeFileSync(index, ''),
    () => fs.writeFileSync(index, '\0'.repeat(200)),
    () => fs.writeFileSync(index, good.slice(0, 60)),
    () => fs.writeFileSync(index, good.replace(/"version":\d+/, '"version":99')),
    () => fs.writeFileSync(index, good.replace(/"offset":\d+/, '"offset":99999999')),
    () => fs.writeFileSync(index, good.replace(/"offset":\d+/, '"offset":-1')),
    () => fs.writeFileSync(index, good.replace(/"sha256":"./, '"sha256":"x')),
    () => fs.writeFileSync(index, good.replace(/"lastHash":"./, '"lastHash":"x')),
    () => fs.writeFileSync(index, good.replace(/"seq":\d+/, '"seq":3')),
    () => fs.writeFileSync(index, '[]'),
    () => fs.copyFileSync(`${other}.index`, index),
  ]) {
    spoil();
    await withOpenLog(file, async (log) => {
      assert.equal(log.report.length, 0);
      assert.deepEqual(await readLogEvents(log), events, String(spoil));
      assert.deepEqual(await readLogEvents(log, { from: 'epoch' }), events.slice(92), String(spoil));
    });
    await withOpenLog(file, async (log) => assert.equal(log.opened.from, 'index', String(spoil)));
  }
});

test('fault 15: a change before the index is detected, although nothing there is parsed', async () => {
  const { file } = await createIndexedSession();
  const text = fs.readFileSync(file, 'utf8');
  fs.writeFileSync(file, text.replace('"value":7,', '"value":8,'));
  await withOpenLog(file, async (log) => {
    assert.equal(log.opened.from, 'start');
    assert.equal(log.report[0]?.kind, 'edited');
    assert.equal(log.report[0]?.line, 9);
  });
});

type ReadReport = { readonly found: number; readonly most: number; readonly from: string; readonly lines: number };

/** Reads a session in a process with far less memory than the size of the session. */
async function readWithLimitedMemory(file: string, from: 'root' | 'epoch'): Promise<ReadReport> {
  const program = path.join(import.meta.dirname, 'crash/reader-process.ts');
  const { stdout } = await promisify(execFile)(process.execPath, ['--max-old-space-size=24', program, file, from]);
  return JSON.parse(stdout) as ReadReport;
}

test('fault 14: a log of a million events and 200 MB opens from its index: few lines are scanned and memory stays small', async () => {
  const file = path.join(tempDir, 'big.jsonl');
  const { version } = JSON.parse(fs.readFileSync(`${(await createIndexedSession()).file}.index`, 'utf8')) as {
    version: number;
  };
  assert.ok(writeLargeSession(file, 1_000_000, version) > 200e6);
  const { found, from, lines } = await readWithLimitedMemory(file, 'epoch');
  assert.deepEqual({ found, from, lines }, { found: 1000, from: 'index', lines: 1000 });
  const log = await openJsonl(file);
  const [next] = await log.append(1_000_000, [createAnnotation(1)], { durable: true });
  assert.equal(next?.seq, 1_000_001);
  await log.close();
  fs.rmSync(file);
});

/** Writes a log in the format of session files without the code of the store, with an index of all but its last thousand events. */
function writeLargeSession(file: string, count: number, version: number): number {
  const out = fs.openSync(file, 'w');
  const hashOf = (text: string): string => hash('sha256', text, 'base64url').slice(0, 22);
  const text = 'x'.repeat(30);
  const start = '{"fairlead":1,"session":"big","created":"2026-01-01T00:00:00.000Z"';
  let link = hashOf(start);
  let lines = `${start},"hash":"${link}"}\n`;
  let above = 'null';
  let offset = 0;
  let index = {};
  for (let seq = 1; seq <= count; seq++) {
    const fact =
      seq === count - 999
        ? JSON.stringify(createEpochFact(2)).slice(1, -1)
        : `"type":"tool-ended","call":"c1","outcome":"ok","text":"${text}","ms":1`;
    if (seq === count - 999)
      index = {
        version,
        offset: offset + lines.length,
        line: seq,
        events: seq - 1,
        seq: seq - 1,
        lastHash: link,
        lastId: JSON.parse(above) as string,
      };
    const id = `${seq.toString(36)}.aaaa`;
    const body = `{"seq":${seq},"id":"${id}","parentId":${above},"time":"2026-01-01T00:00:00.000Z",${fact}`;
    // The lines before the index are not parsed, so their own hashes can be anything.
    link = seq < count - 999 ? String(seq).padStart(22, '0') : hashOf(link + body);
    lines += `${body},"hash":"${link}"}\n`;
    above = `"${id}"`;
    if (lines.length < 1e6 && seq < count) continue;
    fs.writeSync(out, lines);
    offset += lines.length;
    lines = '';
  }
  fs.closeSync(out);
  const sha256 = hash('sha256', fs.readFileSync(file).subarray(0, (index as { offset: number }).offset), 'hex');
  fs.writeFileSync(`${file}.index`, JSON.stringify({ ...index, sha256 }));
  return offset;
}

test('a long log without an epoch is read in constant memory', async () => {
  const { file } = createSessionFiles();
  const log = await openJsonl(file);
  const value = 'y'.repeat(500);
  for (let seq = 0; seq < 60_000; seq += 1000)
    await log.append(
      seq,
      Array.from({ length: 1000 }, (): Fact => ({ type: 'annotation-added', key: 'k', value })),
    );
  await log.close();
  fs.rmSync(`${file}.index`, { force: true });
  const { found, most, from } = await readWithLimitedMemory(file, 'root');
  assert.deepEqual({ found, from }, { found: 60_000, from: 'start' });
  assert.ok(most < 5000, `${most} events at once`);
  assert.equal((await verifyFile(file)).ok, true);
});
