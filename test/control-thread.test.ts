// The control thread of real servers and workers: health and the kill switch answer while a tool blocks the main thread, the watchdog ends the process, and a run that blocks three workers is set aside.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { exitCodes } from '../src/cli/args/exit-codes.ts';
import type { FleetStore } from '../src/core/index.ts';
import { createMainThreadObserver } from '../src/server/control/main-thread.ts';
import { blockedExitCode, createApiKeys, startControlThread } from '../src/server/index.ts';
import { openFleetStore } from '../src/stores/index.ts';
import type { RunningProgram } from './support/cli-harness.ts';
import { createFleetProgram, waitUntilTrue, type FleetProgram } from './support/fleet-program.ts';
import { scriptHiddenCalls } from './support/hidden-tools.ts';
import { sendBytes } from './support/malformed-requests.ts';
import { startPostgres } from './support/postgres.ts';
import { writeFiles } from './support/program-dirs.ts';

const keys = {
  reader: 'a-key-for-reading-only',
  tenant: 'a-key-for-one-tenant-only',
  operator: 'a-key-for-operating-all',
} as const;
const keyEnv = {
  HARNESS_API_KEY: keys.operator,
  HARNESS_API_KEYS: `reader:${keys.reader},operator@acme:${keys.tenant}`,
};

type Reply = { readonly status: number; readonly body: Readonly<Record<string, unknown>> };

/** Sends a request to a control listener. */
async function send(url: string, request: string, key?: string, body?: unknown, headers = {}): Promise<Reply> {
  const [method = 'GET', target = '/'] = request.split(' ');
  const response = await fetch(url + target, {
    method,
    headers: {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Reply['body'] };
}

/** A program whose model calls a tool of the user that never returns. */
async function createBlockingProgram(t: TestContext): Promise<FleetProgram> {
  const program = await createFleetProgram(t, scriptHiddenCalls([['custom__spin', {}]]));
  writeFiles(program.home, {
    'config/fairlead/custom_tools/spin.js': `export default {
      name: 'spin', description: 'Spins.', effect: 'read', input: { type: 'object', properties: {} },
      // A loop of short waits blocks the thread as an endless loop does, and uses no processor time.
      execute: function spin() { const cell = new Int32Array(new SharedArrayBuffer(4)); for (;;) Atomics.wait(cell, 0, 0, 20); },
    };`,
  });
  return program;
}

/** Starts a server, and returns its addresses. */
async function startServer(
  t: TestContext,
  program: FleetProgram,
): Promise<{ readonly process: RunningProgram; readonly url: string; readonly control: string }> {
  const process = program.start(['serve', '--port', '0', '--watchdog', '0'], { env: keyEnv });
  t.after(() => process.kill('SIGKILL'));
  await waitUntilTrue('it listens', () => /Control at \S+: /.test(process.err()));
  const [, url = '', control = ''] = /Listening at (\S+)\n(?:.*\n)*?Control at (\S+): /.exec(process.err()) ?? [];
  return { process, url, control };
}

const isBlocked = async (control: string): Promise<boolean> => (await send(control, 'GET /healthz')).status === 503;

async function waitUntilBlocked(control: string): Promise<void> {
  for (let i = 0; i < 200 && !(await isBlocked(control)); i++) await pause(100);
  assert.ok(await isBlocked(control));
}

/** Turns the kill switch on and off as clients with different rights. */
async function assertGuarded(control: string): Promise<void> {
  const stop = { stopped: true, reason: 'it spins' };
  const statusOf = async (...args: Parameters<typeof send>): Promise<number> => (await send(...args)).status;
  assert.equal(await statusOf(control, 'GET /api/health'), 401);
  assert.equal(await statusOf(control, 'GET /api/kill-switch', 'a-key-that-does-not-exist'), 401);
  assert.equal(await statusOf(control, 'POST /api/kill-switch', keys.reader, stop), 403);
  assert.equal(await statusOf(control, 'POST /api/kill-switch', keys.tenant, stop), 403);
  assert.equal(await statusOf(control, 'POST /api/control/stop', keys.reader, { reason: 'it spins' }), 403);
  const foreign = { origin: 'http://example.com' };
  assert.equal(await statusOf(control, 'POST /api/kill-switch', keys.operator, stop, foreign), 403);
  assert.equal(await statusOf(control, 'POST /api/kill-switch', keys.operator, { ...stop, more: 1 }), 400);
  const rebound = `GET /healthz HTTP/1.1\r\nHost: example.com\r\n\r\n`;
  assert.match(await sendBytes(Number(new URL(control).port), rebound), /^HTTP\/1\.1 403 /);
  assert.equal(await statusOf(control, 'GET /api/runs', keys.operator), 404, 'there is nothing else');
  assert.equal((await send(control, 'GET /api/kill-switch', keys.reader)).body['stopped'], false);
}

test(
  '[A94, A95] health and the kill switch answer while a tool blocks the main thread, and a run that blocks three workers is set aside',
  { timeout: 300_000 },
  async (t) => {
    const program = await createBlockingProgram(t);
    const server = await startServer(t, program);
    assert.deepEqual((await send(server.control, 'GET /healthz')).body, { ok: true });
    const started = await send(server.url, 'POST /api/runs', keys.operator, { prompt: 'spin', model: 'qwen3' });
    const { id } = started.body['run'] as { readonly id: string };
    await waitUntilBlocked(server.control);

    await assert.rejects(fetch(`${server.url}/healthz`, { signal: AbortSignal.timeout(1000) }), /timeout/i);
    await assertGuarded(server.control);
    const { status, body } = await send(server.control, 'GET /api/health', keys.reader);
    assert.equal(status, 200);
    assert.equal(body['blocked'], true);
    assert.ok(Number(body['blockedMs']) >= 2000);
    assert.deepEqual(body['runs'], [id]);
    const scoped = await send(server.control, 'GET /api/health', keys.tenant);
    assert.equal(scoped.body['blocked'], true);
    assert.equal(scoped.body['runs'], undefined, 'the runs belong to another tenant');
    await waitForCommand(program, /1 running, seen \S+, blocked for \d+ s/);
    assert.equal((await program.store.workers.list()).length, 1);

    const stopped = await send(server.control, 'POST /api/kill-switch', keys.operator, {
      stopped: true,
      reason: 'it spins',
    });
    assert.deepEqual([stopped.status, stopped.body['stopped']], [200, true]);
    const ended = await server.process.ended;
    assert.equal(ended.code, exitCodes.blocked, ended.err);
    assert.match(
      ended.err,
      /has not answered for \d+ s\. The kill switch is on \(it spins\): the process is ended\. Executing: /,
    );
    assert.ok(ended.err.includes(id));
    assert.match(ended.err, /\n {2}at spin \(data:text\/javascript;base64:4\)\n/, 'it says what was executing');
    assert.doesNotMatch(ended.err, /debugger/);

    await program.runCommand('fleet', 'resume');
    for (let i = 0; i < 2; i++) {
      const worker = await program.worker('--watchdog', '3').ended;
      assert.equal(worker.code, exitCodes.blocked, worker.err);
      assert.match(worker.err, /has not answered for \d+ s\. The process is ended, so that it can be started again\./);
      assert.ok(worker.err.includes(id));
    }
    const last = await program.worker('--drain').ended;
    assert.equal(last.code, exitCodes.answered, last.err);
    const run = await program.store.queue.run(id);
    assert.equal(run?.status, 'ended');
    assert.match(run.outcome?.detail ?? '', /^The run lost its worker 3 times in a row/);
  },
);

/** Runs `fairlead fleet status` until it prints something. */
async function waitForCommand(program: FleetProgram, expected: RegExp): Promise<void> {
  let out = '';
  for (let i = 0; i < 5; i++) {
    out = await program.runCommand('fleet', 'status');
    if (expected.test(out)) return;
  }
  assert.match(out, expected);
}

/** Stops and resumes a fleet through a control listener, and reads the switch with another connection. */
async function assertSwitchWorks(t: TestContext, location: string): Promise<void> {
  const store: FleetStore = await openFleetStore(location);
  const control = startControlThread({
    store: location,
    watchdogSeconds: 0,
    listen: { keys: createApiKeys([{ role: 'operator', key: keys.operator }]), version: '0', folder: '/', port: 0 },
  });
  t.after(async () => {
    await control.close();
    await store.close();
  });
  const url = (await control.ready) ?? '';
  const set = (body: unknown): Promise<Reply> => send(url, 'POST /api/kill-switch', keys.operator, body);
  assert.equal((await set({ stopped: true, reason: 'a test' })).body['reason'], 'a test');
  assert.equal((await store.killSwitch.status()).stopped, true);
  assert.equal((await set({ stopped: false })).body['stopped'], false);
  assert.equal((await store.killSwitch.status()).stopped, false);
  await store.killSwitch.stop('from elsewhere', 'a test');
  assert.equal((await send(url, 'GET /api/kill-switch', keys.operator)).body['reason'], 'from elsewhere');
}

test('the control thread of a program has its own connection to a SQLite store', async (t) => {
  const program = await createFleetProgram(t);
  await assertSwitchWorks(t, program.data('fleet.sqlite'));
});

test(
  '[A95] a blocked worker of a PostgreSQL store is reported, and ended by the kill switch',
  { timeout: 300_000 },
  async (t) => {
    const postgres = await startPostgres();
    if (typeof postgres === 'string') return t.skip(postgres);
    t.after(() => postgres.close());
    const location = await postgres.createDatabase();
    await assertSwitchWorks(t, location);
    const store = await openFleetStore(location);
    t.after(() => store.close());
    await store.killSwitch.resume('a test');
    const program = await createBlockingProgram(t);
    const worker = program.start(['worker', '--watchdog', '0', '--model', 'qwen3'], {
      env: { HARNESS_STORE: location },
    });
    t.after(() => worker.kill('SIGKILL'));
    await store.queue.enqueue([{ id: 'spinning', prompt: 'spin' }]);
    const getBlockedMs = async (): Promise<number> => (await store.workers.list())[0]?.blockedMs ?? 0;
    for (let i = 0; i < 250 && (await getBlockedMs()) === 0; i++) await pause(100);
    assert.ok((await getBlockedMs()) >= 2000, worker.err());
    await store.killSwitch.stop('it spins', 'a test');
    const { code, err } = await worker.ended;
    assert.equal(code, exitCodes.blocked, err);
    assert.match(err, /The kill switch is on \(it spins\): the process is ended\. Executing: spinning\.\n/);
  },
);

test('a control thread that cannot listen reports it, and keys of a function are refused', async (t) => {
  const program = await createFleetProgram(t);
  const location = program.data('fleet.sqlite');
  const listen = {
    keys: createApiKeys([{ role: 'operator', key: keys.operator }]),
    version: '0',
    folder: '/',
    port: 0,
  };
  const first = startControlThread({ store: location, listen });
  t.after(() => first.close());
  const port = Number(new URL((await first.ready) ?? '').port);
  const second = startControlThread({ store: location, listen: { ...listen, port } });
  t.after(() => second.close());
  await assert.rejects(second.ready, /The control thread cannot start: .*EADDRINUSE/);
  const own = { authenticate: () => undefined, weaknessReason: undefined };
  assert.throws(() => startControlThread({ store: location, listen: { ...listen, keys: own } }), /needs keys of/);
});

test('a control thread that ended is started again on the same port', async (t) => {
  const program = await createFleetProgram(t);
  const threads: Worker[] = [];
  process.once('worker', (thread) => threads.push(thread));
  const notes: string[] = [];
  const control = startControlThread({
    store: program.data('fleet.sqlite'),
    watchdogSeconds: 0,
    listen: { keys: createApiKeys([{ role: 'operator', key: keys.operator }]), version: '0', folder: '/', port: 0 },
    notify: (text) => void notes.push(text),
  });
  t.after(() => control.close());
  const url = (await control.ready) ?? '';
  await threads[0]?.terminate();
  const isAnswered = (): Promise<boolean> =>
    send(url, 'GET /healthz').then(
      ({ status }) => status === 200,
      () => false,
    );
  for (let i = 0; i < 200 && !(await isAnswered()); i++) await pause(100);
  assert.ok(await isAnswered());
  assert.deepEqual(notes, ['The control thread failed and is started again: it ended']);
});

test('the time in which the whole process was suspended does not count as blocked', () => {
  const beats = new Int32Array(new SharedArrayBuffer(4));
  let now = 0;
  const observe = createMainThreadObserver(beats, () => now);
  const step = (ms: number): ReturnType<typeof observe> => {
    now += ms;
    return observe();
  };
  Atomics.add(beats, 0, 1);
  assert.deepEqual(step(250), { blocked: false, blockedMs: 0 });
  assert.deepEqual(step(3_600_000), { blocked: false, blockedMs: 500 });
  for (let i = 0; i < 6; i++) step(250);
  assert.deepEqual(step(250), { blocked: true, blockedMs: 2250 });
  Atomics.add(beats, 0, 1);
  assert.deepEqual(step(250), { blocked: false, blockedMs: 0 });
});

test('the exit code of the watchdog is the one that the help names', () => {
  assert.equal(exitCodes.blocked, blockedExitCode);
});
