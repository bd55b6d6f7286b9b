// What `fairlead serve` protects from its runs, and which settings the clients that start them may choose.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { FleetRun, JsonObject } from '../src/core/index.ts';
import { calls, says } from '../src/testing/index.ts';
import { createProgram, waitUntil, type TestProgram, type RunningProgram } from './support/cli-harness.ts';

const key = 'a-key-that-operates-this-test';

type ServedProgram = {
  readonly process: RunningProgram;
  readonly url: string;
  /** Starts a run with a key, and returns it once it has ended or waits. */
  readonly settled: (bearer: string, body: Record<string, unknown>) => Promise<FleetRun>;
  readonly send: (bearer: string, request: string, body?: unknown) => Promise<Record<string, unknown>>;
};

async function startServe(
  t: TestContext,
  program: TestProgram,
  args: readonly string[] = [],
  env: Record<string, string> = { HARNESS_API_KEY: key },
  cwd: string = program.cwd,
): Promise<ServedProgram> {
  const process = program.start(['serve', '--port', '0', ...args], { env, cwd });
  t.after(() => process.kill('SIGKILL'));
  await waitUntil('it listens', () => /Listening at \S+\n/.test(process.err()), 30_000);
  const url = /Listening at (\S+)/.exec(process.err())?.[1] ?? '';
  const send: ServedProgram['send'] = async (bearer, request, body) => {
    const [method = 'GET', address = '/'] = request.split(' ');
    const answer = await fetch(url + address, {
      method,
      headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return (await answer.json()) as Record<string, unknown>;
  };
  return {
    process,
    url,
    send,
    async settled(bearer, body) {
      const begun = await send(bearer, 'POST /api/runs', body);
      const { id } = (begun['run'] ?? assert.fail(JSON.stringify(begun))) as FleetRun;
      for (const end = Date.now() + 25_000; Date.now() < end; await pause(50)) {
        const run = (await send(bearer, `GET /api/runs/${id}`))['run'] as FleetRun;
        if (run.status === 'ended' || run.status === 'waiting') return run;
      }
      throw new Error(`${id} does not end: ${process.err()}`);
    },
  };
}

const getLastModel = (program: TestProgram): unknown =>
  (program.modelRequests().at(-1)?.body as JsonObject | undefined)?.['model'];

test('[A97] a run in the home directory can read neither the token of the server nor its keys', async (t) => {
  const secrets = { HARNESS_API_KEYS: 'reader:a-key-that-reads-everything' };
  const program = await createProgram(t, ({ results }) => {
    const tries = [
      calls('read_file', { path: 'state/fairlead/server-token' }),
      calls('read_file', { path: 'innocent.txt' }),
      calls('grep', { pattern: '.', path: 'state/fairlead/server-token' }),
      calls('grep', { pattern: '[A-Za-z0-9_-]{43}', path: '.' }),
      calls('run_command', { command: 'cat state/fairlead/server-token' }),
      calls('run_command', { command: 'env; cat /proc/*/environ /proc/*/cmdline | tr "\\0" "\\n"' }),
    ];
    return results.length === 0 ? tries : says(results.join('\n'));
  });
  await program.seedModels('qwen3');
  symlinkSync(program.state('server-token'), path.join(program.home, 'innocent.txt'));
  const server = await startServe(t, program, [], secrets, program.home);
  const token = readFileSync(program.state('server-token'), 'utf8').trim();
  await server.settled(token, { prompt: 'look around', auto: true });
  const told = JSON.stringify(program.modelRequests().map(({ body }) => body));
  assert.ok(program.modelRequests().length > 1, 'the tools were used');
  assert.ok(!told.includes(token), 'the token was read');
  assert.ok(!told.includes('a-key-that-reads-everything'), 'a key was read');
});

test('[A86] a server shows the model of its runs: the first that can call tools if none was configured, or that of --model', async (t) => {
  const models = [
    { id: 'small', tools: false },
    { id: 'first', tools: true },
    { id: 'second', tools: true },
  ];
  const program = await createProgram(t, ({ prompt }) => `You said: ${prompt}`, { models });
  const plain = await startServe(t, program);
  assert.match(plain.process.err(), /Runs use the model first unless they name another/);
  const { outcome } = await plain.settled(key, { prompt: 'hello' });
  assert.equal(outcome?.text, 'You said: hello', JSON.stringify(outcome));
  assert.equal(getLastModel(program), 'first');
  const listed = (await plain.send(key, 'GET /v1/models'))['data'] as readonly { readonly id: string }[];
  assert.deepEqual(
    listed.map(({ id }) => id),
    ['fairlead', 'first', 'small', 'second'],
  );
  plain.process.kill('SIGTERM');
  await plain.process.ended;
  const other = await startServe(t, program, ['--model', 'second']);
  assert.match(other.process.err(), /Runs use the model second/);
  await other.settled(key, { prompt: 'hello again' });
  assert.equal(getLastModel(program), 'second');
  const wrong = await program.run(['serve', '--port', '0', '--model', 'nonsense']);
  assert.equal(wrong.code, 1);
  assert.match(wrong.err, /no model "nonsense"/);
});

test('[A97] a directory that was replaced by a link after it was allowed is not used, and limits never exceed the configured ones', async (t) => {
  let asked = 0;
  const program = await createProgram(t, () => calls('read_file', { path: `file-${asked++}` }));
  await program.seedModels('qwen3');
  mkdirSync(program.config(), { recursive: true });
  writeFileSync(program.config('config.json'), JSON.stringify({ limits: { turns: 2 } }));
  mkdirSync(path.join(program.cwd, 'inside'));
  const idle = await startServe(t, program, ['--no-worker']);
  const { run } = (await idle.send(key, 'POST /api/runs', { prompt: 'x', folder: 'inside' })) as { run: FleetRun };
  idle.process.kill('SIGTERM');
  await idle.process.ended;
  renameSync(path.join(program.cwd, 'inside'), path.join(program.cwd, 'before'));
  symlinkSync(program.home, path.join(program.cwd, 'inside'));
  const working = await startServe(t, program);
  const more = await working.settled(key, { prompt: 'x', limits: { turns: 50 } });
  assert.deepEqual([more.outcome?.reason, more.outcome?.spent.turns], ['max-turns', 2]);
  await waitUntil('the first has ended too', () => asked >= 2, 1000);
  const first = (await working.send(key, `GET /api/runs/${run.id}`))['run'] as FleetRun;
  assert.equal(first.outcome?.error?.code, 'coding-agent/wrong-folder', JSON.stringify(first));
});

test('[A97] a key file inside a directory of the runs is refused, and so is a missing directory', async (t) => {
  const program = await createProgram(t);
  writeFileSync(path.join(program.cwd, 'keys'), 'runner:a-key-for-running-things\n');
  const [open, none] = await Promise.all([
    program.run(['serve', '--port', '0', '--key-file', 'keys'], { env: { HARNESS_API_KEY: key } }),
    program.run(['serve', '--port', '0', '--folder', 'absent'], { env: { HARNESS_API_KEY: key } }),
  ]);
  assert.deepEqual([open.code, none.code], [1, 2]);
  assert.match(open.err, /could read the key file/);
});
