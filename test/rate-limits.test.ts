// Rate limits of the settings: used by the program, and a wait for them is told in every kind of output.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import test, { type TestContext } from 'node:test';
import { formatRetryNotice, parseRetryNotice } from '../src/core/index.ts';
import { calls, fails } from '../src/testing/index.ts';
import { createProgram, type TestProgram } from './support/cli-harness.ts';
import { createFleetProgram } from './support/fleet-program.ts';

/** A program whose config has rate limits, and whose model calls a tool before it answers. */
async function createLimitedProgram(t: TestContext, rateLimits: unknown): Promise<TestProgram> {
  const program = await createProgram(t);
  await program.seedModels('qwen3');
  mkdirSync(program.config(), { recursive: true });
  writeFileSync(program.config('config.json'), JSON.stringify({ rateLimits }));
  program.server.setScript([calls('list_files', { path: '.' }), 'Done.']);
  return program;
}

// The requests of ten seconds may be sent at once, and at least one.
const limits = [
  { provider: 'ollama', requestsPerMinute: 1000 },
  { tenant: '*', tokensPerMinute: 1_000_000 },
  { provider: 'ollama', model: 'qwen3', requestsPerMinute: 8 },
];

test('[A56] a wait for a rate limit of the settings is told on standard error, and the run goes on by itself', async (t) => {
  const program = await createLimitedProgram(t, limits);
  const { code, out, err } = await program.run(['-p', 'x']);
  assert.deepEqual([code, out], [0, 'Done.\n'], err);
  assert.match(err, /^Rate limited \(8 requests per minute\), sending in \d+ s\.$/m);
});

test('[A56] stream-json tells the wait as a retry event that is held', async (t) => {
  const program = await createLimitedProgram(t, limits);
  const { out } = await program.run(['-p', 'x', '--output-format', 'stream-json']);
  const events = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const held = events.find(({ type }) => type === 'retry');
  assert.deepEqual(
    [held?.['held'], held?.['code'], held?.['reason']],
    [true, 'provider/rate-limited', '8 requests per minute'],
  );
  assert.ok(Number(held?.['wait_ms']) >= 1000);
  assert.equal(events.at(-1)?.['result'], 'Done.');
});

test('[A56] a wrong rate limit is an error of one sentence before any request', async (t) => {
  const program = await createLimitedProgram(t, [{ provider: 'ollama', requestsPerMinute: 'many' }]);
  const { code, err } = await program.run(['-p', 'x']);
  assert.notEqual(code, 0);
  assert.match(
    err,
    /requestsPerMinute of Limit 1 of rateLimits in .*config\.json must be a number above 0, not "many"\./,
  );
  assert.equal(program.modelRequests().length, 0);
});

test('[A56] a queued run rests while its provider is limited for an hour: no worker waits, and the list of runs says until when', async (t) => {
  const program = await createProgram(t);
  await program.seedModels('qwen3');
  program.server.setScript([fails({ name: 'rate-limited', afterMs: 3_600_000 }), 'Done.']);
  assert.equal((await program.run(['enqueue', 'x', '--id', 'r1'])).code, 0);
  const { out, err } = await program.run(['worker', '--drain']);
  assert.match(out + err, /r1 {2}rests until [\d: -]+: rate limited/);
  assert.match((await program.run(['runs'])).out, /^r1 +rests until [\d: -]+: rate limited/m);
  assert.match((await program.run(['runs', 'show', 'r1'])).out, /^status +queued, rests until/m);
  assert.equal(program.modelRequests().length, 1);
});

test('[A56] the rate limit of a tenant holds its run in a worker and tells the wait, while the run of another tenant continues', async (t) => {
  const program = await createFleetProgram(t, ({ results }) =>
    results.length === 0 ? calls('list_files', { path: '.' }) : 'Done.',
  );
  mkdirSync(program.config(), { recursive: true });
  const rateLimits = [{ tenant: 'acme', requestsPerMinute: 1 }];
  writeFileSync(program.config('config.json'), JSON.stringify({ rateLimits }));
  await program.enqueue(
    { id: 'held', prompt: 'For acme.', tenant: 'acme' },
    { id: 'free', prompt: 'For bolt.', tenant: 'bolt' },
  );
  const worker = program.worker();
  const { outcome } = await program.waitForRun('free', 'ended');
  assert.deepEqual([outcome?.reason, outcome?.text], ['answered', 'Done.']);

  // The notice is an event of the session: a client that follows the run shows it while it waits.
  const reader = await program.store.sessions.reader('held');
  t.after(() => reader.close());
  let notice = '';
  for await (const event of reader.follow(0, AbortSignal.timeout(30_000))) {
    const retry = parseRetryNotice(event);
    notice = retry ? formatRetryNotice(retry) : '';
    if (notice !== '') break;
  }
  assert.match(notice, /^Rate limited \(1 requests? per minute\), sending in \d+ s\.$/);
  assert.equal((await program.store.queue.run('held'))?.status, 'running');
  const sent = program.modelRequests().map(({ body }) => JSON.stringify(body));
  assert.deepEqual(
    ['acme', 'bolt'].map((tenant) => sent.filter((each) => each.includes(`For ${tenant}.`)).length),
    [1, 2],
  );

  // A worker that stops does not wait for the limit; another one continues the run.
  worker.kill('SIGTERM');
  await worker.ended;
  assert.equal((await program.store.queue.run('held'))?.status, 'queued');
});
