// The Harness class: every required method, and the known defects of similar harnesses.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { FairleadError, messageText, toArray, type ModelRequest } from '../core/index.ts';
import { calls, fails, says, scriptedProvider, type Script } from '../testing/index.ts';
import {
  Agent,
  AgentSession,
  createOutputSchema,
  defineTool,
  Harness,
  MaxTurnsExceeded,
  SessionCache,
  type HarnessOptions,
  type HarnessEvent,
} from './index.ts';

const echo = defineTool({
  name: 'echo',
  description: 'Says it back.',
  effect: 'read',
  input: { type: 'object', properties: { text: { type: 'string' } } },
  run: ({ text }) => `echo ${String(text)}`,
});

function harnessOf(
  script: Script<ModelRequest>,
  more: Partial<HarnessOptions> = {},
): { harness: Harness; requests: readonly ModelRequest[] } {
  const provider = scriptedProvider(script);
  return {
    harness: new Harness({ provider, system: 'You are a test.', tools: [echo], runDir: null, ...more }),
    requests: provider.requests,
  };
}

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-harness-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const lastUserText = (request: ModelRequest | undefined): string => {
  const tail = request ? toArray(request.messages).at(-1) : undefined;
  return tail ? messageText(tail) : '';
};

async function all<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of stream) items.push(item);
  return items;
}

test('[D1, D2, D3, D22] explicit wiring of a provider, a system prompt and tools; run returns the final text', async () => {
  const { harness, requests } = harnessOf([calls('echo', { text: 'hi' }), says('done')]);
  assert.equal(await harness.run('go'), 'done');
  assert.equal(requests.length, 2);
  assert.deepEqual(toArray(requests[1]?.messages ?? { length: 0, items: [] }).at(-1)?.parts[0], {
    type: 'tool-result',
    id: 'c00001000',
    tool: 'echo',
    text: 'echo hi',
    failed: false,
  });
});

test('[D4, D15] the system prompt has the same bytes in every request of every run', async () => {
  const { harness, requests } = harnessOf([calls('echo'), says('one'), says('two'), says('three')]);
  harness.registerReminder((turn) => `turn ${turn}`);
  await harness.run('a');
  await harness.ask('b');
  await harness.run('c');
  assert.deepEqual(new Set(requests.map((request) => request.system)), new Set(['You are a test.']));
});

test('[D7, D24] at maxTurns runResult has the status max_turns_exceeded and run and ask throw MaxTurnsExceeded', async () => {
  const script: Script<ModelRequest> = () => calls('echo');
  const { harness } = harnessOf(script, { maxTurns: 3, limits: { stuckAfter: 0 } });
  const result = await harness.runResult('go');
  assert.deepEqual([result.status, result.turns, result.stopReason], ['max_turns_exceeded', 3, null]);
  await assert.rejects(
    harness.run('go'),
    (error) => error instanceof MaxTurnsExceeded && error.turns === 3 && error.code === 'run/max-turns',
  );
  await assert.rejects(harness.ask('again'), (error) => error instanceof MaxTurnsExceeded && error.turns === 3);
  const agent = new Agent({ model: scriptedProvider(script), tools: [echo], maxTurns: 2, limits: { stuckAfter: 0 } });
  const session = new AgentSession(await agent.session());
  await assert.rejects(session.ask('go'), (error) => error instanceof MaxTurnsExceeded && error.turns === 2);
  assert.equal((await session.askResult('go')).status, 'max-turns-exceeded');
  await session.close();
  assert.throws(() => harnessOf([], { maxTurns: 0 }), /at least 1/);
});

test('[D8, D13, D17, D31] each run has its own JSONL file, created by the first run, with complete messages and no stream events', async (t) => {
  const runDir = path.join(folderOf(t), 'runs');
  const { harness } = harnessOf([says('one', { chunks: 3 }), says('two')], { runDir });
  assert.equal(harness.runFile, undefined);
  assert.equal(existsSync(runDir), false);
  await harness.run('a');
  const first = harness.runFile ?? '';
  await harness.run('b');
  const second = harness.runFile ?? '';
  await harness.close();
  assert.notEqual(first, second, 'two runs in the same second do not share a file');
  const lines = readFileSync(first, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { type?: string; message?: unknown });
  assert.deepEqual(lines.find((line) => line.type === 'turn-ended')?.message, {
    role: 'assistant',
    parts: [{ type: 'text', text: 'one' }],
  });
  assert.equal(
    lines.some((line) => /delta|part-/.test(line.type ?? '')),
    false,
  );
});

test('a session file grows by the new events of a turn, not by the whole conversation', async (t) => {
  const { harness } = harnessOf(
    (asked) => (asked.results.length < 24 ? calls('echo', { text: String(asked.results.length) }) : says('done')),
    { runDir: folderOf(t) },
  );
  await harness.run('go');
  const text = readFileSync(harness.runFile ?? '', 'utf8');
  await harness.close();
  const sizes = text
    .trim()
    .split('\n')
    .filter((line) => line.includes('"turn-ended"'))
    .map((line) => line.length);
  assert.ok(Math.max(...sizes.slice(0, 24)) - Math.min(...sizes.slice(0, 24)) < 20);
});

test('[D9] a cache can be shared; by default each harness has its own', async () => {
  const cache = new SessionCache();
  cache.put('rows', [1, 2, 3]);
  const { harness } = harnessOf([says('done')], { cache });
  const result = await harness.runResult('go');
  assert.equal(harness.cache, cache);
  assert.ok('rows' in result.cacheSnapshots);
  assert.ok('rows' in result.cacheStorage);
  assert.notEqual(harnessOf([]).harness.cache, harnessOf([]).harness.cache);
});

test('[D12, D16, D18] reminders run before each turn, in order, and their text is appended to the conversation', async () => {
  const { harness, requests } = harnessOf([calls('echo'), says('done')], { maxTurns: 9 });
  const seen: number[][] = [];
  harness.registerReminder((turn, max) => (seen.push([turn, max]), turn === 2 ? 'first' : null));
  harness.registerReminder((turn) => (turn === 2 ? 'second' : null));
  await harness.run('go');
  assert.deepEqual(seen, [
    [1, 9],
    [2, 9],
  ]);
  assert.equal(lastUserText(requests[0]), 'go');
  assert.match(lastUserText(requests[1]), /first[\s\S]*second/);
});

test('only the last turn is announced as the last, also if it is the only one', async () => {
  for (const maxTurns of [1, 3]) {
    const { harness, requests } = harnessOf(() => calls('echo'), { maxTurns, limits: { stuckAfter: 0 } });
    await harness.runResult('go');
    assert.deepEqual(
      requests.map((request) => /last turn/.test(lastUserText(request))),
      Array.from({ length: maxTurns }, (_, i) => i === maxTurns - 1),
    );
  }
});

test('a reminder that throws does not end the run', async () => {
  const { harness } = harnessOf([says('done')]);
  harness.registerReminder(() => {
    throw new Error('broken hook');
  });
  assert.equal((await harness.runResult('go')).status, 'success');
});

test('[D10, D19, D20, D23] run resets the conversation, ask continues it', async () => {
  const { harness, requests } = harnessOf([says('one'), says('two'), says('three')]);
  await harness.run('a');
  assert.equal(await harness.ask('b'), 'two');
  await harness.runResult('c');
  const texts = requests.map((request) => toArray(request.messages).map(messageText));
  assert.deepEqual(texts, [['a'], ['a', 'one', 'b'], ['c']]);
});

test('[D21] run and session ids are in the result', async () => {
  const { harness } = harnessOf([says('one'), says('two')]);
  const first = await harness.runResult('a', { runId: 'r-1', sessionId: 's-1' });
  assert.deepEqual([first.runId, first.sessionId], ['r-1', 's-1']);
  const second = await harness.askResult('b');
  assert.equal(second.sessionId, 's-1');
  assert.notEqual(second.runId, 'r-1');
});

test('[D25] run throws the provider’s error; runResult returns it, and the next request is valid', async () => {
  const { harness, requests } = harnessOf([fails('unauthorized'), fails('unauthorized'), says('back')]);
  await assert.rejects(harness.run('go'), FairleadError);
  const result = await harness.askResult('again');
  assert.deepEqual([result.status, result.reason, result.stopReason], ['error', 'provider-error', null]);
  assert.ok(result.error instanceof FairleadError);
  assert.equal(await harness.ask('once more'), 'back');
  assert.deepEqual(
    toArray(requests[2]?.messages ?? { length: 0, items: [] }).map((message) => message.role),
    ['user', 'assistant', 'user', 'assistant', 'user'],
  );
});

test('[D11, D26, D27, D28, D29, D30] a streamed run has the events of the message protocol in order, tool results between turns, and a result at the end', async () => {
  const { harness } = harnessOf([
    says('Let me see.', { chunks: 2 }).and(calls('echo', { text: 'x' })),
    says('done', { chunks: 1 }),
    says('more', { chunks: 1 }),
  ]);
  const events = await all(harness.runStream('go'));
  const types = events
    .map((event) => event.type)
    .filter((type, i, list) => type !== 'content_block_delta' || list[i - 1] !== type);
  const block = ['content_block_start', 'content_block_delta', 'content_block_stop'];
  const end = ['message_delta', 'message_stop'];
  assert.deepEqual(types, [
    'message_start',
    ...block,
    ...block,
    ...end,
    'tool_result',
    'message_start',
    ...block,
    ...end,
    'result',
  ]);
  const started = events.find(
    (event) => event.type === 'content_block_start' && event.content_block.type === 'tool_use',
  ) as { content_block: { id: string } };
  const result = events.find((event) => event.type === 'tool_result');
  assert.deepEqual(result, {
    type: 'tool_result',
    tool_use_id: started.content_block.id,
    tool_name: 'echo',
    content: 'echo x',
    is_error: false,
  });
  assert.deepEqual(
    events.filter((event) => event.type === 'message_delta').map((event) => event.delta.stop_reason),
    ['tool_use', 'end_turn'],
  );
  const followUp = await all(harness.askStream('more'));
  assert.equal((followUp.at(-1) as HarnessEvent & { type: 'result' }).result.text, 'more');
});

test('a stream whose provider fails has an error event and ends with a result that has the usage', async () => {
  const { harness } = harnessOf([calls('echo', {}), fails('unauthorized')]);
  const events = await all(harness.runStream('go'));
  assert.ok(events.some((event) => event.type === 'error'));
  const last = events.at(-1);
  assert.ok(last?.type === 'result');
  assert.equal(last.result.status, 'error');
  assert.ok(last.result.usage.inputTokens > 0);
});

test('a stream that reaches the turn limit does not end with success', async () => {
  const { harness } = harnessOf(() => calls('echo'), { maxTurns: 1 });
  const last = (await all(harness.runStream('go'))).at(-1);
  assert.equal(last?.type === 'result' ? last.result.status : '', 'max_turns_exceeded');
});

test('leaving a stream early cancels the run and keeps the conversation valid', async () => {
  const { harness } = harnessOf([says('a long answer', { chunks: 3, chunkMs: 5 }), says('fine')]);
  for await (const event of harness.runStream('go')) if (event.type === 'content_block_delta') break;
  assert.equal(harness.session?.running, false);
  assert.equal(await harness.ask('again'), 'fine');
});

test('truncation is not success, an incomplete call does not run, and the next request is valid', async () => {
  const { harness, requests } = harnessOf([
    { text: 'I will', calls: [{ tool: 'echo', raw: '{"text": "ha' }], finish: 'length' },
    says('ok'),
  ]);
  const result = await harness.runResult('go');
  assert.deepEqual([result.status, result.reason, result.stopReason], ['stopped', 'truncated', 'max-tokens']);
  assert.equal(await harness.ask('go on'), 'ok');
  assert.deepEqual(
    toArray(requests[1]?.messages ?? { length: 0, items: [] }).map((message) => message.role),
    ['user', 'assistant', 'user'],
  );
});

test('an answer that announces calls but has none adds no empty message', async () => {
  const { harness, requests } = harnessOf([{ text: '', finish: 'tool-calls' }, says('ok')]);
  assert.equal(await harness.run('go'), 'ok');
  assert.ok(requests.every((request) => toArray(request.messages).every((message) => message.parts.length > 0)));
});

test('the object of one run is never returned for the next', async () => {
  const { harness } = harnessOf([calls('keep'), says('one'), says('two')], {
    tools: [
      defineTool({
        name: 'keep',
        description: 'Keeps.',
        effect: 'read',
        input: { type: 'object' },
        run: () => (harness.cache.setAnswer(42), 'kept'),
      }),
    ],
  });
  assert.equal((await harness.runResult('a')).object, 42);
  assert.equal((await harness.askResult('b')).object, undefined);
});

test('[A110] an answer that does not match the schema is requested again, and the result has the parsed object', async () => {
  const answer = createOutputSchema({ type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] });
  const { harness, requests } = harnessOf([says('seven'), says('{"n":"seven"}'), says('{"n":7}')], {
    outputSchema: answer,
  });
  const result = await harness.runResult('how many?');
  assert.deepEqual([result.status, result.object], ['success', { n: 7 }]);
  assert.match(lastUserText(requests[1]), /does not fit/);
  const never = harnessOf(() => says('no'), { outputSchema: answer });
  assert.equal((await never.harness.runResult('how many?')).reason, 'error-threshold');
});

test('[A22] a tool call can be forced, by name or any, and a model that does not comply gets another request', async () => {
  const { harness, requests } = harnessOf([says('no'), calls('echo'), says('done')]);
  const result = await harness.runResult('go', { toolChoice: { tool: 'echo' } });
  assert.equal(result.text, 'done');
  assert.deepEqual(
    requests.map((request) => request.toolChoice),
    [{ tool: 'echo' }, { tool: 'echo' }, 'auto'],
  );
});

test('the cost of a run is known, unknown or zero', async () => {
  assert.equal((await harnessOf([says('x', { usd: 0.5 })]).harness.runResult('go')).costUsd, 0.5);
  assert.equal((await harnessOf([says('x')]).harness.runResult('go')).costUsd, 0);
  const provider = scriptedProvider([says('x')]);
  const { price: _, ...unpriced } = provider;
  assert.equal((await harnessOf([], { provider: unpriced }).harness.runResult('go')).costUsd, undefined);
});

test('a conversation that is too long for the model is compacted once, and the run continues', async () => {
  const long = (asked: { readonly results: readonly string[] }): boolean => asked.results.length >= 6;
  let refused = 0;
  const { harness, requests } = harnessOf((asked) => {
    if (!long(asked))
      return refused ? says('done') : calls('echo', { text: `${asked.results.length} ${'x'.repeat(200)}` });
    refused++;
    return fails('context-too-long');
  });
  const result = await harness.runResult('Do it.');
  assert.deepEqual([result.text, refused, result.reason], ['done', 1, 'answered']);
  assert.ok((requests.at(-1)?.messages.length ?? 0) < (requests.at(-2)?.messages.length ?? 0));
  assert.match(
    messageText(toArray(requests.at(-1)?.messages ?? { length: 0, items: [] })[0] ?? { role: 'user', parts: [] }),
    /^Do it\./,
  );
});
