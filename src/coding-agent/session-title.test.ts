// The title of a session by the model: one small request after the first answer, whose cost counts, only if the setting wants it.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { listSessions } from '../sessions/index.ts';
import { scriptedServer, says } from '../testing/index.ts';
import { Conversation, type ConversationOptions } from './index.ts';
import { readSettings, type Settings } from './settings/index.ts';

const titleRequest = /Write a title for the conversation/;

async function open(t: TestContext, title: 'message' | 'model', answer = '"Sum of two numbers."') {
  const home = mkdtempSync(path.join(tmpdir(), 'fairlead-title-'));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const server = await scriptedServer(
    ({ body }) => (titleRequest.test(JSON.stringify(body)) ? says(answer, { delayMs: 50 }) : says('Four.')),
    { models: [{ id: 'm', tools: true }] },
  );
  t.after(() => server.close());
  const settings: Settings = {
    ...readSettings({ env: { HOME: home, OLLAMA_API_URL: server.url }, cwd: home }),
    sessionTitle: title,
  };
  const options: ConversationOptions = {
    settings,
    flags: { model: undefined, private: false, autoApprove: false, sandbox: false, codeOnly: false, limits: {} },
    selector: { type: 'new' },
    model: { name: 'ollama/m', ref: { provider: 'ollama', model: 'm', baseUrl: server.url } },
    host: { notify() {}, confirm: async () => false },
    prompter: { askKey: async ({ defaultKey }: { readonly defaultKey: string }) => defaultKey, notify() {} },
    cwd: home,
  } as unknown as ConversationOptions;
  const conversation = await Conversation.open(options);
  conversation.subscribe({ event() {}, session() {} });
  const titles = (): number => server.requests.filter(({ raw }) => titleRequest.test(String(raw))).length;
  return { conversation, titles, dirs: settings.dirs };
}

async function waitFor(condition: () => boolean): Promise<void> {
  for (let i = 0; i < 200 && !condition(); i++) await pause(20);
  assert.ok(condition());
}

test('with session.title model a new session gets a title after its first answer, once, and its cost counts', async (t) => {
  const { conversation, titles, dirs } = await open(t, 'model');
  await conversation.run('What is two and two?');
  const { input } = conversation.session.state.total;
  await waitFor(() => conversation.title === 'Sum of two numbers');
  assert.ok(conversation.session.state.total.input > input, 'its tokens count for the session');
  assert.equal(conversation.session.state.total.turns, 1, 'it is no turn');
  await conversation.run('And three?');
  await pause(200);
  assert.equal(titles(), 1);
  await conversation.close();
  assert.deepEqual(
    listSessions(dirs).map(({ title }) => title),
    ['Sum of two numbers'],
  );
});

test('by default the title is the first message, and nothing is requested', async (t) => {
  const { conversation, titles } = await open(t, 'message');
  await conversation.run('What is two and two?');
  await pause(200);
  assert.deepEqual([conversation.title, titles()], ['What is two and two?', 0]);
  await conversation.close();
});

test('a title of the user stays, a useless answer is no title, and closing does not wait for the request', async (t) => {
  const { conversation } = await open(t, 'model');
  await conversation.run('What is two and two?');
  await conversation.setTitle('Mine');
  await pause(300);
  assert.equal(conversation.title, 'Mine');
  await conversation.close();
  const long = await open(t, 'model', 'word '.repeat(100));
  await long.conversation.run('Hello?');
  await waitFor(() => long.titles() === 1);
  await pause(200);
  assert.equal(long.conversation.title, 'Hello?');
  await long.conversation.close();
  const early = await open(t, 'model');
  await early.conversation.run('Bye');
  const started = performance.now();
  await early.conversation.close();
  assert.ok(performance.now() - started < 2000);
});
