// Disk errors under session files: no partial write stays, nothing unsaved is reported as saved, and the session continues when it can.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import type { Event } from '../src/core/index.ts';
import { openJsonl, realDisk, verifyFile, type Disk } from '../src/stores/index.ts';
import { assertEffects, assertLegal, assertNoLeftovers, readLogEvents, inspectSession } from './crash/checker.ts';
import {
  createFailingDisk,
  createPowerLossDisk,
  createRandom,
  createSystemError,
  unsyncedDisk,
} from './crash/faulty-disks.ts';
import { tempDir, createSessionFiles, writeSessionBytes, getFinishedSession } from './crash/session-files.ts';
import { resumeScriptedSession } from './crash/session.ts';

type StorageError = { readonly code?: string; readonly message: string; readonly hint?: string };

/** Runs the session on a disk that fails at operation n = 1, 2, 3 …, or at each `step`-th, until none fails, and resumes it after each failure. */
async function failEachOperation(
  code: string,
  only: readonly (keyof Disk)[],
  expected: RegExp,
  afterwards: 'same log' | 'new log',
  step = 1,
): Promise<number> {
  for (let n = 1; ; n += step) {
    const { file, ledger } = createSessionFiles();
    const disk = createFailingDisk(n, code, { only });
    const expect = (error: StorageError): undefined => {
      assert.match(error.code ?? '', expected, `${only.join()} ${n}: ${error.message}`);
      assert.ok(error.hint, 'it has a hint');
    };
    const log = await openJsonl(file, { session: 's1', disk }).catch(expect);
    await (log && resumeScriptedSession(log, ledger).catch(expect));
    const known = (log && (await readLogEvents(log).catch(expect))) ?? [];
    if (log && afterwards === 'same log') {
      assert.equal((await resumeScriptedSession(log, ledger)).ended?.reason, 'answered');
      assert.deepEqual((await readLogEvents(log)).slice(0, known.length), known);
    }
    await log?.close().catch(expect);
    assert.equal(disk.tally.open, 0, `${only.join()} ${n} leaves no file open`);
    const again = await openJsonl(file, { session: 's1', disk: unsyncedDisk });
    assert.deepEqual((await readLogEvents(again)).slice(0, known.length), known, 'acknowledged events are there');
    const state = await resumeScriptedSession(again, ledger);
    assert.equal(state.ended?.reason, 'answered');
    assertLegal(state);
    assertEffects(await readLogEvents(again), ledger);
    await again.close();
    assert.equal((await verifyFile(file)).ok, true);
    assertNoLeftovers(file, fs.existsSync(`${file}.torn-1`) ? ['.torn-1'] : []);
    if (disk.tally.failed === 0) return n;
  }
}

test('fault 8: a full disk at any write stops the run with a clear error, and the same log continues when there is space', async () => {
  assert.ok((await failEachOperation('ENOSPC', ['write'], /^store\/full$/, 'same log')) > 40);
});

test('fault 9: a sync that fails means not saved, nothing more succeeds on that log, and the session resumes once opened again', async () => {
  assert.ok((await failEachOperation('EIO', ['sync'], /^store\/io$/, 'new log')) > 20);
  const { file } = createSessionFiles();
  const disk = createFailingDisk(2, 'EIO', { only: ['sync'] });
  const log = await openJsonl(file, { disk });
  const remark = { type: 'annotation-added', key: 'k', value: 1 } as const;
  await assert.rejects(log.append(0, [remark], { durable: true }), { code: 'store/io' });
  await assert.rejects(log.append(0, [remark]), { code: 'store/io' });
  await assert.rejects(log.append(1, [remark], { durable: true }), { code: 'store/io' });
  assert.deepEqual(await readLogEvents(log), []);
  await log.close();
  assert.deepEqual((await inspectSession(file)).events, []);
});

test('fault 9: a partial write that cannot be truncated closes the log to further writes', async () => {
  const { file } = createSessionFiles();
  let failing = false;
  const fail = (): void => {
    if (failing) throw createSystemError('EIO');
  };
  const disk: Disk = {
    ...realDisk,
    write(fd, bytes, from, position) {
      if (failing) realDisk.write(fd, bytes.subarray(0, 20), from, position);
      fail();
      return realDisk.write(fd, bytes, from, position);
    },
    truncate(fd, length) {
      fail();
      realDisk.truncate(fd, length);
    },
  };
  const log = await openJsonl(file, { disk });
  const remark = { type: 'annotation-added', key: 'k', value: 1 } as const;
  const [saved] = await log.append(0, [remark], { durable: true });
  failing = true;
  await assert.rejects(log.append(1, [remark]), { code: 'store/io' });
  failing = false;
  await assert.rejects(log.append(1, [remark]), { code: 'store/io' });
  await log.close();
  const { events, log: opened } = await inspectSession(file);
  assert.deepEqual(events, [saved]);
  assert.equal(opened.report[0]?.kind, 'torn');
});

test('the disk may fail at any operation, and nothing is lost, no descriptor stays open and no temporary file stays', async () => {
  const all: readonly (keyof Disk)[] = [
    'open',
    'read',
    'write',
    'sync',
    'truncate',
    'link',
    'rename',
    'remove',
    'syncDirectory',
  ];
  assert.ok((await failEachOperation('EIO', all, /^store\//, 'new log')) > 80);
});

test('fault 10: a location that is no longer writable gives a clear error, and the session can be exported', async () => {
  for (const code of ['EROFS', 'EACCES', 'EPERM']) {
    const { file, ledger } = createSessionFiles();
    const disk = createFailingDisk(25, code, { only: ['write'], lasting: true });
    const log = await openJsonl(file, { session: 's1', disk });
    await assert.rejects(resumeScriptedSession(log, ledger), { code: 'store/read-only' });
    const known = await readLogEvents(log);
    const copy = writeSessionBytes(log.export());
    await log.close();
    const { events } = await inspectSession(copy.file);
    assert.deepEqual(events.slice(0, known.length), known);
    assert.ok(events.length > known.length, 'unsaved events are in the export');
    const again = await openJsonl(copy.file);
    assert.equal((await resumeScriptedSession(again, ledger)).ended?.reason, 'answered');
    await again.close();
  }
});

test('fault 10: a directory deleted during a run gives a clear error, and everything can still be exported', async () => {
  const { file } = createSessionFiles();
  const log = await openJsonl(file);
  const remark = { type: 'annotation-added', key: 'k', value: 1 } as const;
  const saved = await log.append(0, [remark, remark], { durable: true });
  fs.rmSync(path.dirname(file), { recursive: true });
  await assert.rejects(log.append(2, [remark], { durable: true }), { code: 'store/gone' });
  await assert.rejects(log.append(2, [remark]), { code: 'store/gone' });
  const copy = writeSessionBytes(log.export());
  await log.close();
  const { events } = await inspectSession(copy.file);
  assert.deepEqual(events.slice(0, 2), saved);
  assert.equal(events.length, 3);
});

test('fault 10: a session file deleted or replaced under its writer is detected before anything is reported as durable', async () => {
  for (const change of [fs.rmSync, (file: string) => (fs.rmSync(file), fs.writeFileSync(file, 'other'))]) {
    const { file } = createSessionFiles();
    const log = await openJsonl(file);
    change(file);
    const append = log.append(0, [{ type: 'annotation-added', key: 'k', value: 1 }], { durable: true });
    await assert.rejects(append, { code: 'store/gone' });
    assert.match(log.export(), /annotation-added/);
    await log.close();
  }
});

test('fault 11: after a power cut at any moment a session is as it was before or after a write, and never missing', async () => {
  const { lines } = await getFinishedSession();
  const edited = lines.slice(0, 20).join('').replace('seen 0', 'seen by hand');
  const remark = { type: 'annotation-added', key: 'k', value: 'x'.repeat(300) } as const;
  for (const start of ['', edited]) {
    for (let n = 1, done = false; !done; n++) {
      const { file } = createSessionFiles();
      const random = createRandom(n);
      const disk = createPowerLossDisk(n);
      const settled: Event[] = [];
      if (start) fs.writeFileSync(file, start);
      disk.markDurable(file);
      try {
        const log = await openJsonl(file, { session: 's1', disk });
        for (let i = 0; i < 4; i++) {
          const tail = (await readLogEvents(log)).at(-1)?.seq ?? 0;
          settled.push(
            ...(await log.append(tail, [remark, remark], { durable: i % 2 === 0 })).filter(() => i % 2 === 0),
          );
        }
        await log.close();
        done = true;
      } catch (error) {
        assert.match(String((error as { cause?: unknown }).cause ?? error), /EPOWER/);
      }
      for (let round = 0; round < 3; round++) {
        const left = createSessionFiles();
        disk.writeSurvivors(path.dirname(left.file), random);
        const { events } = await inspectSession(left.file, { session: 's1' });
        for (const event of settled)
          assert.deepEqual(
            events.find(({ id }) => id === event.id),
            event,
            `power cut at ${n}`,
          );
        if (start) assert.ok(events.some((event) => event.type === 'tool-ended' && event.text === 'seen by hand'));
      }
    }
  }
});

test('fault 12: short and interrupted writes are completed', async () => {
  const { file, ledger } = createSessionFiles();
  let calls = 0;
  const disk: Disk = {
    ...realDisk,
    write(fd, bytes, from, position) {
      calls++;
      if (calls % 3 === 0) throw createSystemError(calls % 2 ? 'EINTR' : 'EAGAIN');
      return realDisk.write(fd, bytes.subarray(0, from + Math.min(17, bytes.length - from)), from, position);
    },
  };
  const log = await openJsonl(file, { session: 's1', disk });
  assert.equal((await resumeScriptedSession(log, ledger)).ended?.reason, 'answered');
  await log.close();
  assert.equal((await verifyFile(file)).ok, true);
  assert.equal((await inspectSession(file)).events.length, 67);
});

test('fault 12: a disk that writes no bytes and gives no reason is reported', async () => {
  for (const stuck of [() => 0, () => assert.fail(createSystemError('EAGAIN'))]) {
    const { file } = createSessionFiles();
    let broken = false;
    const write: Disk['write'] = (...given) => (broken ? stuck() : realDisk.write(...given));
    const log = await openJsonl(file, { disk: { ...realDisk, write } });
    broken = true;
    await assert.rejects(log.append(0, [{ type: 'annotation-added', key: 'k', value: 1 }]), { code: 'store/io' });
    broken = false;
    assert.equal((await log.append(0, [{ type: 'annotation-added', key: 'k', value: 1 }])).length, 1);
    await log.close();
  }
});

test('fault 13: a quota, too few inodes or too many open files stop the run as a full disk does', async () => {
  assert.ok((await failEachOperation('EDQUOT', ['write'], /^store\/full$/, 'same log', 4)) > 40);
  assert.ok((await failEachOperation('ENOSPC', ['open', 'link'], /^store\/full$/, 'same log')) > 4);
  assert.ok((await failEachOperation('EMFILE', ['open'], /^store\/too-many-files$/, 'same log')) > 4);
});

test(
  'fault 13: a thousand sessions opened and closed leave no file open',
  { skip: !fs.existsSync('/proc/self/fd') && 'needs /proc' },
  async () => {
    const open = (): number => fs.readdirSync('/proc/self/fd').length;
    const files = Array.from({ length: 20 }, () => createSessionFiles().file);
    for (const file of files) await (await openJsonl(file)).close();
    const before = open();
    for (let n = 0; n < 1000; n++) {
      const log = await openJsonl(files[n % files.length] ?? '', { mode: n % 3 ? 'write' : 'read' });
      await log.close();
    }
    assert.equal(open(), before);
  },
);

test('fault 18: a network or overlay file system causes a warning, and the session still opens', async () => {
  for (const [kind, name] of [
    [0x6969, 'NFS'],
    [-0xacb2be, 'CIFS'],
    [0x794c7630, 'overlay'],
    [0x65735546, 'FUSE'],
  ] as const) {
    const { file } = createSessionFiles();
    for (const mode of ['write', 'read'] as const) {
      const log = await openJsonl(file, { mode, disk: { ...realDisk, fileSystemType: () => kind } });
      assert.equal(log.report[0]?.kind, 'place');
      assert.match(log.report[0]?.message ?? '', new RegExp(`${name} file system`));
      await log.close();
    }
  }
  const log = await openJsonl(path.join(tempDir, 'plain.jsonl'), {
    disk: { ...realDisk, fileSystemType: () => 0xef53 },
  });
  assert.deepEqual(log.report, []);
  await log.close();
});

test('a file system without hard links also allows one writer only', async () => {
  const { file } = createSessionFiles();
  const link = (): never => assert.fail(createSystemError('ENOTSUP'));
  const disk: Disk = { ...realDisk, link };
  const log = await openJsonl(file, { disk });
  await assert.rejects(openJsonl(file, { disk }), { code: 'store/locked' });
  await log.close();
  assertNoLeftovers(file);
  const { lines } = await getFinishedSession();
  const edited = writeSessionBytes(lines.join('').replace('done 2', 'done by hand'));
  await (await openJsonl(edited.file, { disk })).close();
  assertNoLeftovers(edited.file, ['.edited-1']);
  assert.equal((await verifyFile(edited.file)).ok, true);
});
