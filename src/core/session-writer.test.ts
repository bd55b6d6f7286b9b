// The head: one writer at a time, nothing shown that is not written, and no onlooker can break the writing.
import assert from 'node:assert/strict';
import test from 'node:test';
import { memoryLog, type MemoryLog } from '../stores/index.ts';
import { FairleadError, openSessionWriter, runStateView, type Event, type Fact, type SessionWriter } from './index.ts';

const remark = (value: number): Fact => ({ type: 'annotation-added', key: 'n', value });
const inputFact = (input: string): Fact => ({
  type: 'input-received',
  input,
  how: 'prompt',
  parts: [{ type: 'text', text: input }],
});
const started: Fact = { type: 'session-started', session: 's' };

/** A memory log that takes a moment to write, and fails where it is told to. */
function slowLog(fails: (facts: readonly Fact[]) => unknown = () => undefined): MemoryLog {
  const log = memoryLog();
  return {
    ...log,
    async append(after, facts, options) {
      await new Promise((wake) => setImmediate(wake));
      const error = fails(facts);
      if (error !== undefined) throw error as Error;
      return log.append(after, facts, options);
    },
  };
}

const isStoreError = (error: unknown): boolean => error instanceof FairleadError && error.blame === 'store';

test('records of the same moment are written one after the other, each deciding from the state the one before it left', async () => {
  const log = slowLog();
  const head = await openSessionWriter(log, runStateView());
  const seen: number[] = [];
  const all = Array.from({ length: 20 }, (_, i) =>
    head.record((state) => {
      seen.push(state.seq);
      return i % 2 ? [remark(i)] : [remark(i), remark(i)];
    }),
  );
  await Promise.all(all);
  assert.deepEqual(
    seen,
    Array.from({ length: 20 }, (_, i) => i + Math.ceil(i / 2)),
  );
  assert.deepEqual(
    log.events.map((event) => event.seq),
    Array.from({ length: 30 }, (_, i) => i + 1),
  );
});

test('a record made while another decides its facts waits its turn', async () => {
  const head = await openSessionWriter(slowLog(), runStateView());
  let inner: Promise<readonly Event[]> | undefined;
  await head.record(() => {
    inner = head.record((state) => [remark(state.seq)]);
    return [started];
  });
  assert.deepEqual(
    (await inner)?.map((event) => event.type === 'annotation-added' && event.value),
    [1],
  );
});

test('a record made by a watcher comes after the facts that were written together', async () => {
  const head = await openSessionWriter(slowLog(), runStateView());
  const later: Promise<unknown>[] = [];
  head.subscribe((event) => {
    if (event.type === 'session-started') later.push(head.record([remark(1)]));
  });
  await head.record([started, inputFact('a')]);
  await Promise.all(later);
  assert.equal(head.state.seq, 3);
  assert.equal(head.state.pending.length, 1);
});

test('a watcher that throws breaks neither the recording nor the other watchers', async () => {
  const head = await openSessionWriter(memoryLog(), runStateView());
  const seen: string[] = [];
  head.subscribe(() => {
    throw new Error('an onlooker fails');
  });
  const leave = head.subscribe((event) => seen.push(event.type));
  await head.record([started, inputFact('a')]);
  await head.record([inputFact('b')]);
  leave();
  await head.record([inputFact('c')]);
  assert.deepEqual(seen, ['session-started', 'input-received', 'input-received']);
  assert.deepEqual(
    head.state.pending.map(({ input }) => input),
    ['a', 'b', 'c'],
  );
});

test('an append that fails is the store’s error, advances nothing, shows nothing, and does not stand in the way of the next', async () => {
  let broken = true;
  const log = slowLog(() => (broken ? new Error('the disk is full') : undefined));
  const head = await openSessionWriter(log, runStateView());
  const before = head.state;
  const seen: string[] = [];
  head.subscribe((event) => seen.push(event.type));
  const first = head.record([started]);
  const second = head.record([inputFact('lost')]);
  await assert.rejects(first, isStoreError);
  await assert.rejects(first, /the disk is full/);
  await assert.rejects(second, isStoreError);
  assert.equal(head.state, before);
  assert.deepEqual(seen, []);
  broken = false;
  await head.record([started]);
  assert.deepEqual([head.state.seq, seen], [1, ['session-started']]);
});

test('an error that a store already explained stays what it was', async () => {
  const why = new FairleadError('store/conflict', 'Another writer has the session.', { blame: 'store' });
  const head = await openSessionWriter(
    slowLog(() => why),
    runStateView(),
  );
  await assert.rejects(head.record([started]), (error) => error === why);
});

async function branched(fails: boolean): Promise<{ head: SessionWriter; from: string }> {
  const log = slowLog((facts) => (fails && facts[0]?.type === 'branch-started' ? new Error('gone') : undefined));
  const head = await openSessionWriter(log, runStateView());
  const [first] = await head.record([started, inputFact('a'), inputFact('b')]);
  return { head, from: first?.id ?? '' };
}

test('a branch begins from the event it names, and what followed stays in the log', async () => {
  const { head, from } = await branched(false);
  await head.branch(from, (state) => [{ type: 'branch-started', from, reason: 'rewound' }, remark(state.seq)]);
  assert.deepEqual([head.state.pending.length, head.state.seq], [0, 5]);
  const path: string[] = [];
  for await (const events of head.log.read({ from: 'root' })) path.push(...events.map((event) => event.type));
  assert.deepEqual(path, ['session-started', 'branch-started', 'annotation-added']);
  await head.record([inputFact('c')]);
  assert.equal(head.state.pending.length, 1);
});

test('a branch that cannot be written, or from an event that is not there, leaves the head where it was', async () => {
  const { head, from } = await branched(true);
  const before = head.state;
  await assert.rejects(head.branch(from, [{ type: 'branch-started', from, reason: 'rewound' }]), isStoreError);
  assert.equal(head.state, before);
  await assert.rejects(head.branch('nowhere', [{ type: 'branch-started', from: 'nowhere', reason: 'rewound' }]));
  assert.equal(head.state, before);
  await head.record([inputFact('c')]);
  assert.deepEqual(
    head.state.pending.map(({ input }) => input),
    ['a', 'b', 'c'],
  );
});
