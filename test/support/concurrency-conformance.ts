// Conformance tests of stores for concurrent calls: each caller gets its own result, and none fails because of another.
import assert from 'node:assert/strict';
import type { Event, Fact, FleetStore, Log } from '../../src/core/index.ts';
import { endedResult, type RegisterConformanceTest } from './queue-conformance.ts';

const sessionNames = Array.from({ length: 30 }, (_, i) => `s${i}`);
const annotation = (value: string): Fact => ({ type: 'annotation-added', key: 'k', value });

async function readValues({ sessions }: FleetStore, session: string): Promise<readonly unknown[]> {
  const events: Event[] = [];
  for await (const some of (await sessions.reader(session)).read()) events.push(...some);
  return events.map((event) => (event.type === 'annotation-added' ? event.value : event.type));
}

/** The result of each: `yes`, or the code of the error. */
async function outcomes(calls: readonly Promise<unknown>[]): Promise<readonly string[]> {
  const settled = await Promise.allSettled(calls);
  return settled.map((each) => (each.status === 'fulfilled' ? 'yes' : String((each.reason as { code?: string }).code)));
}

/** Registers the tests of concurrent calls. */
export function concurrencyConformance(register: RegisterConformanceTest): void {
  register(
    '[A116] concurrent appends reach their own sessions; only a writer that lost its session is refused',
    async (open) => {
      const [store, other] = [await open(), await open()];
      const logs = await Promise.all(sessionNames.map((session) => store.sessions.open(session)));
      const taken = await other.sessions.open('s7', { force: true });
      const again = await store.sessions.open('s9', { force: true });
      const tail = (i: number): number => (i === 12 ? 5 : 0);
      const added = await outcomes(
        [...logs, again].map((log, i) =>
          log.append(tail(i), [annotation(`${i}a`), annotation(`${i}b`)], { durable: i % 2 === 0 }),
        ),
      );
      const wanted = [...sessionNames, 'again'].map((_, i) =>
        i === 7 || i === 9 ? 'store/fenced' : i === 12 ? 'store/conflict' : 'yes',
      );
      assert.deepEqual(added, wanted);
      for (const [i, session] of sessionNames.entries()) {
        const writer = i === 9 ? sessionNames.length : i;
        assert.deepEqual(
          await readValues(store, session),
          i === 7 || i === 12 ? [] : [`${writer}a`, `${writer}b`],
          session,
        );
      }
      await Promise.all([...logs, again, taken].map((log) => log.close()));
      assert.deepEqual(
        (await store.sessions.list({ limit: 100 })).filter(({ holder }) => holder !== undefined),
        [],
        'all are released',
      );
    },
  );

  register('[A52] a session that several writers open at once is opened by one of them', async (open) => {
    const { sessions } = await open();
    const opened = sessionNames.map((_, i) => sessions.open(i % 3 === 0 ? 'one' : `s${i}`));
    const found = await outcomes(opened);
    assert.equal(found.filter((each, i) => i % 3 === 0 && each === 'yes').length, 1);
    assert.ok(found.every((each, i) => each === (i % 3 === 0 && each !== 'yes' ? 'store/locked' : 'yes')));
    const logs = (await Promise.allSettled(opened)).flatMap((each): readonly Log[] =>
      each.status === 'fulfilled' ? [each.value] : [],
    );
    await Promise.all(logs.map((log) => log.close()));
  });

  register('concurrent reads of the inbox return the messages of their own session', async (open) => {
    const { inbox } = await open();
    for (const session of sessionNames.slice(0, 5))
      for (const text of ['one', 'two']) await inbox.send(session, { type: 'steer', text: `${session} ${text}` });
    const read = await Promise.all(sessionNames.map((session) => inbox.read(session, 0)));
    assert.deepEqual(
      read.map((messages) => messages.map(({ message }) => ('text' in message ? message.text : ''))),
      sessionNames.map((session, i) => (i < 5 ? [`${session} one`, `${session} two`] : [])),
    );
  });

  register(
    '[A91] runs that are enqueued concurrently are returned to their callers, and a run with a known id is added once',
    async (open) => {
      const { queue } = await open();
      const results = await Promise.all(
        sessionNames.map((id, i) =>
          queue.enqueue(i % 10 === 9 ? [{ id: 'same', prompt: 'w' }] : [{ id, prompt: id }, { prompt: `${id}+` }]),
        ),
      );
      assert.deepEqual(
        results.map((runs) => runs.map(({ prompt: text }) => text)),
        sessionNames.map((id, i) => (i % 10 === 9 ? ['w'] : [id, `${id}+`])),
      );
      assert.equal((await queue.list({ limit: 100 })).length, 27 * 2 + 1);
    },
  );

  register(
    '[A92] runs that end at the same time keep their own outcomes, and their parents get a message',
    async (open) => {
      const store = await open();
      const { queue, inbox } = store;
      await queue.enqueue([{ id: 'above', prompt: '', notBefore: new Date(Date.now() + 3_600_000).toISOString() }]);
      await queue.enqueue(
        sessionNames.map((id, i) => ({ id, prompt: '', ...(i % 5 === 0 ? { parent: 'above' } : {}) })),
      );
      const { promise: all, resolve } = Promise.withResolvers<void>();
      const started = new Set<string>();
      const stop = new AbortController();
      const working = queue.work({
        worker: 'w',
        concurrency: sessionNames.length,
        signal: stop.signal,
        async handle({ id }) {
          if (started.add(id).size === sessionNames.length) resolve();
          await all;
          return id === 's3' ? { type: 'waiting', pendingApprovals: [] } : endedResult(id);
        },
      });
      await all;
      stop.abort();
      await working;
      for (const id of sessionNames) {
        const run = await queue.run(id);
        assert.deepEqual([run?.status, run?.outcome?.text], id === 's3' ? ['waiting', undefined] : ['ended', id], id);
      }
      const endedRuns = (await inbox.read('above', 0)).map(({ message }) =>
        message.type === 'ended' ? message.run : message.type,
      );
      assert.deepEqual(endedRuns.toSorted(), sessionNames.filter((_, i) => i % 5 === 0).toSorted());
    },
  );
}
