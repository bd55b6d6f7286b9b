// Tests of the agent run handler: it continues an interrupted attempt, delivers each input once, and writes nothing after it lost the run.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { resolveAgent, defineTool, Session } from '../agent/index.ts';
import {
  FairleadError,
  formatRetryNotice,
  parseRetryNotice,
  type ResolvedAgent,
  type Event,
  type FleetRun,
  type FleetStore,
  type Gate,
  type RunSettlement,
} from '../core/index.ts';
import { calls, fails, scriptedProvider, type Script } from '../testing/index.ts';
import { createDriverRun, createDriverContext } from '../../test/support/driver-fixture.ts';
import { openTempFleetStore } from '../../test/support/fleet-store.ts';
import { createAgentRunHandler, type RunHandlerContext } from './run-handler.ts';
import { sendMessage } from './inbox.ts';
import type { AgentInstance } from './agent-factory.ts';
import { startWorker } from './worker.ts';

const lookTool = defineTool({
  name: 'look',
  description: 'Looks.',
  effect: 'read',
  input: { type: 'object' },
  run: () => 'seen',
});

const agentFor = (script: Script, more: Partial<ResolvedAgent> = {}): ResolvedAgent => ({
  ...resolveAgent({ provider: scriptedProvider(script), system: 'Work.', tools: [lookTool] }),
  ...more,
});

type HandleOptions = {
  readonly run?: Partial<FleetRun>;
  readonly context?: Partial<RunHandlerContext>;
  readonly outfit?: Partial<AgentInstance>;
};

const handle = (
  store: FleetStore,
  parts: ResolvedAgent,
  { run, context, outfit }: HandleOptions = {},
): Promise<RunSettlement> =>
  createAgentRunHandler(async () => ({ parts, close: async () => {}, ...outfit }))(
    createDriverRun(run),
    createDriverContext(store, context),
  );

async function eventsOf(store: FleetStore, session = 's'): Promise<readonly Event[]> {
  const log = await store.sessions.reader(session);
  const events: Event[] = [];
  const most = (await store.sessions.list()).find((each) => each.session === session)?.events;
  for await (const event of log.follow(0, AbortSignal.timeout(30_000))) if (events.push(event) === most) break;
  await log.close();
  return events;
}

/** Returns the inputs of all branches. */
const inputs = async (store: FleetStore): Promise<readonly string[]> =>
  (await eventsOf(store)).flatMap((event) => (event.type === 'input-received' ? [event.input] : []));

const text = (settlement: RunSettlement): string | undefined =>
  settlement.type === 'completed' ? settlement.outcome.text : settlement.type;

const rateLimited = (afterMs: number): Script => [calls('look', {}), fails({ name: 'rate-limited', afterMs }), 'Done.'];

test('[A56] a run whose provider asks for more than a minute rests, and continues where it was', async (t: TestContext) => {
  const store = await openTempFleetStore(t);
  const parts = agentFor(rateLimited(3_600_000));
  const before = Date.now();
  const settlement = await handle(store, parts);
  assert.ok(settlement.type === 'released' && settlement.notBefore !== undefined, JSON.stringify(settlement));
  const restMs = Date.parse(settlement.notBefore) - before;
  assert.ok(restMs >= 3_600_000 && restMs < 3_660_000, String(restMs));
  const events = await eventsOf(store);
  assert.equal(
    events.some(({ type }) => type === 'run-ended'),
    false,
  );
  const notice = events.flatMap((event) => parseRetryNotice(event) ?? []).at(-1);
  assert.match(
    notice ? formatRetryNotice(notice) : '',
    /^Rate limited \(.* accepts no request before .*\), sending in 60 min\.$/,
  );
  const resumed = await handle(store, parts, { run: { attempts: 2 } });
  assert.equal(text(resumed), 'Done.');
  const looks = (await eventsOf(store)).filter(({ type }) => type === 'tool-started');
  assert.equal(looks.length, 1, 'nothing is done twice');
});

test('[A56] a run does not rest for a minute or less, for more than eight days, or after too many attempts', async (t: TestContext) => {
  for (const [afterMs, attempts] of [
    [60_000, 1],
    [9 * 86_400_000, 1],
    [3_600_000, 200],
  ] as const) {
    const store = await openTempFleetStore(t);
    const settlement = await handle(store, agentFor(rateLimited(afterMs)), { run: { attempts } });
    assert.equal(settlement.type, 'completed', String(afterMs));
  }
});

test('[A24, A52] an end that the queue did not record is reported again without a request to the model', async (t: TestContext) => {
  const store = await openTempFleetStore(t);
  const parts = agentFor(['One.']);
  assert.equal(text(await handle(store, parts)), 'One.');
  const again = await handle(store, parts, { run: { attempts: 2 } });
  assert.deepEqual([text(again), await inputs(store)], ['One.', ['r']]);
  const other = agentFor(['Two.']);
  assert.equal(text(await handle(store, other, { run: { id: 'q', prompt: 'More.' } })), 'Two.');
  const late = await handle(store, other, { run: { attempts: 3 } });
  assert.equal(text(late), 'One.', 'the outcome of this run, not of the latest');
  await store.inbox.send('s', { type: 'steer', text: 'One thing more.' });
  assert.equal(text(await handle(store, agentFor(['Three.']), { run: { attempts: 4 } })), 'Three.');
  assert.deepEqual((await inputs(store)).slice(0, 2), ['r', 'q']);
  assert.equal((await inputs(store)).length, 3, 'the inbox message was added, and no other input');
});

test('[A24, A52] a released run continues with its history, and its prompt is recorded once', async (t) => {
  const store = await openTempFleetStore(t);
  const leave = new AbortController();
  const slow = defineTool({
    name: 'look',
    description: 'Looks.',
    effect: 'read',
    input: { type: 'object' },
    run: () => leave.abort(),
  });
  const first = { ...agentFor([calls('look')]), tools: new Map([['look', slow]]) };
  assert.deepEqual(await handle(store, first, { context: { stopSignal: leave.signal } }), { type: 'released' });
  assert.equal(text(await handle(store, agentFor(['Done.']), { run: { attempts: 2 } })), 'Done.');
  assert.deepEqual(await inputs(store), ['r']);
});

test('[A116] after the lease of a run is lost, nothing more is written', async (t) => {
  const store = await openTempFleetStore(t);
  const lost = new AbortController();
  const cut = new AbortController();
  const left = new FairleadError('run/left', 'Taken over.', { blame: 'store' });
  const parts = agentFor(async () => {
    lost.abort();
    cut.abort(left);
    return 'Too late.';
  });
  const before = handle(store, parts, { context: { leaseLost: lost.signal, signal: cut.signal } });
  await assert.rejects(before, { code: 'store/fenced' });
  const types = (await eventsOf(store)).map(({ type }) => type);
  assert.equal(types.at(-1), 'turn-started', types.join(' '));
});

test('[A53, A116] a call that was recorded before a pause of the process is not made if another worker has taken the run meanwhile', async (t) => {
  const store = await openTempFleetStore(t);
  let sent = 0;
  const send = defineTool({ name: 'send', description: 'Sends.', input: { type: 'object' }, run: () => ++sent });
  const parts = agentFor([calls('send')], { tools: new Map([['send', send]]) });
  const open: FleetStore['sessions']['open'] = async (...given) => {
    const log = await store.sessions.open(...given);
    return {
      ...log,
      async append(after, facts, options) {
        const events = await log.append(after, facts, options);
        if (!facts.some(({ type }) => type === 'tool-started')) return events;
        await (await store.sessions.open('s', { force: true })).close();
        await pause(700);
        return events;
      },
    };
  };
  const sleepy = { ...store, sessions: { ...store.sessions, open } };
  await assert.rejects(handle(sleepy, parts), { code: 'store/fenced' });
  assert.equal(sent, 0);
});

test('a prompt that an edit removed is not sent again, and an unfinished earlier run is ended first', async (t) => {
  const store = await openTempFleetStore(t);
  const asking = agentFor(() => calls('look'), { gates: [() => ({ type: 'ask', question: 'Look?' })] });
  const rests = await handle(store, asking);
  assert.equal(rests.type, 'waiting');
  const session = await Session.open(asking, await store.sessions.open('s'), 's');
  await session.edit([{ role: 'user', parts: [{ type: 'text', text: 'Something else.' }] }]);
  await session.close();
  const settled = await handle(store, agentFor(['Else.']), { run: { attempts: 2 } });
  assert.deepEqual([text(settled), (await inputs(store)).filter((each) => each === 'r').length], ['Else.', 1]);

  await handle(store, asking, { run: { id: 'q', session: 'two' } });
  const next = await handle(store, agentFor(['Next.']), { run: { id: 'n', session: 'two', prompt: 'Next?' } });
  const ends = (await eventsOf(store, 'two')).flatMap((event) => (event.type === 'run-ended' ? [event.reason] : []));
  assert.deepEqual([text(next), ends], ['Next.', ['cancelled', 'answered']]);
});

test('messages that arrive while a run ends are read by it, and every request checks the kill switch', async (t) => {
  const store = await openTempFleetStore(t);
  let asked = 0;
  const parts = agentFor(async ({ index }) => {
    if (index === 0) await store.inbox.send('s', { type: 'follow-up', text: 'And then?' });
    return index === 0 ? 'First.' : 'Second.';
  });
  const mustGo = async (): Promise<void> => void asked++;
  assert.equal(text(await handle(store, parts, { context: { assertNotStopped: mustGo } })), 'Second.');
  assert.equal(asked, 2);
});

test('[A112] of two approvals the one that is answered first is applied, and the run waits for the other', async (t) => {
  const store = await openTempFleetStore(t);
  let looks = 0;
  const counted = defineTool({
    name: 'look',
    description: 'Looks.',
    effect: 'write',
    input: { type: 'object' },
    run: () => `seen ${++looks}`,
  });
  const asking = agentFor(
    async () => {
      // It arrives after the inbox was read in this turn, and before the run waits.
      await store.inbox.send('s', { type: 'answer', call: 'c00001000', allowed: true });
      return [calls('look'), calls('look')];
    },
    { gates: [() => ({ type: 'ask', question: 'Look?' })], tools: new Map([['look', counted]]) },
  );
  const settled = await handle(store, asking);
  assert.deepEqual(settled.type === 'waiting' && settled.pendingApprovals.map(({ call }) => call), ['c00001001']);
  assert.equal(looks, 1);
});

test('[A95] the gate of the fleet runs before all others, and an unknown outcome needs approval', async (t) => {
  const store = await openTempFleetStore(t);
  const asked: string[] = [];
  const gate =
    (name: string): Gate =>
    () => {
      asked.push(name);
      return { type: 'deny', reason: `${name} says no.` };
    };
  const parts = agentFor(({ results }) => (results.length === 0 ? calls('look') : (results[0] ?? '')), {
    gates: [gate('Its own')],
  });
  const settled = await handle(store, parts, { context: { gate: gate('The fleet') } });
  assert.deepEqual([text(settled), asked], ['The fleet says no.', ['The fleet']]);
  let unsure: unknown;
  const curious = defineTool({
    name: 'look',
    description: 'Looks.',
    effect: 'read',
    input: { type: 'object' },
    run: (_, { agent }) => (unsure = agent.onUnknownOutcome),
  });
  const seen = { ...agentFor([calls('look'), 'Done.']), tools: new Map([['look', curious]]) };
  await handle(store, seen, { run: { id: 'q', session: 'two' } });
  assert.equal(unsure, 'ask');
});

test('onPrompt may add inputs or refuse the prompt, and onEvent receives all events', async (t) => {
  const store = await openTempFleetStore(t);
  const told: string[] = [];
  const outfit: Partial<AgentInstance> = {
    onSessionOpened: async (session) => session.annotate('opened', true),
    onPrompt: async (words) => [`Heard: ${words}`],
    onEvent: (event) => told.push(event.type),
  };
  assert.equal(text(await handle(store, agentFor(['Yes.']), { outfit })), 'Yes.');
  assert.deepEqual(await inputs(store), ['r-note-1', 'r']);
  assert.deepEqual([told[0], told.at(-1)], ['annotation-added', 'run-ended']);
  const words = (): Promise<never> => Promise.reject(new FairleadError('hook/refused', 'Not here.', { blame: 'user' }));
  await assert.rejects(
    handle(store, agentFor([]), { run: { id: 'q', session: 'two' }, outfit: { onPrompt: words } }),
    /Not here/,
  );
});

test('[A53] messages that arrive while a run ends are read before it has ended, and those read before a crash are cleared', async (t) => {
  const store = await openTempFleetStore(t);
  await store.queue.enqueue([{ id: 'r', prompt: 'Go.', session: 's' }]);
  const parts = agentFor(['Gone.', 'Reported.']);
  let closings = 0;
  const run = createAgentRunHandler(async () => ({
    parts,
    async close() {
      // The resources of the run are being closed: the inbox is no longer read.
      if (closings++ === 0) assert.ok(await sendMessage(store, 's', { type: 'follow-up', text: 'Report.' }));
    },
  }));
  const worker = startWorker({ store, handlers: { run }, drain: true });
  await worker.done;
  const ended = await store.queue.run('r');
  assert.deepEqual([ended?.status, ended?.outcome?.text, closings], ['ended', 'Reported.', 2]);
  const place = await store.inbox.send('s', { type: 'steer', text: 'Left over.' });
  const log = await store.sessions.open('s', { force: true });
  const { events = 0 } = (await store.sessions.list())[0] ?? {};
  await log.append(events, [{ type: 'annotation-added', key: 'inbox', value: place }]);
  await log.close();
  await handle(store, parts, { run: { attempts: 2 } });
  assert.deepEqual(await store.inbox.read('s', 0), []);
});
