// Verification over HTTP with the real program: reports, progress, roles, tenants, budgets, the kill switch, cancellation and calibrations.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import type { VerificationReport } from '../src/checks/index.ts';
import { isObject, type FleetRun, type JsonObject } from '../src/core/index.ts';
import { createProgram, waitUntil, type TestProgram } from './support/cli-harness.ts';
import { respondAsModel, type ScriptedModelOptions } from './support/scripted-judges.ts';

const keys = {
  operator: 'a-key-that-operates-all',
  reader: 'a-key-that-only-reads',
  acme: 'a-key-of-acme-that-runs',
  bolt: 'a-key-of-bolt-that-reads',
};

const models = ['qwen3', 'llama3.2', 'mistral-small', 'gemma3'].map((id) => ({ id, tools: true, context: 32_768 }));

type Reply = {
  readonly status: number;
  readonly run?: FleetRun;
  readonly report?: VerificationReport;
  readonly progress?: { readonly stage: string };
  readonly error?: { readonly message: string };
  readonly stream?: string;
  readonly calibrations?: readonly {
    readonly model: string;
    readonly curve: { readonly points: readonly unknown[] };
  }[];
  readonly problems?: readonly string[];
};

type Served = {
  readonly program: TestProgram;
  readonly url: string;
  readonly send: (request: string, body?: unknown, as?: keyof typeof keys) => Promise<Reply>;
};

function readSystem(body: JsonObject): string {
  const messages = Array.isArray(body['messages']) ? body['messages'] : [];
  const system = messages.find((message) => isObject(message) && message['role'] === 'system');
  return isObject(system) ? String(system['content']) : '';
}

/** Starts the server with models of four families; `qwen3` is the default. `held` keeps back what the models say. */
async function startVerifyServer(
  t: TestContext,
  script: Readonly<Record<string, ScriptedModelOptions>> = {},
  held: () => Promise<unknown> = async () => undefined,
): Promise<Served> {
  const program = await createProgram(
    t,
    async ({ model, prompt, body }) => {
      await held();
      return respondAsModel(script[model] ?? {}, readSystem(body), prompt);
    },
    { models },
  );
  await program.seedModels('qwen3');
  const env = {
    HARNESS_API_KEY: keys.operator,
    HARNESS_API_KEYS: `reader:${keys.reader},runner@acme:${keys.acme},reader@bolt:${keys.bolt}`,
  };
  const process = program.start(['serve', '--port', '0'], { env });
  t.after(() => process.kill('SIGKILL'));
  await waitUntil('it listens', () => /Listening at \S+\n/.test(process.err()), 30_000);
  const url = /Listening at (\S+)/.exec(process.err())?.[1] ?? '';
  return {
    program,
    url,
    async send(request, body, as = 'operator') {
      const [method = 'GET', address = '/'] = request.split(' ');
      const answer = await fetch(url + address, {
        method,
        headers: { authorization: `Bearer ${keys[as]}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: answer.status, ...((await answer.json()) as Omit<Reply, 'status'>) };
    },
  };
}

const question = 'On which port does the rover listen?';
const guide = {
  name: 'guide.md',
  text: 'The rover listens on port 8080 by default.\nThe battery lasts for 14 hours.\n',
};
const answer = 'The rover listens on port 8080 by default. The battery lasts for 15 hours.';

test('[A90] [A33] POST /api/verify responds with a report: supported claims cite the document, false ones are struck out', async (t) => {
  const { send } = await startVerifyServer(t);
  const { status, report, run } = await send('POST /api/verify?wait=60', { question, answer, documents: [guide] });
  assert.equal(status, 200);
  assert.ok(report, JSON.stringify(run));
  assert.equal(report.outcome, 'verified', report.why);
  const [first, second] = report.claims;
  assert.equal(first?.verdict.type, 'supported');
  assert.notEqual(second?.verdict.type, 'supported');
  assert.match(report.answer, /8080 by default\. \[1\] ~~The battery lasts for 15 hours\.~~/);
  assert.deepEqual(report.citations[0]?.evidence.source, { type: 'given', name: 'guide.md' });
  assert.ok(report.spent.requests > 0 && report.spent.ms >= 0);
  assert.deepEqual([run?.kind, run?.outcome?.reason, run?.outcome?.text], ['verify', 'answered', report.answer]);
  const again = await send(`GET /api/verify/${run?.id}`, undefined, 'reader');
  assert.deepEqual([again.status, again.report], [200, report]);
});

test('[A90] without an answer the model answers, and models of other families agree or the result is an abstention', async (t) => {
  const capital = 'Canberra is the capital of Australia.';
  const says = (text: string): ScriptedModelOptions => ({ answer: () => text });
  const honest = {
    qwen3: says(capital),
    'llama3.2': says(capital),
    'mistral-small': says(capital),
    gemma3: says(capital),
  };
  const agreed = await startVerifyServer(t, honest);
  const body = { prompt: 'What is the capital of Australia?' };
  const verified = await agreed.send('POST /api/verify?wait=60', body);
  assert.equal(verified.report?.outcome, 'verified', verified.report?.why);
  const strict = await agreed.send('POST /api/verify?wait=60', { ...body, maxErrorRate: 0.05 });
  assert.deepEqual([strict.report?.outcome, strict.run?.outcome?.text], ['abstained', '']);
  assert.match(strict.report?.why ?? '', /Not calibrated/);
  const disputed = await startVerifyServer(t, { ...honest, qwen3: says('Sydney is the capital of Australia.') });
  const refused = await disputed.send('POST /api/verify?wait=60', body);
  assert.deepEqual([refused.run?.outcome?.reason, refused.run?.outcome?.text], ['abstained', '']);
  assert.match(refused.report?.answer ?? '', /~~Sydney is the capital of Australia\.~~/);
});

test('[A90] roles, tenants and wrong requests are refused as on other routes', async (t) => {
  const { send } = await startVerifyServer(t);
  const body = { question, answer, documents: [guide] };
  assert.equal((await send('POST /api/verify', body, 'reader')).status, 403);
  assert.equal((await send('POST /api/verify', body, 'bolt')).status, 403);
  const own = await send('POST /api/verify?wait=60', body, 'acme');
  assert.deepEqual([own.status, own.run?.tenant, own.report?.outcome], [200, 'acme', 'verified']);
  assert.equal((await send(`GET /api/verify/${own.run?.id}`, undefined, 'bolt')).status, 404);
  assert.equal((await send(`GET /api/verify/${own.run?.id}`, undefined, 'acme')).status, 200);
  for (const [wrong, message] of [
    [{ answer }, /needs a `question`/],
    [{ question, quorum: 0 }, /quorum/],
    [{ question, maxErrorRate: 1 }, /maxErrorRate/],
    [{ question, samples: 3 }, /samples/],
    [{ question, documents: [{ text: 'x' }] }, /documents/],
    [{ question, judgez: [] }, /"judgez"/],
  ] as const) {
    const { status, error } = await send('POST /api/verify', wrong);
    assert.equal(status, 400, JSON.stringify(wrong));
    assert.match(error?.message ?? '', message);
  }
  const unknown = await send('POST /api/verify?wait=60', { ...body, judges: ['no-such-provider/none'] });
  assert.notEqual(unknown.run?.outcome?.reason, 'answered');
  assert.equal(unknown.report, undefined);
});

test('[A90] a budget that does not reach, of the run or of the tenant, never gives a verified answer', async (t) => {
  const capital = { answer: (): string => 'Canberra is the capital of Australia.' };
  const { send } = await startVerifyServer(t, Object.fromEntries(models.map(({ id }) => [id, capital])));
  const body = { question: 'What is the capital of Australia?' };
  const short = await send('POST /api/verify?wait=60', { ...body, limits: { turns: 1 } });
  assert.deepEqual([short.report?.outcome, short.run?.outcome?.reason], ['abstained', 'abstained']);
  assert.match(short.report?.why ?? '', /budget does not reach/);
  const enough = await send('POST /api/verify?wait=60', body, 'acme');
  assert.equal(enough.report?.outcome, 'verified', enough.report?.why);
  await send('PUT /api/budgets/acme', { period: 'day', tokens: 10 });
  const poor = await send('POST /api/verify?wait=60', body, 'acme');
  assert.notEqual(poor.report?.outcome, 'verified');
  assert.deepEqual([poor.run?.outcome?.reason, poor.run?.outcome?.text], ['abstained', '']);
  assert.match(poor.report?.why ?? '', /acme may use 10 tokens a day/);
});

test('[A90] progress is in the event stream while it works, and a verification can be cancelled', async (t) => {
  const release = Promise.withResolvers<void>();
  t.after(() => release.resolve());
  const { send, url } = await startVerifyServer(t, {}, () => release.promise);
  const body = { question, answer: 'The rover is a machine. It listens on some port or other.', documents: [guide] };
  const { run, status, stream } = await send('POST /api/verify', body);
  assert.equal(status, 202);
  const stop = new AbortController();
  const events = await fetch(url + String(stream), {
    headers: { authorization: `Bearer ${keys.operator}` },
    signal: stop.signal,
  });
  let seen = '';
  for await (const chunk of events.body ?? []) {
    seen += Buffer.from(chunk as Uint8Array).toString('utf8');
    if (seen.includes('"progress"')) break;
  }
  stop.abort();
  assert.match(seen, /"stage":"/);
  const during = await send(`GET /api/verify/${run?.id}`);
  assert.deepEqual([typeof during.progress?.stage, during.report], ['string', undefined]);
  await send(`POST /api/runs/${run?.id}/cancel`);
  await waitUntilEnded(send, run?.id ?? '');
  const ended = await send(`GET /api/verify/${run?.id}`);
  assert.deepEqual([ended.run?.outcome?.reason, ended.report], ['cancelled', undefined]);
});

async function waitUntilEnded(send: Served['send'], id: string): Promise<void> {
  let run: FleetRun | undefined;
  for (let i = 0; i < 400 && run?.status !== 'ended'; i++) {
    ({ run } = await send(`GET /api/runs/${id}`));
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.equal(run?.status, 'ended');
}

test('[A90] a stopped fleet verifies nothing until it is resumed', async (t) => {
  const { send } = await startVerifyServer(t);
  await send('POST /api/kill-switch', { stopped: true, reason: 'test' });
  const { run } = await send('POST /api/verify?wait=1', { question, answer, documents: [guide] });
  assert.notEqual(run?.status, 'ended');
  await send('POST /api/kill-switch', { stopped: false });
  await waitUntilEnded(send, run?.id ?? '');
  assert.equal((await send(`GET /api/verify/${run?.id}`)).report?.outcome, 'verified');
});

test('[A46] GET /api/calibrations has the stored calibrations with their curves; a damaged file is named to keys without a tenant only', async (t) => {
  const { send, program } = await startVerifyServer(t);
  assert.deepEqual((await send('GET /api/calibrations')).calibrations, []);
  const labels = path.join(program.cwd, 'labels.jsonl');
  const lines = Array.from({ length: 300 }, (_, i) => JSON.stringify({ confidence: 1 - i / 300, correct: i < 200 }));
  writeFileSync(labels, lines.join('\n'));
  assert.equal((await program.run(['verify', 'calibrate', labels, '--model', 'qwen3'])).code, 0);
  writeFileSync(program.data('calibrations', 'x.json'), '{');
  const { calibrations = [], problems = [] } = await send('GET /api/calibrations', undefined, 'reader');
  assert.equal(calibrations.length, 1);
  assert.ok((calibrations[0]?.curve.points.length ?? 0) > 10);
  assert.match(problems.join(), /x\.json is damaged/);
  assert.deepEqual((await send('GET /api/calibrations', undefined, 'bolt')).problems, []);
});
