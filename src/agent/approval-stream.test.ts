// Streams and approvals: a stream that ends with the status `waiting` continues as a stream, on every class.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import * as z from 'zod';
import type { ModelRequest } from '../core/index.ts';
import { memoryLog, openJsonl } from '../stores/index.ts';
import { calls, says, scriptedProvider, type Script } from '../testing/index.ts';
import { Agent, AgentSession, Harness, tool, toolGate, type HarnessEvent, type StreamEvent } from './index.ts';

const payTool = (paid: number[]) =>
  tool({
    name: 'pay',
    description: 'Pays.',
    inputSchema: z.object({ usd: z.number(), note: z.string().default('none') }),
    needsApproval: true,
    execute: ({ usd }) => `paid ${paid.push(usd)}`,
  });

const script: Script<ModelRequest> = [calls('pay', { usd: 40 }), says('Paid.')];

async function collect<T>(events: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const event of events) all.push(event);
  return all;
}

const summarize = (events: readonly (StreamEvent | HarnessEvent)[]): string =>
  [...new Set(events.map(({ type }) => type))].join(' ');

function resultOf<E extends StreamEvent | HarnessEvent>(
  events: readonly E[],
): Extract<E, { type: 'result' }>['result'] {
  const last = events.at(-1);
  assert.equal(last?.type, 'result');
  return (last as Extract<E, { type: 'result' }>).result;
}

test('[D28] a stream that waits for an approval continues as a stream with the same events, the tool name and a result', async () => {
  const paid: number[] = [];
  const agent = new Agent({ model: scriptedProvider(script), tools: [payTool(paid)] });
  await using session = await agent.session();
  const first = session.stream('Pay Ada.');
  const asked = resultOf(await collect(first));
  assert.deepEqual([asked.status, asked.pendingApprovals.length, paid], ['waiting', 1, []]);
  for (const { id } of asked.pendingApprovals) await session.approve(id, { by: 'Ann' });

  const second = session.stream();
  const events = await collect(second);
  const result = resultOf(events);
  assert.equal(
    summarize(events),
    'tool_result message_start content_block_start content_block_delta content_block_stop message_delta message_stop result',
  );
  const toolResult = events.find((event) => event.type === 'tool_result');
  assert.deepEqual([toolResult?.tool_name, toolResult?.is_error], ['pay', false]);
  assert.deepEqual([result.status, result.text, result.turns, paid], ['success', 'Paid.', 2, [40]]);
  assert.equal(result.runId, asked.runId, 'it is the same run');
  assert.equal(await second.result, result);
});

test('the same on AgentSession and Harness, with pendingApprovals, approve and reject', async () => {
  const paid: number[] = [];
  const tools = [payTool(paid)];
  const session = new AgentSession(await new Agent({ model: scriptedProvider(script), tools }).session());
  const harness = new Harness({ provider: scriptedProvider(script), system: 'Pay.', tools, runDir: null });
  await assert.rejects(harness.approve('c1'), { code: 'harness/no-session' });
  for (const conversation of [session, harness]) {
    assert.equal(
      resultOf(await collect<StreamEvent | HarnessEvent>(conversation.askStream('Pay Ada.'))).status,
      'waiting',
    );
    const [pending] = conversation.pendingApprovals;
    await conversation.approve(pending?.id ?? '');
    const events = await collect<StreamEvent | HarnessEvent>(conversation.askStream());
    assert.equal(resultOf(events).text, 'Paid.');
    assert.equal(events.find((event) => event.type === 'tool_result')?.tool_name, 'pay');
    assert.deepEqual(conversation.pendingApprovals, []);
    await conversation.close();
  }
  assert.deepEqual(paid, [40, 40]);

  const refusing = new Harness({ provider: scriptedProvider(script), system: 'Pay.', tools, runDir: null });
  const [pending] = (await refusing.runResult('Pay Ada.')).pendingApprovals;
  await refusing.reject(pending?.id ?? '', 'Ask Bob first.');
  const answered = await refusing.askResult();
  assert.equal(answered.status, 'success');
  assert.match(JSON.stringify(refusing.session?.messages), /Ask Bob first/);
  assert.deepEqual(paid, [40, 40], 'a rejected call does not run');
});

test('onApproval decides within a stream', async () => {
  const paid: number[] = [];
  const agent = new Agent({ model: scriptedProvider(script), tools: [payTool(paid)] });
  const events = await collect(agent.stream('Pay Ada.', { onApproval: ({ tool: name }) => name === 'pay' }));
  assert.deepEqual([resultOf(events).text, paid], ['Paid.', [40]]);
});

test('empty input is refused before anything is recorded, on every method that takes input', async (t) => {
  const provider = scriptedProvider([]);
  const agent = new Agent({ model: provider });
  await using session = await agent.session();
  const before = session.state.seq;
  const convenience = new AgentSession(session);
  const harness = new Harness({ provider, system: 'Pay.', runDir: createDir(t) });
  const attempts: readonly (() => Promise<unknown>)[] = [
    () => agent.run(''),
    () => collect(agent.stream(' \n')),
    () => session.run([]),
    () => session.run([{ type: 'text', text: '' }]),
    () => collect(session.stream('')),
    () => session.steer(''),
    () => session.followUp(' '),
    () => convenience.ask(''),
    () => collect(convenience.askStream('')),
    () => harness.run(''),
    () => collect(harness.runStream('')),
  ];
  for (const attempt of attempts) await assert.rejects(attempt(), { code: 'session/empty-input' });
  assert.equal(session.state.seq, before);
  assert.equal(harness.runFile, undefined, 'no file is begun');
  assert.equal(provider.requests.length, 0);
});

function createDir(t: TestContext): string {
  const dir = mkdtempSync(path.join(tmpdir(), 'fairlead-opened-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

test('[D17] run uses a log that was opened and is empty, and refuses one that has a conversation', async (t) => {
  const dir = createDir(t);
  const file = path.join(dir, 'own.jsonl');
  const runDir = path.join(dir, 'runs');
  const provider = scriptedProvider([says('one'), says('two'), says('three')]);
  const harness = new Harness({ provider, system: 'x', runDir });
  await harness.open(await openJsonl(file), file);
  const result = await harness.runResult('a');
  assert.deepEqual([result.text, result.runFile], ['one', file]);
  for (const attempt of [() => harness.run('b'), () => harness.runResult('b'), () => collect(harness.runStream('b'))])
    await assert.rejects(attempt(), { code: 'harness/log-in-use' });
  assert.equal(await harness.ask('c'), 'two');
  await harness.close();
  assert.notEqual((await harness.runResult('d')).runFile, file, 'after close, run begins a file in runDir');
  await harness.close();

  const again = new Harness({ provider: scriptedProvider([says('four')]), system: 'x', runDir });
  await again.open(await openJsonl(file), file);
  assert.equal(again.session?.messages.length, 4);
  await assert.rejects(again.run('b'), /The log that was opened has a conversation/);
  assert.equal(await again.ask('e'), 'four');
  await again.close();
});

test('a run that is started before open has ended still writes to the opened log', async (t) => {
  const dir = createDir(t);
  const runDir = path.join(dir, 'runs');
  for (const [i, start] of (['runResult', 'askResult'] as const).entries()) {
    const file = path.join(dir, `own${i}.jsonl`);
    const harness = new Harness({ provider: scriptedProvider([says('one')]), system: 'x', runDir });
    const opening = harness.open(await openJsonl(file), file);
    assert.equal((await harness[start]('a')).runFile, file);
    await opening;
    await harness.close();
    assert.match(readFileSync(file, 'utf8'), /"turn-ended"/);
  }
  assert.ok(!existsSync(runDir), 'nothing is written elsewhere');
});

test('a run that was left open in a log is refused by run and resumed by ask without input', async () => {
  const log = memoryLog();
  const paid: number[] = [];
  const tools = [payTool(paid)];
  const first = new Harness({ provider: scriptedProvider(script), system: 'x', tools, runDir: null });
  await first.open(log);
  assert.equal((await first.askResult('Pay Ada.')).status, 'waiting');
  await assert.rejects(first.run('Pay Ada.'), { code: 'harness/log-in-use' });
  for (const { id } of first.pendingApprovals) await first.approve(id);
  assert.equal(await first.ask(), 'Paid.');
  assert.deepEqual(paid, [40]);
});

test('toolGate decides with the typed input of its tool, and allows the calls of other tools', async () => {
  const paid: number[] = [];
  const notes: string[] = [];
  const pay = tool({
    name: 'pay',
    description: 'Pays.',
    inputSchema: z.object({ usd: z.number(), note: z.string().default('none') }),
    execute: ({ usd }) => paid.push(usd),
  });
  const look = tool({ name: 'look', description: 'Looks.', inputSchema: { type: 'object' }, execute: () => 'seen' });
  const limit = toolGate(pay, ({ input }) => {
    notes.push(input.note);
    // The compiler knows the type of the input: no cast.
    return input.usd > 100 ? { type: 'deny', reason: `${input.usd.toFixed(2)} is more than 100.` } : undefined;
  });
  const provider = scriptedProvider([
    calls('pay', { usd: 5000 })
      .and(calls('pay', { usd: 5 }))
      .and(calls('look')),
    says('done'),
  ]);
  const agent = new Agent({ model: provider, tools: [pay, look], gates: [limit] });
  await using session = await agent.session();
  assert.equal((await session.run('go')).text, 'done');
  assert.deepEqual([paid, notes], [[5], ['none', 'none']]);
  assert.match(JSON.stringify(session.messages), /5000\.00 is more than 100/);

  const invalid = await limit({ id: 'c', tool: 'pay', input: { usd: 'many' } }, session.state);
  assert.equal(invalid.type, 'deny');
});
