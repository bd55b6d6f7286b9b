// The session writer: one writer at a time, nothing is shown before it is recorded, and no listener can break the recording.
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

/** A memory log whose writes take a moment, and fail where configured. */
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

test('concurrent records are appended one after the other, each based on the state after the previous one', async () => {
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

test('a record that is made while another one computes its facts waits for it', async () => {
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

test('a record made by a listener comes after the facts that were appended together', async () => {
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

test('a listener that throws affects neither the recording nor the other listeners', async () => {
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

test('a failed append is an error of the store, changes no state, notifies no listener, and does not block the next', async () => {
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

test('a typed error of a store is kept unchanged', async () => {
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

test('a branch begins at the event it names, and the later events stay in the log', async () => {
  const { head, from } = await branched(false);
  await head.branch(from, (state) => [{ type: 'branch-started', from, reason: 'rewound' }, remark(state.seq)]);
  assert.deepEqual([head.state.pending.length, head.state.seq], [0, 5]);
  const path: string[] = [];
  for await (const events of head.log.read({ from: 'root' })) path.push(...events.map((event) => event.type));
  assert.deepEqual(path, ['session-started', 'branch-started', 'annotation-added']);
  await head.record([inputFact('c')]);
  assert.equal(head.state.pending.length, 1);
});

test('a branch that cannot be recorded, or begins at a missing event, leaves the head unchanged', async () => {
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
