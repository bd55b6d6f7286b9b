// Copies of session files: new sessions with the same events; the original is not changed.
import assert from 'node:assert/strict';
import { appendFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { startSessionWriterProcess } from '../../../test/support/session-writer-process.ts';
import { fold, runStateView, toArray, type Event, type Fact, type Log, type RunState } from '../../core/index.ts';
import { copyJsonl, openJsonl, realDisk, verifyFile } from '../index.ts';

const inputFact = (text: string): Fact => ({
  type: 'input-received',
  input: text,
  how: 'prompt',
  parts: [{ type: 'text', text }],
});
const turn = (n: number, text: string): readonly Fact[] => [
  inputFact(text),
  { type: 'turn-started', turn: n, inputs: [text], notes: [] },
];

function createFiles(t: TestContext): { readonly a: string; readonly b: string; readonly folder: string } {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-copy-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return { a: path.join(folder, 'a.jsonl'), b: path.join(folder, 'b.jsonl'), folder };
}

/** A session with two branches, the second from the first input on. */
async function writeBranchedSession(file: string): Promise<void> {
  const log = await openJsonl(file, { session: 'one' });
  const begun = await log.append(0, [
    { type: 'session-started', session: 'one' },
    { type: 'epoch-started', epoch: 1, reason: 'started', system: 's', tools: [], model: 'm' },
    ...turn(1, 'first'),
  ]);
  const fork = begun[1]?.id ?? '';
  await log.append(4, [inputFact('dropped')]);
  await log.append(5, [{ type: 'branch-started', from: fork, reason: 'rewound' }, ...turn(2, 'second')], {
    parent: fork,
  });
  await log.close();
}

async function readEvents(log: Log): Promise<readonly Event[]> {
  const events: Event[] = [];
  for await (const batch of log.read()) events.push(...batch);
  return events;
}

async function readState(file: string): Promise<RunState> {
  const log = await openJsonl(file, { mode: 'read' });
  const state = fold(runStateView(), await readEvents(log));
  await log.close();
  return state;
}

test('[J46, J57] a copy has all branches, a new id and its origin, and does not change the original', async (t) => {
  const { a, b } = createFiles(t);
  await writeBranchedSession(a);
  const before = readFileSync(a);
  const id = await copyJsonl(a, b);
  assert.deepEqual(readFileSync(a), before);
  assert.deepEqual(await verifyFile(b), { ok: true, events: 8, problems: [] });
  const state = await readState(b);
  assert.equal(state.session, id);
  assert.deepEqual(toArray(state.messages), toArray((await readState(a)).messages));
  const copy = await openJsonl(b);
  assert.equal(copy.session, id);
  const [first] = await readEvents(copy);
  assert.ok(first?.type === 'session-started');
  assert.equal(first.from?.session, 'one');
  const all: string[] = [];
  for await (const event of copy.follow(0, AbortSignal.timeout(5000))) if (all.push(event.type) === 8) break;
  assert.ok(all.includes('branch-started'), 'the abandoned branch is there too');
  await copy.append(8, [inputFact('on')], { durable: true });
  await copy.close();
  assert.deepEqual(readFileSync(a), before);
});

test('a copy that is opened from an epoch on has its own id there too', async (t) => {
  const { a, b } = createFiles(t);
  const log = await openJsonl(a, { session: 'one' });
  const state = fold(runStateView(), await log.append(0, [{ type: 'session-started', session: 'one' }]));
  const { session, turn, loaded, queue, total } = state;
  const baseline = { session, messages: [], turn, loaded, queue, total };
  await log.append(1, [
    { type: 'epoch-started', epoch: 1, reason: 'compacted', system: '', tools: [], model: 'm', baseline },
  ]);
  await log.close();
  const id = await copyJsonl(a, b);
  const copy = await openJsonl(b, { mode: 'read' });
  const events: Event[] = [];
  for await (const batch of copy.read({ from: 'epoch' })) events.push(...batch);
  assert.equal(events.length, 1);
  assert.equal(fold(runStateView(), events).session, id);
  await copy.close();
});

test('a session with a writer can be copied; an existing file is not overwritten', async (t) => {
  const { a, b } = createFiles(t);
  const other = await startSessionWriterProcess(t, a);
  assert.equal(await other.ask('append'), 'saved 1');
  await copyJsonl(a, b);
  assert.equal(await other.ask('append'), 'saved 2');
  assert.equal((await verifyFile(b)).events, 1);
  const before = readFileSync(b);
  await assert.rejects(copyJsonl(a, b), { code: 'store/exists' });
  assert.deepEqual(readFileSync(b), before);
});

test('a damaged session is copied as it reads: lost events are left out, and later ones are chained to the rest', async (t) => {
  const { a, b } = createFiles(t);
  const log = await openJsonl(a);
  for (let n = 0; n < 4; n++) await log.append(n, [{ type: 'annotation-added', key: 'n', value: n }]);
  await log.close();
  const lines = readFileSync(a, 'utf8').split('\n');
  lines[2] = 'not JSON at all';
  writeFileSync(a, lines.join('\n'));
  appendFileSync(a, '{"seq":5,"id":"torn');
  await copyJsonl(a, b);
  assert.deepEqual(await verifyFile(b), { ok: true, events: 3, problems: [] });
  const copy = await openJsonl(b, { mode: 'read' });
  assert.equal((await readEvents(copy)).length, 3, 'every event is on the path to the last');
  await copy.close();
});

test('a copy that cannot be finished leaves nothing behind', async (t) => {
  const { a, b, folder } = createFiles(t);
  await writeBranchedSession(a);
  const disk = { ...realDisk, sync: () => Promise.reject(Object.assign(new Error('full'), { code: 'ENOSPC' })) };
  await assert.rejects(copyJsonl(a, b, { disk }), { code: 'store/full' });
  assert.equal(existsSync(b), false);
  assert.deepEqual(readdirSync(folder), ['a.jsonl']);
});
