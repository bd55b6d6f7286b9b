// Tests of the draft of ACP version 2: the real program driven by a client of that version.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Readable, Writable } from 'node:stream';
import test, { type TestContext } from 'node:test';
import {
  client,
  methods,
  ndJsonStream,
  type ClientContext,
  type RequestPermissionRequest,
  type SessionUpdate,
} from '@agentclientprotocol/sdk/experimental/v2';
import { bin, requestMessages, createProgram, waitUntil, type TestProgram } from '../../../test/support/cli-harness.ts';
import { calls, says } from '../../testing/index.ts';

const { session } = methods.agent;

type Editor = {
  readonly agent: ClientContext;
  readonly told: SessionUpdate[];
  readonly hangUp: () => Promise<unknown>;
};

async function editing(
  t: TestContext,
  made: TestProgram,
  answer: (question: RequestPermissionRequest) => string | undefined = () => undefined,
): Promise<Editor> {
  const child = spawn(process.execPath, [bin, 'acp'], { cwd: made.home, env: made.env });
  t.after(() => void child.kill('SIGKILL'));
  const { promise: ended, resolve } = Promise.withResolvers<unknown>();
  child.on('close', resolve);
  const told: SessionUpdate[] = [];
  const { agent } = client({ name: 'a test' })
    .onNotification(methods.client.session.update, ({ params }) => void told.push(params.update))
    .onRequest(methods.client.session.requestPermission, ({ params }) => {
      const optionId = answer(params);
      return { outcome: optionId === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId } };
    })
    .connect(ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>));
  const hello = await agent.request(methods.agent.initialize, {
    protocolVersion: 2,
    info: { name: 'a test', version: '1' },
  });
  assert.deepEqual([hello.protocolVersion, hello.info.name], [2, 'fairlead']);
  return { agent, told, hangUp: () => (child.stdin.end(), ended) };
}

const field = (update: SessionUpdate | undefined, name: string): unknown =>
  (update as Readonly<Record<string, unknown>> | undefined)?.[name];

/** Returns the states of a session in order; the last includes its stop reason. */
const states = (told: readonly SessionUpdate[]): readonly string[] =>
  told.flatMap((update) =>
    update.sessionUpdate === 'state_update'
      ? [[field(update, 'state'), field(update, 'stopReason')].filter((word) => typeof word === 'string').join(' ')]
      : [],
  );

const idle = (editor: Editor, times: number): Promise<void> =>
  waitUntil(
    `idle ${times} times`,
    () => states(editor.told).filter((state) => state.startsWith('idle')).length === times,
    30_000,
  );

const prompt = (editor: Editor, sessionId: string, text: string): Promise<{ readonly messageId: string }> =>
  editor.agent.request(session.prompt, { sessionId, prompt: [{ type: 'text', text }] });

test('a prompt is accepted at once and sent with its id, states report the progress of the run, and a later editor gets the same', async (t) => {
  const made = await createProgram(t, [
    calls('read_file', { path: 'a.txt' }),
    calls('edit_file', { path: 'a.txt', old_string: 'one', new_string: 'two' }),
    says('Two.'),
  ]);
  await made.seedModels('qwen3');
  const file = path.join(made.cwd, 'a.txt');
  writeFileSync(file, 'one\n');
  const questions: RequestPermissionRequest[] = [];
  const editor = await editing(t, made, (question) => {
    questions.push(question);
    return 'once';
  });
  const { sessionId, configOptions } = await editor.agent.request(session.new, { cwd: made.cwd });
  assert.deepEqual(
    configOptions?.map(({ configId }) => configId),
    ['mode', 'model'],
  );
  const { messageId } = await prompt(editor, sessionId, 'Make it two.');
  await idle(editor, 1);
  assert.equal(readFileSync(file, 'utf8'), 'two\n');
  assert.deepEqual(states(editor.told), ['running', 'requires_action', 'running', 'idle end_turn']);
  const said = editor.told.find((update) => update.sessionUpdate === 'user_message');
  assert.equal(field(said, 'messageId'), messageId);
  assert.match(questions[0]?.description ?? '', /1 - one\n1 \+ two$/);
  const patch =
    /"format":"git_patch","text":"diff --git a\/.*a\.txt b\/.*a\.txt\\n.*@@ -1,?1? \+1,?1? @@\\n-one\\n\+two/;
  assert.match(JSON.stringify(editor.told), patch);
  await editor.hangUp();

  const later = await editing(t, made);
  await later.agent.request(session.resume, { sessionId, cwd: made.cwd, replayFrom: { type: 'start' } });
  await idle(later, 1);
  assert.deepEqual(states(later.told), ['idle']);
  const again = later.told.find((update) => update.sessionUpdate === 'user_message');
  assert.equal(field(again, 'messageId'), messageId);
  assert.match(JSON.stringify(later.told), patch);
  assert.match(JSON.stringify(later.told), /"text":"Two\."/);
});

test('a prompt during a run joins the run, and a cancel ends it as cancelled', async (t) => {
  const sleep = calls('run_command', { command: 'sleep 60' });
  const { promise: steered, resolve: steer } = Promise.withResolvers<void>();
  const made = await createProgram(t, async ({ index, prompt }) => {
    if (index === 1) return says(`Heard: ${prompt}`);
    if (index === 0) await steered;
    return index === 0 ? calls('list_files', {}) : sleep;
  });
  await made.seedModels('qwen3');
  const editor = await editing(t, made, () => 'once');
  const { sessionId } = await editor.agent.request(session.new, { cwd: made.cwd });
  const first = await prompt(editor, sessionId, 'Look.');
  await waitUntil('the model is asked', () => made.modelRequests().length === 1);
  const second = await prompt(editor, sessionId, 'And be quick.');
  assert.notEqual(first.messageId, second.messageId);
  steer();
  await idle(editor, 1);
  assert.match(JSON.stringify(requestMessages(made.modelRequests().at(-1))), /And be quick\./);
  assert.match(JSON.stringify(editor.told), /Heard: And be quick\./);
  await prompt(editor, sessionId, 'Sleep.');
  await waitUntil('the command runs', () =>
    /"run_command".*"in_progress"|"in_progress".*"run_command"/.test(JSON.stringify(editor.told.slice(-3))),
  );
  await editor.agent.notify(session.cancel, { sessionId });
  await idle(editor, 2);
  assert.equal(states(editor.told).at(-1), 'idle cancelled');
  await assert.rejects(prompt(editor, 'nothing', 'hello'), { code: -32_002 });
});

test('[P31] a server that the editor names needs permission in the format of version 2 before the first answer', async (t) => {
  const made = await createProgram(t, ({ results }) =>
    results.length === 0 ? calls('mcp__editor-clerk__greet', { a: 'Ann' }) : says(`Heard: ${results.at(-1)}`),
  );
  await made.seedModels('qwen3');
  const asked: RequestPermissionRequest[] = [];
  const editor = await editing(t, made, (question) => {
    asked.push(question);
    return 'once';
  });
  const clerk = path.resolve(import.meta.dirname, '../../../test/support/mcp-stdio-server.ts');
  const { sessionId } = await editor.agent.request(session.new, {
    cwd: made.cwd,
    mcpServers: [{ type: 'stdio', name: 'clerk', command: process.execPath, args: [clerk, made.home] }],
  });
  await prompt(editor, sessionId, 'greet');
  await idle(editor, 1);
  const [first, second] = asked;
  assert.equal(first?.title, "Start the editor's MCP server clerk? You are asked again if it changes.");
  assert.match(first?.description ?? '', /mcp-stdio-server\.ts/);
  assert.equal(second?.title, 'Call greet of the MCP server editor-clerk?');
  assert.match(JSON.stringify(editor.told), /Hello Ann/);
});
