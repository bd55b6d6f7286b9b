// Conformance tests of session stores.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import * as fc from 'fast-check';
import { zeroUsage, type Event, type Fact, type Log, type SessionStore } from '../../src/core/index.ts';
import { memoryLog } from '../../src/stores/index.ts';

/** Creates an empty store and returns a function that opens it; opened again, it is the same store as another process sees it. */
export type FreshSessions = (t: TestContext) => Promise<() => Promise<SessionStore>>;

const annotation = (value: number): Fact => ({ type: 'annotation-added', key: 'n', value });

const epoch = (session: string): Fact => ({
  type: 'epoch-started',
  epoch: 1,
  reason: 'compacted',
  system: '',
  tools: [],
  model: 'm',
  baseline: { session, messages: [], turn: 0, loaded: [], queue: [], total: zeroUsage },
});

async function readEvents(log: Log, options?: Parameters<Log['read']>[0]): Promise<readonly Event[]> {
  const events: Event[] = [];
  for await (const batch of log.read(options)) events.push(...batch);
  return events;
}

const eventSeqs = (events: readonly Event[]): readonly number[] => events.map(({ seq }) => seq);

/** Registers the tests of a session store. */
export function sessionsConformance(
  name: string,
  fresh: FreshSessions,
  options: { readonly skip?: string } = {},
): void {
  const register = (title: string, work: (open: () => Promise<SessionStore>) => Promise<void>): void =>
    void test(`${name}: ${title}`, { timeout: 60_000, ...options }, async (t) => work(await fresh(t)));

  register('[A52] a session returns what was written to it, in order', async (open) => {
    const sessions = await open();
    const log = await sessions.open('one');
    const facts: readonly Fact[] = [{ type: 'session-started', session: 'one' }, annotation(1), annotation(2)];
    const written = [
      ...(await log.append(0, facts.slice(0, 2), { durable: true })),
      ...(await log.append(2, [annotation(2)])),
    ];
    const events = await readEvents(log);
    assert.deepEqual(events, written);
    assert.deepEqual(
      events.map(({ seq, id: _id, parent: _parent, time: _time, ...fact }) => [seq, fact]),
      facts.map((fact, i) => [i + 1, fact]),
    );
    assert.deepEqual(
      events.map(({ parent }) => parent),
      [null, events[0]?.id, events[1]?.id],
    );
    assert.ok(events.every(({ time }) => new Date(time).toISOString() === time));
    await log.close();
    assert.deepEqual(await readEvents(await (await open()).reader('one')), written);
  });

  register('[A52] an append that does not follow the last event is refused and writes nothing', async (open) => {
    const log = await (await open()).open('one');
    await log.append(0, [annotation(1)]);
    await assert.rejects(log.append(0, [annotation(2), annotation(3)]), { code: 'store/conflict' });
    await assert.rejects(log.append(5, [annotation(2)]), { code: 'store/conflict' });
    assert.deepEqual(eventSeqs(await log.append(1, [annotation(4)])), [2]);
    assert.equal((await readEvents(log)).length, 2);
    await log.close();
  });

  register('[A52] an open session is refused to a second writer, and can be opened once it is closed', async (open) => {
    const sessions = await open();
    const log = await sessions.open('one', { holder: 'the first' });
    await assert.rejects(sessions.open('one'), { code: 'store/locked' });
    await assert.rejects((await open()).open('one'), { code: 'store/locked' });
    await log.close();
    await assert.rejects(log.append(0, [annotation(1)]), { code: 'store/closed' });
    const next = await (await open()).open('one');
    assert.deepEqual(eventSeqs(await next.append(0, [annotation(1)])), [1]);
    await next.close();
  });

  register('[A116] a writer that lost its session cannot write any more', async (open) => {
    const log = await (await open()).open('one');
    await log.append(0, [annotation(1)], { durable: true });
    const other = await (await open()).open('one', { force: true });
    await assert.rejects(log.append(1, [annotation(2)], { durable: true }), { code: 'store/fenced' });
    assert.deepEqual(eventSeqs(await other.append(1, [annotation(3)], { durable: true })), [2]);
    await assert.rejects(log.append(2, [annotation(4)]), { code: 'store/fenced' });
    await log.close();
    // Closing a log that lost its session does not release the session of the new writer.
    await assert.rejects((await open()).open('one'), { code: 'store/locked' });
    assert.equal((await readEvents(other)).length, 2);
    await other.close();
  });

  register('a reader reads and may not write; a missing session is an error', async (open) => {
    const sessions = await open();
    await assert.rejects(sessions.reader('none'), { code: 'store/no-session' });
    const log = await sessions.open('one');
    await log.append(0, [annotation(1)]);
    const reader = await (await open()).reader('one');
    await assert.rejects(reader.append(1, [annotation(2)]), { code: 'store/read-only' });
    await log.append(1, [annotation(2)]);
    assert.deepEqual(eventSeqs(await readEvents(reader)), [1, 2]);
    await reader.close();
    await log.close();
  });

  register('[A24] a session is read from its last epoch on, along any branch', async (open) => {
    const log = await (await open()).open('one');
    const first = await log.append(0, [annotation(1), epoch('one'), annotation(3), annotation(4)]);
    await log.append(4, [epoch('one'), annotation(6)]);
    assert.deepEqual(eventSeqs(await readEvents(log, { from: 'epoch' })), [5, 6]);
    const at = first[2]?.id ?? '';
    const [branch] = await log.append(6, [annotation(7)], { parent: at });
    assert.equal(branch?.parent, at);
    assert.deepEqual(eventSeqs(await readEvents(log)), [1, 2, 3, 7]);
    assert.deepEqual(eventSeqs(await readEvents(log, { from: 'epoch' })), [2, 3, 7]);
    assert.deepEqual(eventSeqs(await readEvents(log, { at: first[3]?.id ?? '' })), [1, 2, 3, 4]);
    await assert.rejects(readEvents(log, { at: 'zz.none' }), { code: 'store/unknown-event' });
    await assert.rejects(log.append(7, [annotation(8)], { parent: 'zz.none' }), { code: 'store/unknown-event' });
    await log.close();
  });

  register('[A93] a follower gets every event once, of all branches, from any writer', async (open) => {
    const sessions = await open();
    const log = await sessions.open('one');
    const [first] = await log.append(0, [annotation(1), annotation(2)]);
    const end = new AbortController();
    const watching = [await sessions.reader('one'), await (await open()).reader('one'), log];
    const all = watching.map(async (each) => {
      const seen: number[] = [];
      for await (const event of each.follow(1, end.signal)) if (seen.push(event.seq) === 4) break;
      return seen;
    });
    await log.append(2, [annotation(3)], { parent: first?.id ?? '' });
    await log.append(3, [annotation(4), annotation(5)], { durable: true });
    assert.deepEqual(await Promise.all(all), [
      [2, 3, 4, 5],
      [2, 3, 4, 5],
      [2, 3, 4, 5],
    ]);
    const waiting = (async () => {
      for await (const event of log.follow(5, end.signal)) assert.fail(`There is no event ${event.seq}.`);
    })();
    end.abort();
    await waiting;
    await log.close();
  });

  register('a long session is read completely and in order, whatever its events contain', async (open) => {
    const log = await (await open()).open('one');
    const values = Array.from(
      { length: 700 },
      (_, i) => `${i} \u0000 \u2028 "ä\ud83d\ude00" ${'x'.repeat(i % 7 === 0 ? 9000 : 10)}`,
    );
    for (let i = 0; i < 700; i += 100)
      await log.append(
        i,
        values.slice(i, i + 100).map((value): Fact => ({ type: 'annotation-added', key: 'v', value })),
      );
    const events = await readEvents(log);
    assert.deepEqual(
      events.map((event) => event.type === 'annotation-added' && event.value),
      values,
    );
    await log.close();
  });

  register('sessions are listed last changed first, in pages, with their writers', async (open) => {
    const sessions = await open();
    assert.deepEqual(await sessions.list(), []);
    for (const session of ['a', 'b', 'c/../d']) {
      const log = await sessions.open(session);
      await log.append(0, [{ type: 'session-started', session, name: `the ${session}` }, annotation(1)]);
      await log.close();
      await nextMillisecond();
    }
    const log = await sessions.open('a', { holder: 'somebody' });
    await log.append(2, [annotation(2)]);
    const list = await (await open()).list();
    assert.deepEqual(
      list.map(({ session, name, events, holder }) => [session, name, events, holder !== undefined]),
      [
        ['a', 'the a', 3, true],
        ['c/../d', 'the c/../d', 2, false],
        ['b', 'the b', 2, false],
      ],
    );
    assert.deepEqual(await sessions.list({ limit: 1, before: 'c/../d' }), list.slice(2));
    await log.close();
  });

  register('a session that is not open can be removed, and its id can be used again', async (open) => {
    const sessions = await open();
    const log = await sessions.open('one');
    await log.append(0, [annotation(1)]);
    await assert.rejects((await open()).remove('one'), { code: 'store/locked' });
    await log.close();
    await (await open()).remove('one');
    await assert.rejects(sessions.reader('one'), { code: 'store/no-session' });
    await assert.rejects(sessions.remove('one'), { code: 'store/no-session' });
    const again = await sessions.open('one');
    assert.deepEqual(eventSeqs(await again.append(0, [annotation(1)])), [1]);
    await again.close();
  });

  register('[A52] any sequence of appends reads as it does from a log in memory', async (open) => {
    const sessions = await open();
    let count = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
        const log = await sessions.open(`s${(count += 1)}`);
        await assertSameAsMemoryLog(log, steps);
        await log.close();
      }),
      { numRuns: 25 },
    );
  });
}

type Step = { readonly type: 'append' | 'late' | 'branch' | 'read' | 'epoch'; readonly n: number };

const step: fc.Arbitrary<Step> = fc.record({
  type: fc.constantFrom('append', 'late', 'branch', 'read', 'epoch'),
  n: fc.nat({ max: 20 }),
});

/** Applies the same steps to a log and to one in memory. Ids differ, so events are compared by seq. */
async function assertSameAsMemoryLog(log: Log, steps: readonly Step[]): Promise<void> {
  const plain = memoryLog();
  const ids: string[] = [];
  const write = async (facts: readonly Fact[], parent?: number): Promise<void> => {
    const at = plain.events.length;
    const ownOptions = parent === undefined ? {} : { parent: ids[parent] ?? '' };
    const memoryOptions = parent === undefined ? {} : { parent: plain.events[parent]?.id ?? '' };
    ids.push(...(await log.append(at, facts, { durable: parent === 1, ...ownOptions })).map(({ id }) => id));
    await plain.append(at, facts, memoryOptions);
  };
  for (const { type, n } of steps) {
    const some = n % Math.max(1, plain.events.length);
    if (type === 'append') await write([annotation(n), annotation(n + 1)].slice(0, 1 + (n % 2)));
    if (type === 'epoch') await write([epoch('s'), annotation(n)].slice(0, 1 + (n % 2)));
    if (type === 'branch' && plain.events.length > 0) await write([annotation(n)], some);
    if (type === 'late') await assert.rejects(log.append(plain.events.length + 1 + n, [annotation(n)]));
    if (type !== 'read' || plain.events.length === 0) continue;
    const from = n % 2 === 0 ? 'root' : 'epoch';
    const ownOptions = await readEvents(log, { at: ids[some] ?? '', from });
    assert.deepEqual(
      eventSeqs(ownOptions),
      eventSeqs(await readEvents(plain, { at: plain.events[some]?.id ?? '', from })),
    );
  }
  const bare = ({ id: _id, parent: _parent, time: _time, ...rest }: Event): unknown => rest;
  for (const from of ['root', 'epoch'] as const)
    assert.deepEqual((await readEvents(log, { from })).map(bare), (await readEvents(plain, { from })).map(bare));
}

/** Times have a resolution of milliseconds: sessions that are sorted by time must not share one. */
async function nextMillisecond(): Promise<void> {
  for (const now = Date.now(); Date.now() === now;) await new Promise(setImmediate);
}
