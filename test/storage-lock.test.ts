// Writer lock of session files: a second writer is refused, the lock of an ended process is taken over at once, an unresponsive process is fenced.
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import test from 'node:test';
import type { Event } from '../src/core/index.ts';
import { openJsonl, verifyFile } from '../src/stores/index.ts';
import { assertNoLeftovers, readLogEvents, inspectSession } from './crash/checker.ts';
import { createSessionFiles } from './crash/session-files.ts';
import { bundleProgram } from './support/bundle.ts';

const program = await bundleProgram(path.join(import.meta.dirname, 'crash/writer-process.ts'));
const annotationFact = { type: 'annotation-added', key: 'k', value: 1 } as const;

type WriterProcess = {
  readonly child: ChildProcess;
  /** Sends a command, and returns the reply. */
  ask(command: string): Promise<string>;
  tell(command: string): void;
  hear(): Promise<string>;
};

const children = new Set<ChildProcess>();
test.after(() => {
  for (const child of children) child.kill('SIGKILL');
});

/** A process that waits for commands. */
async function spawnWriter(file: string, lockTimeoutMs = 30_000): Promise<WriterProcess> {
  const child = spawn(process.execPath, [program, file, String(lockTimeoutMs)], { stdio: ['pipe', 'pipe', 'inherit'] });
  children.add(child);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const tell = (command: string): void => void child.stdin.write(`${command}\n`);
  const hear = async (): Promise<string> => String((await lines.next()).value);
  assert.equal(await hear(), 'awake');
  return {
    child,
    tell,
    hear,
    ask(command) {
      tell(command);
      return hear();
    },
  };
}

/** A process that has a session open. */
async function startWriter(file: string, lockTimeoutMs?: number): Promise<WriterProcess> {
  const started = await spawnWriter(file, lockTimeoutMs);
  assert.equal(await started.ask('open'), 'opened');
  return started;
}

async function killChild(child: ChildProcess): Promise<void> {
  const gone = new Promise((resolve) => {
    child.on('exit', resolve);
  });
  child.kill('SIGKILL');
  await gone;
}

test('fault 16: a second process is refused with the name of the owner, or reads only, until the first one closes', async () => {
  const { file } = createSessionFiles();
  const first = await startWriter(file);
  const pid = new RegExp(`is being written by process ${first.child.pid} on `);
  await assert.rejects(openJsonl(file), { code: 'store/locked', message: pid, hint: /reading only/ });
  const reader = await openJsonl(file, { mode: 'read' });
  assert.equal(await first.ask('append'), 'saved 1');
  assert.equal((await readLogEvents(reader)).length, 1);
  await reader.close();
  assert.equal(await first.ask('close'), 'closed');
  await killChild(first.child);
  const log = await openJsonl(file);
  await assert.rejects(openJsonl(file), { code: 'store/locked', message: new RegExp(`process ${process.pid} `) });
  await log.close();
  assertNoLeftovers(file);
});

test('fault 16: a session is locked under every name that links to it', async () => {
  const { file } = createSessionFiles();
  const log = await openJsonl(file);
  fs.symlinkSync(file, `${file}-too`);
  await assert.rejects(openJsonl(`${file}-too`), { code: 'store/locked' });
  await assert.rejects(openJsonl(path.relative(process.cwd(), file)), { code: 'store/locked' });
  await log.close();
});

test('fault 16: the lock of an ended process is taken over at once, also if another process has its pid', async () => {
  const { file } = createSessionFiles();
  const first = await startWriter(file);
  await first.ask('append');
  const lock = fs.readFileSync(`${file}.lock`, 'utf8');
  await killChild(first.child);
  assert.equal((await inspectSession(file)).events.length, 1);
  assertNoLeftovers(file);
  const holder = JSON.parse(lock) as { [key: string]: unknown };
  fs.writeFileSync(`${file}.lock`, JSON.stringify({ ...holder, pid: process.pid }));
  assert.equal((await inspectSession(file)).events.length, 1, 'a reused pid');
  const log = await openJsonl(file);
  const self = JSON.parse(fs.readFileSync(`${file}.lock`, 'utf8')) as { [key: string]: unknown };
  await log.close();
  fs.writeFileSync(`${file}.lock`, JSON.stringify({ ...self, boot: 'another run of the machine' }));
  assert.equal((await inspectSession(file)).events.length, 1, 'a rebooted machine');
  fs.writeFileSync(`${file}.lock`, '\0'.repeat(100));
  fs.utimesSync(`${file}.lock`, 0, 0);
  assert.equal((await inspectSession(file)).events.length, 1, 'a lock file emptied by a power cut');
  assertNoLeftovers(file);
});

test('fault 16: the lock of a process that has ended, and whose parent never reads its exit code, is taken over at once', async (t) => {
  if (process.platform !== 'linux') return t.skip('needs /proc of Linux');
  const { file } = createSessionFiles();
  const log = await openJsonl(file);
  const owner = JSON.parse(fs.readFileSync(`${file}.lock`, 'utf8')) as { [key: string]: unknown };
  await log.append(0, [annotationFact]);
  await log.close();
  // The parent becomes `sleep`, which waits for no child; until then it is a shell, which does.
  const parent = spawn('sh', ['-c', 'sleep 0.5 & echo $!; exec sleep 60'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.add(parent);
  const pid = Number((await createInterface({ input: parent.stdout })[Symbol.asyncIterator]().next()).value);
  const fields = (): readonly string[] => fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  while (fields()[0] !== 'Z') await new Promise((resolve) => setTimeout(resolve, 10));
  fs.writeFileSync(`${file}.lock`, JSON.stringify({ ...owner, pid, start: fields()[19] }));
  assert.equal((await inspectSession(file)).events.length, 1);
  assertNoLeftovers(file);
});

test('fault 16: of eight processes that take over from an ended one, exactly one succeeds, every time', async () => {
  for (let round = 0; round < 3; round++) {
    const { file } = createSessionFiles();
    const dead = await startWriter(file);
    await killChild(dead.child);
    // A process that ended during a takeover leaves its claim file behind.
    if (round % 2) {
      const { token } = JSON.parse(fs.readFileSync(`${file}.lock`, 'utf8')) as { token: string };
      fs.copyFileSync(`${file}.lock`, `${file}.lock.${token}`);
    }
    const racers = await Promise.all(Array.from({ length: 8 }, () => spawnWriter(file)));
    for (const racer of racers) racer.tell('open');
    const said = await Promise.all(racers.map((racer) => racer.hear()));
    assert.deepEqual(said.toSorted(), ['opened', ...Array.from({ length: 7 }, () => 'store/locked')]);
    const winner = racers[said.indexOf('opened')];
    assert.equal(await winner?.ask('append'), 'saved 1');
    assert.equal(await winner?.ask('close'), 'closed');
    await Promise.all(racers.map(({ child }) => killChild(child)));
    assert.equal((await verifyFile(file)).ok, true);
    assertNoLeftovers(file);
  }
});

test('fault 17: a stopped process loses its lock; when it continues, its writes are refused and reach no session', async () => {
  const { file } = createSessionFiles();
  const zombie = await startWriter(file, 300);
  assert.equal(await zombie.ask('append'), 'saved 1');
  zombie.child.kill('SIGSTOP');
  const log = await waitForLock(file, 300);
  assert.equal(log.report[0]?.kind, 'taken-over');
  const [mine] = await log.append(1, [annotationFact], { durable: true });
  zombie.tell('append');
  zombie.child.kill('SIGCONT');
  assert.equal(await zombie.hear(), 'store/fenced');
  assert.equal(await zombie.ask('append'), 'store/fenced');
  assert.equal(await zombie.ask('close'), 'closed');
  await killChild(zombie.child);
  const [next] = await log.append(2, [annotationFact], { durable: true });
  const events = await readLogEvents(log);
  assert.deepEqual(events.slice(1), [mine, next]);
  await log.close();
  assert.equal((await verifyFile(file)).ok, true);
  assertNoLeftovers(file);
});

/** Opens a session once its owner has sent no heartbeat for long enough. */
async function waitForLock(file: string, lockTimeoutMs: number): ReturnType<typeof openJsonl> {
  for (;;) {
    try {
      return await openJsonl(file, { lockTimeoutMs });
    } catch (error) {
      assert.equal((error as { code?: string }).code, 'store/locked');
      await new Promise((resolve) => {
        setTimeout(resolve, 20);
      });
    }
  }
}

test('fault 17: a process stopped between its lock check and its write reaches no session, and gets an error', async () => {
  const { file } = createSessionFiles();
  const zombie = await startWriter(file, 300);
  assert.equal(await zombie.ask('append'), 'saved 1');
  zombie.tell('stop');
  const log = await waitForLock(file, 300);
  const saved = await log.append(1, [annotationFact, annotationFact], { durable: true });
  zombie.child.kill('SIGCONT');
  assert.equal(await zombie.hear(), 'store/fenced');
  const [next] = await log.append(3, [annotationFact], { durable: true });
  assert.deepEqual((await readLogEvents(log)).slice(1), [...saved, next]);
  await log.close();
  await killChild(zombie.child);
  assert.deepEqual(await verifyFile(file), { ok: true, events: 4, problems: [] });
});

test('fault 17: a writer that finds its lock taken over writes nothing', async () => {
  const { file } = createSessionFiles();
  const log = await openJsonl(file);
  fs.rmSync(`${file}.lock`);
  const other = await openJsonl(file);
  const [mine] = await other.append(0, [annotationFact], { durable: true });
  await assert.rejects(log.append(0, [annotationFact]), { code: 'store/fenced' });
  await log.close();
  const [next] = await other.append(1, [annotationFact], { durable: true });
  assert.deepEqual(await readLogEvents(other), [mine, next]);
  await other.close();
  assertNoLeftovers(file);
});

test('a process that sends heartbeats keeps its lock, however long it writes nothing', async () => {
  const { file } = createSessionFiles();
  const holder = await startWriter(file, 300);
  await new Promise((resolve) => {
    setTimeout(resolve, 4000);
  });
  await assert.rejects(openJsonl(file, { lockTimeoutMs: 3000 }), { code: 'store/locked' });
  assert.equal(await holder.ask('close'), 'closed');
  await killChild(holder.child);
});

test('[M11] a session can be followed from another process while it is written, also through a takeover', async () => {
  const { file } = createSessionFiles();
  const writer = await startWriter(file);
  const reader = await openJsonl(file, { mode: 'read' });
  const stop = new AbortController();
  const seen: Event[] = [];
  const following = (async () => {
    for await (const event of reader.follow(0, stop.signal)) {
      seen.push(event);
      if (event.seq === 1) writer.tell('append');
      if (event.seq === 2) void killChild(writer.child).then(() => afterwards());
      if (event.seq === 4) stop.abort();
    }
  })();
  const afterwards = async (): Promise<void> => {
    const log = await openJsonl(file);
    await log.append(2, [annotationFact, annotationFact]);
    await log.close();
  };
  writer.tell('append');
  await following;
  assert.deepEqual(
    seen.map(({ seq }) => seq),
    [1, 2, 3, 4],
  );
  assert.deepEqual(await readLogEvents(reader), seen);
  await reader.close();
});

test('a log follows itself, and stops when it is closed or aborted', async () => {
  const { file } = createSessionFiles();
  const log = await openJsonl(file);
  const seen: number[] = [];
  const following = (async () => {
    for await (const event of log.follow(0, new AbortController().signal)) seen.push(event.seq);
  })();
  await log.append(0, [annotationFact, annotationFact]);
  await log.append(2, [annotationFact]);
  while (seen.length < 3) await new Promise(setImmediate);
  await log.close();
  await following;
  assert.deepEqual(seen, [1, 2, 3]);
  await assert.rejects(log.append(3, [annotationFact]), { code: 'store/closed' });
});
