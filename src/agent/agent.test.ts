// The public API: agents, streams, sessions, approvals and typed output.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import * as z from 'zod';
import { FairleadError, type Gate, type ResolvedAgent, type SessionStore } from '../core/index.ts';
import { jsonlSessions } from '../stores/index.ts';
import { calls, fails, says, scriptedProvider, scriptedServer } from '../testing/index.ts';
import { Agent, AgentSession, fileSession, MaxTurnsExceeded, RunStream, tool, type RunResult } from './index.ts';

function createDir(t: TestContext): string {
  const dir = mkdtempSync(path.join(tmpdir(), 'fairlead-agent-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

async function collect<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of stream) items.push(item);
  return items;
}

test('[D1] run returns a result with one style of keys and values', async () => {
  const agent = new Agent({ model: scriptedProvider([says('one', { usd: 0.5 })]), name: 'clerk' });
  const result = await agent.run('a');
  assert.equal(agent.name, 'clerk');
  assert.deepEqual(Object.keys(result).toSorted(), [
    'costUsd',
    'detail',
    'error',
    'object',
    'pendingApprovals',
    'reason',
    'runId',
    'sessionId',
    'status',
    'stopReason',
    'text',
    'turns',
    'unconfirmedClaims',
    'usage',
  ]);
  assert.deepEqual(
    [result.text, result.status, result.reason, result.stopReason, result.costUsd, result.turns],
    ['one', 'success', 'answered', 'end-turn', 0.5, 1],
  );
  assert.ok(result.usage.inputTokens > 0);
  assert.deepEqual(Object.keys(result.usage).toSorted().slice(0, 4), [
    'cacheReadTokens',
    'cacheWriteTokens',
    'inputTokens',
    'outputTokens',
  ]);
});

test('a run at its turn limit has the status max-turns-exceeded, and ask throws MaxTurnsExceeded', async () => {
  const look = tool({ name: 'look', description: 'Looks.', inputSchema: { type: 'object' }, execute: () => 'seen' });
  const agent = new Agent({ model: scriptedProvider(() => calls('look')), tools: [look], maxTurns: 2 });
  assert.equal((await agent.run('go')).status, 'max-turns-exceeded');
  assert.equal((await agent.run('go', { limits: { turns: 1 } })).turns, 1);
  await using session = new AgentSession(await agent.session());
  await assert.rejects(session.ask('go'), (error) => error instanceof MaxTurnsExceeded && error.turns === 2);
  assert.throws(() => new Agent({ model: 'a/b', maxTurns: 0 }), /at least 1/);
});

test('stream gives the events, the text and the result of one run', async () => {
  const script = (): ReturnType<typeof scriptedProvider> => scriptedProvider([says('one two', { chunks: 2 })]);
  const stream = new Agent({ model: script() }).stream('a');
  assert.ok(stream instanceof RunStream);
  const events = await collect(stream);
  assert.equal(events[0]?.type, 'message_start');
  const last = events.at(-1);
  assert.ok(last?.type === 'result');
  assert.equal(last.result, await stream.result);
  assert.equal((await stream.result).text, 'one two');
  await assert.rejects(collect(stream), (error) => error instanceof FairleadError && error.code === 'stream/consumed');
  const parts = await collect(new Agent({ model: script() }).stream('a').textStream);
  assert.ok(parts.length > 1);
  assert.equal(parts.join(''), 'one two');
  assert.equal((await new Agent({ model: script() }).stream('a').result).text, 'one two', 'no event has to be read');
});

test('leaving a stream early cancels its run', async () => {
  const stream = new Agent({ model: scriptedProvider([says('a long answer', { chunks: 3, chunkMs: 5 })]) }).stream('a');
  for await (const text of stream.textStream) if (text) break;
  assert.equal((await stream.result).reason, 'cancelled');
});

test('a stream whose agent cannot be resolved rejects where it is read', async () => {
  const missing = new Agent({ model: 'scripted/nosuch.json' });
  const isNoScript = (error: unknown): boolean => error instanceof FairleadError && error.code === 'provider/no-script';
  await assert.rejects(collect(missing.stream('hi')), isNoScript);
  await assert.rejects(missing.stream('hi').result, isNoScript);
});

test('an agent writes no file to the working directory', async (t) => {
  const dir = createDir(t);
  const before = process.cwd();
  process.chdir(dir);
  try {
    const agent = new Agent({ model: scriptedProvider([says('one'), says('two')]) });
    await agent.run('a');
    await using session = await agent.session();
    await session.run('b');
    assert.deepEqual(readdirSync(dir), []);
  } finally {
    process.chdir(before);
  }
});

test('a session continues in memory, forks, and counts its turns', async () => {
  const agent = new Agent({ model: scriptedProvider(({ body }) => says(`${body.messages.length} messages`)) });
  await using session = await agent.session({ id: 's-1' });
  assert.equal(session.id, 's-1');
  assert.equal((await session.run('a')).text, '1 messages');
  await using fork = await session.fork();
  assert.equal((await session.run('b')).text, '3 messages');
  assert.equal((await fork.run('c')).text, '3 messages');
  const texts = new AgentSession(session);
  assert.equal(await texts.ask('d'), '5 messages');
  assert.equal(texts.turns, 3);
});

test('a fork in a store continues under its id', async (t) => {
  const store = jsonlSessions(createDir(t));
  const agent = new Agent({ model: scriptedProvider(({ body }) => says(`${body.messages.length} messages`)) });
  await using session = await agent.session({ store, id: 'first' });
  await session.run('a');
  const fork = await session.fork({ store, id: 'second' });
  await fork.close();
  await using again = await agent.session({ store, id: 'second' });
  assert.equal((await again.run('b')).text, '3 messages');
  await assert.rejects(session.fork({ store, id: 'first' }), { code: 'store/locked' });
});

test('a session in a file continues in another agent; a wrong id is refused and the file is released', async (t) => {
  const file = path.join(createDir(t), 'deep', 'chat.jsonl');
  const agent = (): Agent => new Agent({ model: scriptedProvider(({ body }) => says(`${body.messages.length}`)) });
  const first = await agent().session({ store: fileSession(file), id: 'chat' });
  await first.run('a');
  await first.close();
  assert.equal(existsSync(file), true);
  await assert.rejects(
    agent().session({ store: fileSession(file), id: 'other' }),
    (error) => error instanceof FairleadError && error.code === 'session/other-id',
  );
  await using second = await agent().session({ store: fileSession(file) });
  assert.equal(second.id, 'chat');
  assert.equal((await second.run('b')).text, '3');
});

test('any SessionStore can store a session', async (t) => {
  const store: SessionStore = jsonlSessions(createDir(t));
  const agent = new Agent({ model: scriptedProvider([says('one'), says('two')]) });
  const session = await agent.session({ store, id: 'kept' });
  await session.run('a');
  await session.close();
  await using again = await agent.session({ store, id: 'kept' });
  await again.run('b');
  assert.equal(again.messages.length, 4);
});

test('[A1, P9] a model is opened by name, behind the gateway, and a list falls back from one to the next', async () => {
  await using down = await scriptedServer(() => fails(503));
  await using up = await scriptedServer(() => says('up'));
  const ref = (url: string) => ({ provider: 'openai-compatible', model: 'm', baseUrl: `${url}/v1` });
  const agent = new Agent({
    model: [ref(down.url), ref(up.url)],
    gateway: { retry: { retries: 1, baseMs: 1, jitterMs: 0 } },
  });
  assert.equal((await agent.run('hi')).text, 'up');
  assert.equal(down.requests.length, 2);
});

test('scripted and replay models are opened by name: a file of answers, and a session file', async (t) => {
  const dir = createDir(t);
  const script = path.join(dir, 'answers.json');
  const file = path.join(dir, 'session.jsonl');
  writeFileSync(script, JSON.stringify(['Hello.']));
  const session = await new Agent({ model: `scripted/${script}` }).session({ store: fileSession(file) });
  assert.equal((await session.run('hi')).text, 'Hello.');
  await session.close();
  assert.equal((await new Agent({ model: `replay/${file}` }).run('hi')).text, 'Hello.');
});

test('extensions add tools, gates and reminders', async () => {
  const gated: string[] = [];
  const gate: Gate = (call) => (gated.push(call.tool), { type: 'allow' });
  const look = tool({
    name: 'look',
    description: 'Looks.',
    effect: 'read',
    inputSchema: z.object({ n: z.number().default(7) }),
    execute: ({ n }) => `saw ${n}`,
  });
  const agent = new Agent({
    model: scriptedProvider([calls('look', {}), says('done')]),
    extensions: [{ tools: [look] }, { gates: [gate], reminders: [() => 'careful'] }],
  });
  assert.equal((await agent.run('go')).text, 'done');
  assert.deepEqual(gated, ['look']);
});

test('[A110] outputSchema of the agent types result.object, with the transforms of its library', async () => {
  const agent = new Agent({
    model: scriptedProvider([says('{"day": "2020-01-02"}'), says('{"day": "2021-01-02"}')]),
    outputSchema: z.object({ day: z.string().transform((text) => new Date(text)), count: z.number().default(1) }),
  });
  const { object } = await agent.run('when?');
  const year: number | undefined = object?.day.getUTCFullYear();
  assert.deepEqual([year, object?.count], [2020, 1]);
  await using session = await agent.session();
  assert.equal((await session.run('and then?')).object?.day.getUTCFullYear(), 2021);
});

test('[A110] outputSchema of a run replaces that of the agent, as zod or as JSON Schema', async () => {
  const agent = new Agent({ model: scriptedProvider([says('nine'), says('{"n": 9}'), says('{"name": "Ada"}')]) });
  const first = await agent.run('n?', { outputSchema: z.object({ n: z.number() }) });
  const n: number | undefined = first.object?.n;
  assert.deepEqual([n, first.turns], [9, 2], 'an answer that does not match is requested again');
  const second = await agent.stream('who?', {
    outputSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  }).result;
  const name: string | undefined = second.object?.name;
  assert.equal(name, 'Ada');
});

const payments: number[] = [];
const pay = tool({
  name: 'pay',
  description: 'Pays.',
  inputSchema: z.object({ usd: z.number() }),
  needsApproval: ({ usd }) => usd > 10,
  execute: ({ usd }) => `paid ${payments.push(usd)}`,
});
const payer = (...amounts: readonly number[]): Agent => {
  payments.length = 0;
  const [first = 0, ...others] = amounts;
  const call = others.reduce((all, usd) => all.and(calls('pay', { usd })), calls('pay', { usd: first }));
  return new Agent({
    model: scriptedProvider(({ results }) => (results.length ? says(results.join('; ')) : call)),
    tools: [pay],
  });
};

test('onApproval decides about each call that needs approval, and about no other', async () => {
  const asked: unknown[] = [];
  const { text, status } = await payer(5, 20, 30).run('go', {
    onApproval: ({ id, tool: name, input, question }) => {
      asked.push([name, input]);
      assert.match(question, /^Run pay with \{"usd":/);
      assert.notEqual(id, '');
      return (input as { usd: number }).usd < 25;
    },
  });
  assert.deepEqual(asked, [
    ['pay', { usd: 20 }],
    ['pay', { usd: 30 }],
  ]);
  assert.deepEqual(payments, [5, 20]);
  assert.equal(status, 'success');
  assert.match(text, /Denied by user/);
});

test('a decision can give its reason to the model and its source to the log', async () => {
  const agent = payer(20);
  await using session = await agent.session();
  const { text } = await session.run('go', {
    onApproval: async () => ({ approved: false, reason: 'too much', by: 'ada' }),
  });
  assert.match(text, /Denied by user: too much/);
  const resolved = [];
  for await (const events of session.log.read())
    resolved.push(...events.filter((event) => event.type === 'approval-resolved'));
  assert.deepEqual(
    resolved.map(({ by, reason }) => [by, reason]),
    [['ada', 'too much']],
  );
});

test('a call that is left undecided stays pending and is asked about once in a run', async () => {
  let asked = 0;
  await using session = await payer(20, 30).session();
  const waiting = await session.run('go', {
    onApproval: ({ input }) => (asked++, (input as { usd: number }).usd === 30 ? true : undefined),
  });
  assert.deepEqual([waiting.status, asked, payments.length], ['waiting', 2, 1]);
  assert.deepEqual(
    waiting.pendingApprovals.map(({ tool: name, input }) => [name, input]),
    [['pay', { usd: 20 }]],
  );
});

test('without a handler the run waits; any process that opens the session approves or rejects, and run() resumes', async (t) => {
  const store = fileSession(path.join(createDir(t), 'pay.jsonl'));
  const agent = payer(20, 30);
  const first = await agent.session({ store });
  const waiting = await first.run('go');
  assert.deepEqual([waiting.status, waiting.reason, waiting.pendingApprovals.length], ['waiting', 'waiting', 2]);
  await first.close();
  assert.deepEqual(payments, []);

  await using second = await agent.session({ store });
  const [one, two] = waiting.pendingApprovals;
  await second.approve(one?.id ?? '');
  await second.reject(two?.id ?? '', 'not now');
  await assert.rejects(second.approve('nosuch'), /No approval is pending/);
  const result: RunResult = await second.run();
  assert.deepEqual([result.status, result.runId, payments], ['success', waiting.runId, [20]]);
  assert.match(result.text, /not now/);
});

test('fromResolved resolves once, retries after a failure, and closes what was opened', async () => {
  let resolves = 0;
  let closes = 0;
  const { provider, ...rest } = await new Agent({ model: scriptedProvider([says('one'), says('two')]) }).resolve();
  const agent = Agent.fromResolved({
    resolve: async (): Promise<ResolvedAgent> => {
      if (resolves++ === 0) throw new Error('not yet');
      return { ...rest, provider };
    },
    close: async () => void closes++,
  });
  await agent.close();
  assert.equal(closes, 0, 'nothing was opened');
  await assert.rejects(agent.run('a'), /not yet/);
  assert.deepEqual([(await agent.run('a')).text, (await agent.run('b')).text, resolves], ['one', 'two', 2]);
  await agent.close();
  await agent.close();
  assert.equal(closes, 1);
});
