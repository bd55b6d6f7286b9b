// Tests of the inbox: each message is recorded in the log once, also after a crash, and applies only to its run or question.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { resolveAgent, defineTool, Session } from '../agent/index.ts';
import { readView, type ResolvedAgent, type Event, type FleetStore, type Log } from '../core/index.ts';
import { memoryLog } from '../stores/index.ts';
import { calls, scriptedProvider, type Script } from '../testing/index.ts';
import { openTempFleetStore } from '../../test/support/fleet-store.ts';
import { createCancelStop, drainInbox, inboxView, sendMessage } from './inbox.ts';

const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  effect: 'external',
  input: { type: 'object' },
  run: () => 'paid',
});

const partsFor = (script: Script, more: Partial<ResolvedAgent> = {}): ResolvedAgent => ({
  ...resolveAgent({ provider: scriptedProvider(script), system: 'Work.', tools: [pay], views: [inboxView] }),
  ...more,
});

type InboxSetup = { readonly store: FleetStore; readonly log: Log; readonly open: () => Promise<Session> };

async function createInboxSetup(
  t: TestContext,
  script: Script,
  more: Partial<ResolvedAgent> = {},
): Promise<InboxSetup> {
  const log = memoryLog();
  const parts = partsFor(script, more);
  return { store: await openTempFleetStore(t), log, open: () => Session.open(parts, log, 's') };
}

const drainAll = (store: FleetStore, session: Session): Promise<void> =>
  drainInbox({ inbox: store.inbox, session, sessionId: 's', runId: 'r' });

async function eventsOf({ log }: InboxSetup): Promise<readonly Event[]> {
  const events: Event[] = [];
  for await (const batch of log.read()) events.push(...batch);
  return events;
}

test('[A53] a message that is read concurrently, and again after a crash, is recorded once', async (t) => {
  const made = await createInboxSetup(t, ['Heard.']);
  const session = await made.open();
  await made.store.inbox.send('s', { type: 'steer', text: 'South' });
  const kept = { ...made.store, inbox: { ...made.store.inbox, clear: async () => {} } };
  await Promise.all([drainAll(kept, session), drainAll(kept, session)]);
  const again = await made.open();
  await drainAll(kept, again);
  const told = (await eventsOf(made)).filter(({ type }) => type === 'input-received' || type === 'annotation-added');
  assert.deepEqual(
    told.map(({ type }) => type),
    ['input-received', 'annotation-added'],
  );
  assert.equal((await made.store.inbox.read('s', 0)).length, 1, 'the inbox was not cleared');
  await drainAll(made.store, again);
  await made.store.inbox.send('s', { type: 'follow-up', text: 'Then report' });
  await drainAll(made.store, again);
  assert.deepEqual(
    again.state.pending.map(({ how }) => how),
    ['steer', 'follow-up'],
  );
  assert.deepEqual(await made.store.inbox.read('s', 0), []);
});

test('a message and its position are written in one append', async (t) => {
  const made = await createInboxSetup(t, ['Heard.']);
  const session = await made.open();
  const sizes: number[] = [];
  const append = made.log.append.bind(made.log);
  made.log.append = async (after, facts, options) => {
    sizes.push(facts.length);
    return append(after, facts, options);
  };
  for (const type of ['prompt', 'steer', 'follow-up'] as const) await made.store.inbox.send('s', { type, text: 'x' });
  await drainAll(made.store, session);
  assert.deepEqual(sizes, [2, 2, 2]);
});

test('[A112] an answer applies to the open question only; an answer that arrives before its question is dropped', async (t) => {
  const made = await createInboxSetup(t, [calls('pay'), calls('pay'), 'Done.'], {
    gates: [() => ({ type: 'ask', question: 'Pay?' })],
  });
  const session = await made.open();
  await session.advance('Go.');
  await made.store.inbox.send('s', { type: 'answer', call: 'c00002000', allowed: true });
  await made.store.inbox.send('s', { type: 'answer', call: 'c00001000', allowed: true, by: 'Ann' });
  await drainAll(made.store, session);
  await session.resume();
  assert.deepEqual(
    session.state.calls.map(({ id, ask }) => [id, ask?.allowed]),
    [['c00002000', undefined]],
  );
  await drainAll(made.store, session);
  assert.equal(session.state.calls[0]?.ask?.allowed, undefined, 'the early answer was dropped');
  const answered = (await eventsOf(made)).filter((event) => event.type === 'approval-resolved');
  assert.deepEqual(
    answered.map(({ call, by }) => [call, by]),
    [['c00001000', 'Ann']],
  );
});

test('a cancelled run ends in whichever process continues it, and later runs are not cancelled', async (t) => {
  const made = await createInboxSetup(t, ['Never said.', 'Said.'], { stops: [createCancelStop('r')] });
  const session = await made.open();
  await made.store.inbox.send('s', { type: 'cancel' });
  await drainAll(made.store, session);
  const elsewhere = await made.open();
  const { ended } = await elsewhere.advance('Go.', { runId: 'r' });
  assert.deepEqual([ended?.reason, elsewhere.messages.length], ['cancelled', 0]);
  const later = await Session.open(partsFor(['Said.'], { stops: [createCancelStop('other')] }), made.log);
  assert.equal((await later.advance('Go.', { runId: 'other' })).ended?.reason, 'answered');
});

test('a cancel of an earlier run does not end a later one', async (t) => {
  const made = await createInboxSetup(t, ['Said.'], { stops: [createCancelStop('r')] });
  const session = await made.open();
  await made.store.inbox.send('s', { type: 'cancel', run: 'earlier' });
  const running = session.advance('Go.', { runId: 'r' });
  await drainAll(made.store, session);
  assert.equal((await running).ended?.reason, 'answered');
  assert.deepEqual(await made.store.inbox.read('s', 0), [], 'it is cleared anyway');
});

test('[A112] an answer applies to the question text it names: another question about the same call stays open', async (t) => {
  const asked = 'Pay 5?';
  const made = await createInboxSetup(t, [calls('pay'), 'Done.'], {
    gates: [() => ({ type: 'ask', question: asked })],
  });
  const session = await made.open();
  await session.advance('Go.');
  const call = session.state.calls[0]?.id ?? '';
  await made.store.inbox.send('s', { type: 'answer', call, question: 'Pay 4?', allowed: true });
  await drainAll(made.store, session);
  assert.equal(session.state.calls[0]?.ask?.allowed, undefined);
  await made.store.inbox.send('s', { type: 'answer', call, question: asked, allowed: true });
  await drainAll(made.store, session);
  assert.equal(session.state.calls[0]?.ask?.allowed, true);
});

test('[A89] a message to a step of a plan is no message to a task run of the same session', async (t) => {
  const made = await createInboxSetup(t, ['Done.'], { stops: [createCancelStop('r')] });
  const session = await made.open();
  await made.store.inbox.send('s', { type: 'steer', text: 'In metres.', step: 'a' });
  await made.store.inbox.send('s', { type: 'cancel', step: 'a' });
  await drainAll(made.store, session);
  const state = await session.advance('Work.', { runId: 'r' });
  assert.equal(state.ended?.reason, 'answered');
  assert.doesNotMatch(JSON.stringify(await eventsOf(made)), /In metres/);
});

test('a message to a session without an open run is refused, and a later run does not receive it', async (t) => {
  const store = await openTempFleetStore(t);
  assert.equal(await sendMessage(store, 's', { type: 'steer', text: 'Left' }), false);
  assert.deepEqual(await store.inbox.read('s', 0), []);
  await store.queue.enqueue([{ id: 'r', prompt: 'x', session: 's' }]);
  assert.equal(await sendMessage(store, 's', { type: 'steer', text: 'Right' }), true);
  assert.equal((await store.inbox.read('s', 0)).length, 1);
});

test('a fork starts at inbox position 0, and a new epoch keeps the position', async (t) => {
  const made = await createInboxSetup(t, ['One.', 'Two.']);
  const session = await made.open();
  await made.store.inbox.send('s', { type: 'steer', text: 'South' });
  await drainAll(made.store, session);
  await session.advance('Go.');
  const { position } = readView(session.state, inboxView);
  assert.ok(position > 0);
  const log = memoryLog();
  const fork = await session.fork({ log, id: 'copy' });
  assert.deepEqual(readView(fork.state, inboxView), { session: 'copy', position: 0 });
  assert.deepEqual(readView((await Session.open(fork.agent, log)).state, inboxView), { session: 'copy', position: 0 });
  await session.edit(session.messages.slice(0, 1));
  assert.equal(readView((await made.open()).state, inboxView).position, position);
});

test('a message wakes a waiting run, and one that is about to wait', async (t) => {
  const store = await openTempFleetStore(t);
  await store.queue.enqueue([{ id: 'r', prompt: 'x', session: 's' }]);
  let drives = 0;
  const signal = AbortSignal.timeout(30_000);
  await store.queue.work({
    worker: 'w',
    concurrency: 1,
    signal,
    drain: true,
    handle: async () => {
      drives++;
      // The handler has read the inbox and is about to return "waiting".
      if (drives === 1) await sendMessage(store, 's', { type: 'steer', text: 'Wait' });
      return { type: 'waiting', pendingApprovals: [] };
    },
  });
  assert.equal(drives, 2);
  await sendMessage(store, 's', { type: 'steer', text: 'Go on' });
  assert.equal((await store.queue.run('r'))?.status, 'queued');
});

test('a message to a run that ends before it is woken is not accepted, and is deleted', async (t) => {
  const store = await openTempFleetStore(t);
  await store.queue.enqueue([{ id: 'r', prompt: 'Go.', session: 's' }]);
  const late: FleetStore = {
    ...store,
    queue: {
      ...store.queue,
      async wake(run) {
        await store.queue.cancel(run, 'It ends just before it is woken.');
        await store.queue.wake(run);
      },
    },
  };
  assert.equal(await sendMessage(late, 's', { type: 'steer', text: 'Left' }), false);
  assert.deepEqual(await store.inbox.read('s', 0), []);
});

test('a message that a run has read just before it ended is accepted', async (t) => {
  const store = await openTempFleetStore(t);
  await store.queue.enqueue([{ id: 'r', prompt: 'Go.', session: 's' }]);
  const quick: FleetStore = {
    ...store,
    queue: {
      ...store.queue,
      async wake(run) {
        await store.inbox.clear('s', (await store.inbox.read('s', 0)).at(-1)?.position ?? 0);
        await store.queue.cancel(run, 'It has read the message, and ends.');
      },
    },
  };
  assert.equal(await sendMessage(quick, 's', { type: 'steer', text: 'Left' }), true);
});
