// Moving session files: while they are open in this process, never while another process writes, and never over another file.
import assert from 'node:assert/strict';
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { startSessionWriterProcess } from '../../../test/support/session-writer-process.ts';
import type { Event } from '../../core/index.ts';
import { getLockOwner, moveJsonl, openJsonl, realDisk, verifyFile } from '../index.ts';

const annotation = { type: 'annotation-added', key: 'k', value: 1 } as const;

function createFiles(t: TestContext): { readonly a: string; readonly b: string; readonly folder: string } {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-move-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return { a: path.join(folder, 'a.jsonl'), b: path.join(folder, 'b.jsonl'), folder };
}

async function writeSession(file: string): Promise<void> {
  const log = await openJsonl(file);
  await log.append(0, [annotation, annotation], { durable: true });
  await log.close();
}

test('[J55] an open session is moved and continues under its new name, which is locked', async (t) => {
  const { a, b, folder } = createFiles(t);
  const log = await openJsonl(a, { indexBytes: 1 });
  await log.append(0, [annotation]);
  await log.move(b);
  assert.equal(log.file, b);
  assert.equal(getLockOwner(b)?.pid, process.pid);
  assert.equal(getLockOwner(a), undefined);
  await assert.rejects(openJsonl(b), { code: 'store/locked' });
  await log.append(1, [annotation], { durable: true });
  await log.close();
  assert.deepEqual(readdirSync(folder).toSorted(), ['b.jsonl', 'b.jsonl.index']);
  assert.deepEqual(await verifyFile(b), { ok: true, events: 2, problems: [] });
});

test('appends before a move come before it, those after it after it', async (t) => {
  const { a, b } = createFiles(t);
  const log = await openJsonl(a);
  const [first, , second] = await Promise.all([
    log.append(0, [annotation], { durable: true }),
    log.move(b),
    log.append(1, [annotation], { durable: true }),
  ]);
  assert.deepEqual([first[0]?.seq, second[0]?.seq], [1, 2]);
  await log.close();
  assert.equal((await verifyFile(b)).events, 2);
});

test('followers continue when a session is moved and another takes its old name, here and in a reader', async (t) => {
  const { a, b } = createFiles(t);
  const log = await openJsonl(a);
  const reader = await openJsonl(a, { mode: 'read' });
  const stop = new AbortController();
  const seen = async (events: AsyncIterable<Event>): Promise<readonly number[]> => {
    const found: number[] = [];
    for await (const { seq } of events) if (found.push(seq) === 2) break;
    return found;
  };
  const both = Promise.all([seen(log.follow(0, stop.signal)), seen(reader.follow(0, stop.signal))]);
  await log.append(0, [annotation]);
  await log.move(b);
  await writeSession(a);
  await log.append(1, [annotation]);
  assert.deepEqual(await both, [
    [1, 2],
    [1, 2],
  ]);
  let read = 0;
  for await (const events of reader.read()) read += events.length;
  assert.equal(read, 2, 'reading again finds what was added after the move');
  rmSync(a);
  await log.append(2, [annotation]);
  for await (const events of reader.read()) read += events.length;
  assert.equal(read, 5);
  await reader.close();
  await log.close();
});

test('a copy under the old name does not mislead the writer’s own followers', async (t) => {
  const { a, b } = createFiles(t);
  const log = await openJsonl(a);
  await log.append(0, [annotation]);
  const events = log.follow(0, AbortSignal.timeout(5000))[Symbol.asyncIterator]();
  assert.equal(((await events.next()).value as Event).seq, 1);
  const waiting = events.next();
  await log.move(b);
  copyFileSync(b, a);
  await log.append(1, [annotation]);
  assert.equal(((await waiting).value as Event | undefined)?.seq, 2);
  await log.close();
});

test('[J55] an existing name is refused and nothing is moved, open or not', async (t) => {
  const { a, b } = createFiles(t);
  await writeSession(a);
  writeFileSync(b, 'mine');
  await assert.rejects(moveJsonl(a, b), { code: 'store/exists' });
  const log = await openJsonl(a);
  await assert.rejects(log.move(b), { code: 'store/exists' });
  assert.equal(log.file, a);
  await log.append(2, [annotation], { durable: true });
  await log.close();
  const c = `${b}c`;
  const link = (from: string, to: string): void => {
    if (to === `${c}.lock`) writeFileSync(c, 'late');
    realDisk.link(from, to);
  };
  await assert.rejects(moveJsonl(a, c, { disk: { ...realDisk, link } }), { code: 'store/exists' });
  assert.equal(readFileSync(c, 'utf8'), 'late');
  assert.equal(readFileSync(b, 'utf8'), 'mine');
  assert.equal((await verifyFile(a)).events, 3);
});

test('a session with a writer is not moved, and the error names its owner; a reader acquires no lock', async (t) => {
  const { a, b } = createFiles(t);
  const other = await startSessionWriterProcess(t, a);
  assert.equal(getLockOwner(a)?.pid, other.pid);
  await assert.rejects(moveJsonl(a, b), { code: 'store/locked' });
  assert.equal(existsSync(b), false);
  const reader = await openJsonl(a, { mode: 'read' });
  await assert.rejects(reader.move(b), { code: 'store/read-only' });
  assert.equal(await other.ask('append'), 'saved 1');
  await reader.close();
  assert.equal(await other.ask('close'), 'closed');
  assert.equal(getLockOwner(a), undefined);
  await moveJsonl(a, b);
  assert.deepEqual(
    [existsSync(a), existsSync(b), existsSync(`${a}.lock`), existsSync(`${b}.lock`)],
    [false, true, false, false],
  );
});

test('a name that another process is about to use is refused', async (t) => {
  const { a, b } = createFiles(t);
  await writeSession(a);
  const other = await startSessionWriterProcess(t, b);
  await assert.rejects(moveJsonl(a, b), { code: 'store/exists' });
  rmSync(b);
  await assert.rejects(moveJsonl(a, b), { code: 'store/locked' });
  assert.equal(existsSync(a), true);
  await other.kill();
  assert.deepEqual([existsSync(`${b}.lock`), getLockOwner(b)], [true, undefined], 'an ended process has no lock');
  await moveJsonl(a, b);
  assert.equal(existsSync(b), true);
});

test('side files of a damaged file are moved with it; other files with a similar name stay', async (t) => {
  const { a, b, folder } = createFiles(t);
  await writeSession(a);
  for (const ending of ['.torn-1', '.damaged-12', '.damaged-12-2', '.edited-1', '.bak', '.new.jsonl'])
    writeFileSync(`${a}${ending}`, '');
  await moveJsonl(a, b);
  assert.deepEqual(readdirSync(folder).toSorted(), [
    'a.jsonl.bak',
    'a.jsonl.new.jsonl',
    'b.jsonl',
    'b.jsonl.damaged-12',
    'b.jsonl.damaged-12-2',
    'b.jsonl.edited-1',
    'b.jsonl.torn-1',
  ]);
});

test('a writer that has failed cannot be revived by a move', async (t) => {
  const { a, b } = createFiles(t);
  let broken = false;
  const disk = {
    ...realDisk,
    sync: (fd: number) =>
      broken ? Promise.reject(Object.assign(new Error('io'), { code: 'EIO' })) : realDisk.sync(fd),
  };
  const log = await openJsonl(a, { disk });
  broken = true;
  await assert.rejects(log.append(0, [annotation], { durable: true }), { code: 'store/io' });
  broken = false;
  await assert.rejects(log.move(b), { code: 'store/io' });
  await assert.rejects(log.append(0, [annotation]), { code: 'store/io' });
  await log.close();
  assert.equal(existsSync(b), false);
});
