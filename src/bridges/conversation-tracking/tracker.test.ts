// Tracking of conversations: those with the same start are distinguished, forks share their start, and a restart changes nothing that the model reads.
import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { messageToolCalls, type Message, type Rule } from '../../core/index.ts';
import type { MessageAddition } from '../../wire/index.ts';
import { createConversationTracker, type ConversationTrackerOptions, type ConversationTracker } from './tracker.ts';

const user = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] });
const says = (text: string): Message => ({ role: 'assistant', parts: [{ type: 'text', text }] });
const requestFields = { model: 'm', system: 'Help.', tools: [] };

/** Numbers each turn, so that every addition shows its conversation. */
const countingRule: Rule = (event) =>
  event.type === 'input-received' ? [{ key: 'count', text: `Words ${event.seq}.` }] : [];

const options: ConversationTrackerOptions = { rules: [countingRule] };

/** Sends a request and records its answer, as a bridge does; returns the additions for the model. */
async function ask(
  conversations: ConversationTracker,
  messages: readonly (Message | null)[],
  answer: Message,
  more: { readonly session?: string; readonly follows?: string; readonly name?: string } = {},
): Promise<readonly MessageAddition[]> {
  const follows = more.follows === undefined ? {} : { previousResponseId: more.follows };
  const tracked = await conversations.trackRequest(
    { ...requestFields, messages, ...follows },
    { session: more.session },
  );
  try {
    assert.equal(tracked.action.type, 'send');
    await tracked.interceptor.afterResponse({
      message: answer,
      finish: messageToolCalls(answer).length ? 'tool-calls' : 'stop',
    });
    tracked.markDelivered(answer, more.name);
    return tracked.action.type === 'send' ? tracked.action.additions : [];
  } finally {
    tracked.release();
  }
}

function createFolder(t: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-talks-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const countSessions = (folder: string): number =>
  readdirSync(folder).filter((name) => /^[^.]+\.jsonl$/.test(name)).length - 1;

test('[D16] the next request of a conversation has the earlier additions at the same positions', async () => {
  const all = createConversationTracker(options);
  const first = await ask(all, [user('Go.')], says('Done.'));
  const second = await ask(all, [user('Go.'), says('Done.'), user('More.')], says('Done again.'));
  assert.equal(first.length, 1);
  assert.deepEqual(second.slice(0, 1), first);
  assert.deepEqual(
    second.map(({ after }) => after),
    [0, 2],
  );
});

test('two conversations with the same first message are distinguished by the answer', async (t) => {
  const folder = createFolder(t);
  const all = createConversationTracker({ ...options, folder });
  const start = [user('Go.')];
  const one = await ask(all, start, says('One.'));
  const two = await ask(all, start, says('Two.'));
  assert.deepEqual(two, one, 'the shared part has the same additions');
  const oneOn = await ask(all, [...start, says('One.'), user('More.')], says('x'));
  const twoOn = await ask(all, [...start, says('Two.'), user('More.')], says('y'));
  const oneFurther = await ask(all, [...start, says('One.'), user('More.'), says('x'), user('And?')], says('z'));
  assert.deepEqual(oneFurther.slice(0, 2), oneOn);
  assert.equal(twoOn.length, 2);
  assert.equal(countSessions(folder), 2, 'each has its own log');
  await all.close();
});

test('concurrent requests with the same messages are separate conversations', async () => {
  const all = createConversationTracker(options);
  const tracker = await Promise.all(
    [1, 2, 3].map(() => all.trackRequest({ ...requestFields, messages: [user('Go.')] })),
  );
  assert.equal(new Set(tracker.map(({ interceptor }) => interceptor)).size, 3);
  for (const tracked of tracker) tracked.release();
});

test('a repeated request without an answer continues the same conversation', async () => {
  const all = createConversationTracker(options);
  const first = await all.trackRequest({ ...requestFields, messages: [user('Go.')] });
  first.release();
  const again = await all.trackRequest({ ...requestFields, messages: [user('Go.')] });
  again.release();
  assert.equal(again.interceptor, first.interceptor);
});

test('the next request waits until the previous answer is recorded', async () => {
  const all = createConversationTracker(options);
  const first = await all.trackRequest({ ...requestFields, messages: [user('Go.')] });
  const next = all.trackRequest({ ...requestFields, messages: [user('Go.'), says('Done.'), user('More.')] });
  await first.interceptor.afterResponse({ message: says('Done.'), finish: 'stop' });
  first.markDelivered(says('Done.'));
  first.release();
  const second = await next;
  second.release();
  assert.equal(second.interceptor, first.interceptor);
});

test('an edited conversation keeps the additions before the edit, and the original can continue', async () => {
  const all = createConversationTracker(options);
  const start = [user('Go.'), says('Done.')];
  await ask(all, [user('Go.')], says('Done.'));
  const old = await ask(all, [...start, user('More.')], says('a'));
  const edited = await ask(all, [...start, user('Less.')], says('b'));
  assert.deepEqual(edited.slice(0, 1), old.slice(0, 1));
  const on = await ask(all, [...start, user('More.'), says('a'), user('And?')], says('c'));
  assert.deepEqual(on.slice(0, 2), old);
});

test('additions before an answer are kept if the caller rewrote that answer', async () => {
  const all = createConversationTracker(options);
  const first = await ask(all, [user('Go.')], says('Done.'));
  const second = await ask(all, [user('Go.'), says('Done, in short.'), user('More.')], says('x'));
  assert.deepEqual(second.slice(0, 1), first);
});

test('[M40] after a restart in mid-conversation the same notes are at the same positions', async (t) => {
  const folder = createFolder(t);
  const before = createConversationTracker({ ...options, folder });
  const first = await ask(before, [user('Go.')], says('Done.'));
  const second = await ask(before, [user('Go.'), says('Done.'), user('More.')], says('Done again.'));
  await before.close();
  const after = createConversationTracker({ ...options, folder });
  const messages = [user('Go.'), says('Done.'), user('More.'), says('Done again.'), user('And?')];
  const third = await ask(after, messages, says('x'));
  assert.deepEqual(third.slice(0, 2), second);
  assert.deepEqual(second.slice(0, 1), first);
  assert.equal(countSessions(folder), 1);
  await after.close();
});

test('after a restart, conversations with the same first message are still distinguished', async (t) => {
  const folder = createFolder(t);
  const before = createConversationTracker({ ...options, folder });
  await ask(before, [user('Go.')], says('One.'));
  await ask(before, [user('Go.')], says('Two.'));
  await before.close();
  const after = createConversationTracker({ ...options, folder });
  await ask(after, [user('Go.'), says('One.'), user('More.')], says('x'));
  await ask(after, [user('Go.'), says('Two.'), user('More.')], says('y'));
  assert.equal(countSessions(folder), 2, 'each continued in its own log');
  await after.close();
});

test('a process that died during a request, or while writing a line, loses no note', async (t) => {
  const folder = createFolder(t);
  const before = createConversationTracker({ ...options, folder });
  const dead = await before.trackRequest({ ...requestFields, messages: [user('Go.')] });
  const shown = dead.action.type === 'send' ? dead.action.additions : [];
  await before.close();
  appendFileSync(path.join(folder, 'marks.jsonl'), '{"id":"half');
  const after = createConversationTracker({ ...options, folder });
  const next = await ask(after, [user('Go.'), says('Seen, not written.'), user('More.')], says('x'));
  assert.deepEqual(next.slice(0, 1), shown);
  await after.close();
});

test('interceptors above maxOpen are closed, and reopened from their files', async (t) => {
  const folder = createFolder(t);
  const all = createConversationTracker({ ...options, folder, maxOpen: 2 });
  const firsts = new Map<string, readonly MessageAddition[]>();
  for (const name of ['a', 'b', 'c', 'd']) firsts.set(name, await ask(all, [user(name)], says(`to ${name}`)));
  for (const name of ['a', 'b', 'c', 'd']) {
    const on = await ask(all, [user(name), says(`to ${name}`), user('More.')], says('x'));
    assert.deepEqual(on.slice(0, 1), firsts.get(name), name);
  }
  await all.close();
});

test('a caller that names its session may send any messages: a change is a branch of the same log', async (t) => {
  const folder = createFolder(t);
  const all = createConversationTracker({ ...options, folder });
  await ask(all, [user('Go.')], says('Done.'), { session: 'mine' });
  const cut = await ask(all, [user('Later words alone.')], says('x'), { session: 'mine' });
  assert.equal(cut.length, 1);
  assert.deepEqual(readdirSync(folder).filter((name) => name.startsWith('named-')).length > 0, true);
  await assert.rejects(
    all.trackRequest({ ...requestFields, messages: [user('x')] }, { session: '../etc/passwd' }),
    /cannot be the name/,
  );
  await all.close();
});

test('a conversation stored by the provider is found by the response id, and its additions are not sent twice', async () => {
  const all = createConversationTracker(options);
  const first = await ask(all, [user('Go.')], says('Done.'), { name: 'resp_1' });
  const tracked = await all.trackRequest({ ...requestFields, messages: [user('More.')], previousResponseId: 'resp_1' });
  tracked.release();
  assert.equal(tracked.storedMessages, 2);
  const additions = tracked.action.type === 'send' ? tracked.action.additions : [];
  assert.deepEqual(additions.slice(0, 1), first);
  assert.equal(additions[1]?.after, 2);
});
