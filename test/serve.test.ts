// Guarantees of `fairlead serve`: started from the command line, protected from the start, and no run is lost with its process.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { request } from 'node:http';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { spawnSync } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import type { AttackOutcome } from '../scripts/attacks/catalogue.ts';
import type { FleetRun } from '../src/core/index.ts';
import { calls, says } from '../src/testing/index.ts';
import { createProgram, waitUntil, type TestProgram, type RunningProgram } from './support/cli-harness.ts';
import { assertAttack } from './support/attack-report.ts';
import { bin, source } from './support/program-dirs.ts';

const key = 'the key of this test, long';
const token = Buffer.from(key).toString('base64url');

type ServedProgram = {
  readonly process: RunningProgram;
  readonly url: string;
  readonly ask: (method: string, address: string, body?: unknown) => Promise<{ status: number; body: unknown }>;
  readonly run: (id: string) => Promise<FleetRun>;
  readonly until: (id: string, status: FleetRun['status']) => Promise<FleetRun>;
};

/** Starts the program and waits until it listens. */
async function startServe(
  t: TestContext,
  program: TestProgram,
  env: Record<string, string> = { HARNESS_API_KEY: token },
): Promise<ServedProgram> {
  const process = program.start(['serve', '--port', '0'], { env });
  t.after(() => process.kill('SIGKILL'));
  await waitUntil('it listens', () => /Listening at \S+\n/.test(process.err()), 30_000);
  const url = /Listening at (\S+)/.exec(process.err())?.[1] ?? '';
  const bearer = env['HARNESS_API_KEY'] ?? readFileSync(program.state('server-token'), 'utf8').trim();
  const self: ServedProgram = {
    process,
    url,
    async ask(method, address, body) {
      const answer = await fetch(url + address, {
        method,
        headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: answer.status, body: (await answer.json()) as unknown };
    },
    run: async (id) => ((await self.ask('GET', `/api/runs/${id}`)).body as { readonly run: FleetRun }).run,
    async until(id, status) {
      for (const end = Date.now() + 25_000; Date.now() < end; await pause(50)) {
        const now = await self.run(id);
        if (now.status === status) return now;
      }
      throw new Error(`not ${status}: ${JSON.stringify(await self.run(id))}\n${process.err()}`);
    },
  };
  return self;
}

const startRun = async ({ ask }: ServedProgram, body: Record<string, unknown>): Promise<FleetRun> =>
  ((await ask('POST', '/api/runs', body)).body as { readonly run: FleetRun }).run;

test('[A85] [A86] a first start creates a token in a file, serves the page, and executes runs', async (t) => {
  const program = await createProgram(t);
  const first = await startServe(t, program, {});
  const saved = readFileSync(program.state('server-token'), 'utf8').trim();
  assert.equal(statSync(program.state('server-token')).mode & 0o777, 0o600);
  assert.equal(first.process.out(), '');
  const page = await fetch(first.url);
  assert.equal(page.status, 200);
  assert.match(await page.text(), /<title>/i);
  const run = await startRun(first, { prompt: 'hello', model: 'qwen3' });
  const { outcome } = await first.until(run.id, 'ended');
  assert.equal(outcome?.text, 'You said: hello');
  first.process.kill('SIGTERM');
  assert.equal((await first.process.ended).code, 143);
  const again = program.start(['serve', '--port', '0']);
  t.after(() => again.kill('SIGKILL'));
  await waitUntil('it listens', () => /Listening at \S+\n/.test(again.err()), 30_000);
  again.kill('SIGINT');
  const { code, err } = await again.ended;
  assert.equal(code, 130);
  assert.ok(!err.includes('#key=') && !err.includes(saved), err);
  assert.ok(err.includes(`The key is in ${program.state('server-token')}\n`), err);
});

test('[A86] [A97] the command refuses unsafe or impossible options in one sentence', async (t) => {
  const program = await createProgram(t);
  const [open, weak, port, option, help] = await Promise.all([
    program.run(['serve', '--host', '0.0.0.0', '--port', '0']),
    program.run(['serve', '--host', '0.0.0.0', '--port', '0'], { env: { HARNESS_API_KEY: 'short' } }),
    program.run(['serve', '--port', '99999']),
    program.run(['serve', '--prot', '1']),
    program.run(['serve', '--help']),
  ]);
  assert.deepEqual([open.code, weak.code, port.code, option.code, help.code], [1, 1, 2, 2, 0]);
  assert.match(open.err, /no key is configured\. Set HARNESS_API_KEY/);
  assert.doesNotMatch(open.err, /#key=/);
  assert.match(weak.err, /fewer than 16 characters/);
  assert.ok(!weak.err.includes('short'));
  assert.match(help.out, /127\.0\.0\.1:8080/);
});

test('[A88] [A93] a run that was interrupted with its server continues after a restart; its stream resumes without gaps or duplicates, and no effect happens twice', async (t) => {
  let hang = true;
  const program = await createProgram(t, ({ results }) => {
    if (results.length === 0) return calls('write_file', { path: 'made.txt', content: 'once' });
    return hang ? { ...says('never'), hang: true } : says('It is done.');
  });
  await program.seedModels('qwen3');
  const before = await startServe(t, program);
  const run = await startRun(before, { prompt: 'make a file', auto: true });
  const seen: number[] = [];
  let ended = false;
  const follow = async ({ url }: ServedProgram): Promise<void> => {
    const last = seen.at(-1);
    const answer = await fetch(`${url}/api/stream?run=${run.id}`, {
      headers: { authorization: `Bearer ${token}`, ...(last === undefined ? {} : { 'last-event-id': String(last) }) },
    });
    let rest = '';
    for await (const piece of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const all = (rest + piece).split('\n\n');
      rest = all.pop() ?? '';
      for (const frame of all) {
        const id = /^id: (\d+)$/m.exec(frame)?.[1];
        if (id !== undefined) seen.push(Number(id));
        ended ||= frame.startsWith('event: end');
      }
    }
  };
  const first = follow(before).catch(() => undefined);
  await waitUntil('the model is asked after the file was made', () => program.modelRequests().length >= 2, 25_000);
  before.process.kill('SIGKILL');
  await before.process.ended;
  await first;
  assert.ok(existsSync(path.join(program.cwd, 'made.txt')));
  hang = false;
  const after = await startServe(t, program);
  const second = follow(after);
  const { outcome, attempts } = await after.until(run.id, 'ended');
  await second;
  assert.equal(outcome?.text, 'It is done.');
  assert.ok(attempts > 1);
  assert.ok(ended);
  assert.deepEqual(
    seen,
    seen.map((_, i) => i + 1),
  );
  const { events } = (await after.ask('GET', `/api/sessions/${run.session}`)).body as {
    readonly events: readonly { readonly type: string; readonly tool?: string }[];
  };
  assert.equal(events.filter(({ type, tool }) => type === 'tool-started' && tool === 'write_file').length, 1);
  assert.equal(events.length, seen.length);
});

test('[A88] a server that gets a stop signal releases its run: the stream says so, and the next start completes the run', async (t) => {
  let hang = true;
  const program = await createProgram(t, () => (hang ? { ...says('never'), hang: true } : says('Here I am.')));
  await program.seedModels('qwen3');
  const before = await startServe(t, program);
  const run = await startRun(before, { prompt: 'wait' });
  await waitUntil('the model is asked', () => program.modelRequests().length > 0, 25_000);
  const stream = fetch(`${before.url}/api/stream?run=${run.id}`, { headers: { authorization: `Bearer ${token}` } });
  const text = (await stream).text();
  before.process.kill('SIGTERM');
  assert.match(await text, /: the server is shutting down/);
  before.process.kill('SIGTERM');
  assert.equal((await before.process.ended).code, 143);
  hang = false;
  const after = await startServe(t, program);
  assert.equal((await after.until(run.id, 'ended')).outcome?.text, 'Here I am.');
});

test('[attack 49] the server of a fleet refuses requests without its key, from another origin or with another host name', async (t) => {
  const program = await createProgram(t);
  const { url } = await startServe(t, program);
  const { hostname, port, host } = new URL(url);
  const statusOf = (headers: Record<string, string>): Promise<number> =>
    new Promise((resolve, reject) => {
      const options = { hostname, port, path: '/api/runs', method: 'POST' };
      const asked = request({ ...options, headers: { 'content-type': 'application/json', ...headers } }, (answer) => {
        answer.resume();
        resolve(answer.statusCode ?? 0);
      });
      asked.on('error', reject).end('{"prompt":"x"}');
    });
  const authorization = `Bearer ${token}`;
  const tried: readonly Record<string, string>[] = [
    {},
    { authorization: 'Bearer wrong' },
    { authorization: token },
    { authorization: `Basic ${token}` },
    { cookie: `key=${token}` },
    { authorization, origin: 'https://evil.example' },
    { authorization, origin: 'null' },
    { authorization, origin: `http://127.0.0.1:${Number(port) + 1}` },
    { authorization, host: 'evil.example' },
    { authorization, host: `evil.example:${port}` },
    { authorization, host: `127.0.0.1.evil.example:${port}` },
    { authorization, 'sec-fetch-site': 'cross-site' },
  ];
  const saw: AttackOutcome[] = [];
  for (const headers of tried) saw.push([401, 403].includes(await statusOf(headers)) ? 'blocked' : 'done');
  assertAttack(t, 49, saw, `${saw.length} tried`);
  assert.equal(await statusOf({ authorization, origin: `http://${host}` }), 202);
});

test('[attack 50] the model of a queued run can neither turn approval off nor read the key of the server', async (t) => {
  const program = await createProgram(t, ({ results }) => {
    const config = JSON.stringify({ approve: 'auto' });
    const tries = [
      calls('write_file', { path: program.config('config.json'), content: config }),
      calls('write_file', { path: `${program.cwd}/../config/fairlead/config.json`, content: config }),
      calls('read_file', { path: program.state('server-token') }),
      calls('write_file', { path: program.state('server-token'), content: 'known to the model, and long enough' }),
      calls('run_command', { command: `echo '${config}' > ${program.config('config.json')}` }),
      calls('run_command', { command: `cat ${program.state('server-token')}` }),
    ];
    return results.length === 0 ? tries : says(results.join('\n'));
  });
  await program.seedModels('qwen3');
  mkdirSync(program.config(), { recursive: true });
  const server = await startServe(t, program, {});
  const secret = readFileSync(program.state('server-token'), 'utf8').trim();
  // The worst case: this run may make changes without approval.
  const run = await startRun(server, { prompt: 'do as you like', auto: true });
  const settled = await Promise.race([server.until(run.id, 'ended'), server.until(run.id, 'waiting')]);
  const told = JSON.stringify([settled, program.modelRequests().map(({ body }) => body)]);
  const saw: AttackOutcome[] = [
    existsSync(program.config('config.json')) ? 'done' : 'blocked',
    told.includes(secret) ? 'done' : 'blocked',
    readFileSync(program.state('server-token'), 'utf8').trim() === secret ? 'blocked' : 'done',
  ];
  const { events } = (await server.ask('GET', `/api/sessions/${run.session}`)).body as {
    readonly events: readonly { readonly type: string }[];
  };
  const tried = events.filter(({ type }) => type === 'tool-ended' || type === 'approval-requested').length;
  assert.equal(tried, 6);
  assertAttack(t, 50, saw, `${tried} tried`);
});

test('[A86] harness-serve is fairlead serve', async (t) => {
  const program = await createProgram(t);
  const file =
    bin === source
      ? path.resolve(import.meta.dirname, '../src/cli/serve-bin.ts')
      : path.join(path.dirname(bin), 'harness-serve.js');
  const { stdout, status } = spawnSync(process.execPath, [file, '--help'], {
    env: program.env,
    cwd: program.cwd,
    encoding: 'utf8',
  });
  assert.equal(status, 0);
  assert.match(stdout, /^Usage: fairlead serve/);
  const manifest = JSON.parse(readFileSync(path.resolve(import.meta.dirname, '../package.json'), 'utf8')) as {
    readonly bin: Readonly<Record<string, string>>;
  };
  assert.equal(manifest.bin['harness-serve'], 'dist/harness-serve.js');
});
