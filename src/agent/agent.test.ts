// An agent: a model by name, extensions, conversations that remember.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import * as z from 'zod';
import { FairleadError, type Gate } from '../core/index.ts';
import { calls, fails, says, scriptedProvider, scriptedServer } from '../testing/index.ts';
import { Agent, defineAgent, defineTool } from './index.ts';

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-agent-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test('[D1] an agent is a convenience over the harness: run, runResult, runStream, session', async () => {
  const agent = defineAgent({ model: scriptedProvider([says('one'), says('two'), says('three')]), runDir: null });
  assert.ok(agent instanceof Agent);
  assert.equal(await agent.run('a'), 'one');
  assert.equal((await agent.runResult('b')).text, 'two');
  const events = [];
  for await (const event of agent.runStream('c')) events.push(event.type);
  assert.equal(events.at(-1), 'result');
});

test('a session with an agent remembers, and counts its turns', async () => {
  const agent = defineAgent({
    model: scriptedProvider((asked) => says(`${asked.body.messages.length} so far`)),
    runDir: null,
  });
  const session = await agent.session();
  assert.equal(await session.ask('a'), '1 so far');
  assert.equal(await session.ask('b'), '3 so far');
  assert.equal(session.turns, 2);
  await session.close();
});

test('[A1, P9] a model is opened by name, with the gateway around it, and several fall back from one to the next', async () => {
  await using down = await scriptedServer(() => fails(503));
  await using up = await scriptedServer(() => says('up'));
  const ref = (url: string) => ({ provider: 'openai-compatible', model: 'm', baseUrl: `${url}/v1` });
  const agent = defineAgent({
    model: [ref(down.url), ref(up.url)],
    gateway: { retry: { retries: 1, baseMs: 1, jitterMs: 0 } },
    runDir: null,
  });
  assert.equal(await agent.run('hi'), 'up');
  assert.equal(down.requests.length, 2);
});

test('scripted and replay are opened by name: a file of answers, and a session that was kept', async (t) => {
  const folder = folderOf(t);
  const script = path.join(folder, 'answers.json');
  writeFileSync(script, JSON.stringify(['Hello.']));
  const first = defineAgent({ model: `scripted/${script}`, runDir: folder });
  const { text, runFile } = await first.runResult('hi');
  const again = await defineAgent({ model: `replay/${runFile}`, runDir: null }).run('hi');
  assert.deepEqual([text, again], ['Hello.', 'Hello.']);
  await assert.rejects(
    defineAgent({ model: 'scripted/nosuch.json', runDir: null }).run('hi'),
    (error) => error instanceof FairleadError && error.code === 'provider/no-script',
  );
});

test('extensions add tools, gates and reminders, and ours come the same way', async () => {
  const seen: string[] = [];
  const gate: Gate = (call) => (seen.push(call.tool), { type: 'allow' });
  const tool = defineTool({
    name: 'look',
    description: 'Looks.',
    effect: 'read',
    input: z.object({ n: z.number().default(7) }),
    run: ({ n }) => `saw ${n}`,
  });
  const agent = defineAgent({
    model: scriptedProvider([calls('look', {}), says('done')]),
    extensions: [{ tools: [tool] }, { gates: [gate], reminders: [() => 'careful'] }],
    runDir: null,
  });
  assert.equal(await agent.run('go'), 'done');
  assert.deepEqual(seen, ['look']);
});

test('[A110] an answer can be held to a Standard Schema, and comes back as a value', async () => {
  const agent = defineAgent({
    model: scriptedProvider([says('{"n": 7}')]),
    outputSchema: z.object({ n: z.number() }),
    runDir: null,
  });
  assert.deepEqual((await agent.runResult('n?')).object, { n: 7 });
});
