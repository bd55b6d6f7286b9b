// Branches and their messages, from the events of real sessions.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { messageText, type Event, type Message } from '../../core/index.ts';
import { resolveAgent, Session } from '../../agent/index.ts';
import { memoryLog, openJsonl, type MemoryLog } from '../../stores/index.ts';
import { says, scriptedProvider } from '../../testing/index.ts';
import {
  collectEvents,
  branchesOf,
  rewindBefore,
  getBranchPath,
  selectShownBranches,
  formatBranchTree,
  listUserTurns,
  type Branch,
  type UserTurn,
} from './index.ts';

const user = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] });
const answer = (text: string): Message => ({ role: 'assistant', parts: [{ type: 'text', text }] });
const parts = (...words: readonly string[]): ReturnType<typeof resolveAgent> =>
  resolveAgent({ provider: scriptedProvider(words.map((each) => says(each))), system: 's' });
const texts = (session: Session): readonly string[] => session.messages.map(messageText);
const lines = (events: readonly Event[]): readonly string[] =>
  formatBranchTree(branchesOf(events))
    .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d/g, 'then')
    .split('\n');

async function talk(...said: readonly string[]): Promise<{ readonly session: Session; readonly log: MemoryLog }> {
  const log = memoryLog();
  const session = await Session.open(parts(...Array.from({ length: 20 }, (_, i) => `answer ${i + 1}`)), log);
  for (const each of said) await session.advance(each);
  return { session, log };
}

async function back(session: Session, log: MemoryLog, text: string): Promise<void> {
  const turn = listUserTurns(log.events).find((each) => each.text === text);
  assert.ok(turn, `${text} is a message`);
  await rewindBefore(session, turn);
}

test('[J3] a session without branches is one line that ends at the current position', async () => {
  const { log } = await talk('one', 'two');
  assert.deepEqual(lines(log.events), ['1  "one"  2 answers, then  ← here']);
  assert.deepEqual(lines([]), ['']);
});

test('[J3] each branch shows where it began, why, and its first own message; the current one is marked', async () => {
  const { session, log } = await talk('one', 'two', 'three');
  const first = session.state.head ?? '';
  await back(session, log, 'two');
  await session.advance('another\n two');
  await back(session, log, 'another\n two');
  await session.edit([user('changed'), answer('answer 1')]);
  await session.advance('on the changed');
  assert.deepEqual(lines(log.events), [
    '1  "one"  3 answers, then',
    '└─ 2  went back after "one": "another two"  1 answer, then',
    '└─ 4  edited: "changed"  1 answer, then  ← here',
  ]);
  const branches = branchesOf(log.events);
  assert.equal(branches[0]?.tip, first);
  assert.deepEqual(
    branches.map(({ isEmpty }) => isEmpty),
    [false, false, true, false],
    'a branch without messages or edits',
  );
  assert.equal(branches.at(-1)?.tip, session.state.head);
  await session.rewind(first, 'returned');
  await session.advance('four');
  assert.deepEqual(
    lines(log.events)[0],
    '1  "one"  4 answers, then  ← here',
    'returning to a tip continues its branch',
  );
  assert.equal(branchesOf(log.events).length, 4);
  await back(session, log, 'four');
  await session.advance('five');
  assert.deepEqual(lines(log.events).at(-1), '└─ 5  went back after "three": "five"  1 answer, then  ← here');
});

test('[J3] a branch of a branch is listed below it, and a branch without messages only while it is the current one', async () => {
  const { session, log } = await talk('a', 'b');
  await back(session, log, 'b');
  await session.advance('c');
  await session.advance('d');
  await back(session, log, 'd');
  assert.deepEqual(lines(log.events), [
    '1  "a"  2 answers, then',
    '└─ 2  went back after "a": "c"  2 answers, then',
    '   └─ 3  went back after "c": (nothing said yet)  0 answers, then  ← here',
  ]);
  await session.rewind(branchesOf(log.events)[0]?.tip ?? '', 'returned');
  assert.deepEqual(
    selectShownBranches(branchesOf(log.events)).map(({ number, current }) => [number, current]),
    [
      [1, true],
      [2, false],
    ],
  );
});

test('[J3] a branch is shown wherever it began, even at a branch without messages', () => {
  const branch = (words: string, from?: number): Branch => ({
    tip: words,
    current: false,
    ...(from === undefined ? {} : { from: { branch: from, event: 'e', after: '' } }),
    preview: words,
    turns: 0,
    time: '2026-01-01T00:00',
    isEmpty: words === '',
  });
  const text = formatBranchTree([branch('a'), branch('', 0), branch('c', 1), branch('', 2)]);
  assert.deepEqual(
    text.split('\n').map((line) => line.trim().split('  ')[0]),
    ['1', '└─ 2', '└─ 3'],
  );
});

test('[J3] an edit that only removes messages says how many are left', async () => {
  const { session, log } = await talk('a', 'b');
  await session.edit(session.messages.slice(0, 2), 'by hand');
  assert.equal(lines(log.events)[1], '└─ 2  edited after "a" (by hand): (cut to 2 messages)  0 answers, then  ← here');
});

test('[J3] a rewind to before any message keeps the messages before it, and returns its text for a new prompt', async () => {
  const { session, log } = await talk('one', 'two', 'three');
  const said = (): readonly string[] => listUserTurns(log.events).map((each) => each.text);
  assert.deepEqual(said(), ['one', 'two', 'three']);
  await back(session, log, 'three');
  assert.deepEqual(texts(session), ['one', 'answer 1', 'two', 'answer 2']);
  assert.deepEqual(said(), ['one', 'two']);
  await back(session, log, 'one');
  assert.deepEqual(texts(session), []);
  assert.deepEqual(said(), []);
  await session.advance('anew');
  assert.deepEqual(said(), ['anew']);
});

test('[J3] after an edit the session can be rewound only to messages of the current conversation, new ones included', async () => {
  const { session, log } = await talk('one', 'two', 'three');
  await session.edit([user('one'), answer('answer 1'), user('zwei'), answer('b'), user('drei'), answer('c')]);
  await session.advance('four');
  assert.deepEqual(
    listUserTurns(log.events).map((each) => [each.text, each.before.type]),
    [
      ['one', 'event'],
      ['zwei', 'messages'],
      ['drei', 'messages'],
      ['four', 'event'],
    ],
  );
  await back(session, log, 'drei');
  assert.deepEqual(texts(session), ['one', 'answer 1', 'zwei', 'b']);
  await back(session, log, 'one');
  assert.deepEqual(texts(session), []);
});

test('[J3] a copy of a session can be rewound to every message of the original', async () => {
  const { session } = await talk('one', 'two');
  const log = memoryLog();
  const copy = await session.fork({ log });
  await copy.advance('three');
  assert.deepEqual(
    listUserTurns(log.events).map((each) => each.text),
    ['one', 'two', 'three'],
  );
  await back(copy, log, 'two');
  assert.deepEqual(texts(copy), ['one', 'answer 1']);
});

test('[J3] a compaction does not hide earlier messages', async () => {
  const { session, log } = await talk('one', 'two');
  const event: Event = {
    type: 'epoch-started',
    epoch: 2,
    reason: 'compacted',
    system: 's',
    tools: [],
    model: 'm',
    baseline: {
      session: 'x',
      messages: [user('in short')],
      turn: 2,
      loaded: [],
      queue: [],
      total: session.state.total,
    },
    seq: log.events.length + 1,
    id: 'compaction',
    parent: session.state.head,
    time: '2026-01-01T00:00:00.000Z',
  };
  const again = memoryLog([...log.events, event]);
  const resumed = await Session.open(parts('answer 3'), again);
  assert.deepEqual(texts(resumed), ['in short']);
  assert.deepEqual(
    listUserTurns(again.events).map((each) => each.text),
    ['one', 'two'],
  );
  await back(resumed, again, 'two');
  assert.deepEqual(texts(resumed), ['one', 'answer 1']);
});

test('[J3] events are read alike from a file and from memory, and the path to any event is found', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-branches-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const log = await openJsonl(path.join(folder, 's.jsonl'));
  const session = await Session.open(parts('x', 'y'), log);
  await session.advance('one');
  const [first] = listUserTurns(await collectEvents(log, session.state.seq)) as readonly [UserTurn];
  await rewindBefore(session, first);
  await session.advance('other');
  const events = await collectEvents(log, session.state.seq);
  assert.deepEqual(
    events.map((event) => event.seq),
    events.map((_, i) => i + 1),
  );
  assert.equal(branchesOf(events).length, 2);
  assert.equal(getBranchPath(events).at(-1)?.id, session.state.head);
  assert.equal(
    getBranchPath(events, branchesOf(events)[0]?.tip).filter((event) => event.type === 'turn-ended').length,
    1,
  );
  assert.deepEqual(getBranchPath(events, 'nowhere'), []);
  await session.close();
});
