// Tests of client tools: a run ends with the calls, also after a crash, and the results of the client are recorded once.
import assert from 'node:assert/strict';
import test from 'node:test';
import { resolveAgent } from '../agent/index.ts';
import {
  toArray,
  type Event,
  type FleetRun,
  type FleetStore,
  type Gate,
  type JsonObject,
  type ModelRequest,
  type RunSettlement,
} from '../core/index.ts';
import { calls, says, scriptedProvider, type Script } from '../testing/index.ts';
import { createDriverRun, createDriverContext } from '../../test/support/driver-fixture.ts';
import { openTempFleetStore } from '../../test/support/fleet-store.ts';
import { createClientTools } from './client-tools.ts';
import { createAgentRunHandler, type RunHandlerContext } from './run-handler.ts';

const tools = [
  { name: 'fetch_it', description: 'Fetches.', input: { type: 'object' } },
  { name: 'send_it', description: 'Sends.', input: { type: 'object' } },
];

type ClientSetup = {
  readonly store: FleetStore;
  readonly script: Script<ModelRequest>;
  readonly gates?: readonly Gate[];
};

/** Handles a run of the session as a worker does. */
function handle(
  { store, script, gates = [] }: ClientSetup,
  client: JsonObject,
  more: Partial<FleetRun> = {},
  context: Partial<RunHandlerContext> = {},
): Promise<RunSettlement> {
  const run = createDriverRun({ id: 'one', settings: { client: { tools, ...client } }, ...more });
  const driver = createAgentRunHandler(async ({ settings }) => ({
    parts: resolveAgent({
      provider: scriptedProvider(script),
      system: 'Work.',
      tools: createClientTools(settings),
      gates,
    }),
    limits: { turns: 20 },
    close: async () => {},
  }));
  return driver(run, createDriverContext(store, context));
}

async function readEvents({ store }: ClientSetup): Promise<readonly Event[]> {
  const log = await store.sessions.reader('s');
  const events = (await Array.fromAsync(log.read())).flat();
  await log.close();
  return events;
}

const listHandedTools = (settlement: RunSettlement): readonly string[] | string =>
  settlement.type === 'completed'
    ? (settlement.outcome.clientToolCalls ?? []).map(({ tool }) => tool)
    : settlement.type;

const textOf = (settlement: RunSettlement): string =>
  settlement.type === 'completed' ? settlement.outcome.text : settlement.type;

const callsIn = (settlement: RunSettlement): readonly string[] =>
  settlement.type === 'completed' ? (settlement.outcome.clientToolCalls ?? []).map(({ id }) => id) : [];

/** Calls both tools until there are results, then answers with the results and the number of messages. */
const both: Script<ModelRequest> = ({ results, body }) =>
  results.length === 0
    ? calls('fetch_it', { a: 1 }).and(calls('send_it'))
    : says(`${results.join('; ')} of ${toArray(body.messages).length}`);

test('[A53] an end that the queue did not record is reported again with its calls, without another request to the model', async (t) => {
  const scene = { store: await openTempFleetStore(t), script: both };
  const first = await handle(scene, {});
  assert.deepEqual(listHandedTools(first), ['fetch_it', 'send_it']);
  const before = await readEvents(scene);
  const again = await handle({ ...scene, script: [] }, {}, { attempts: 2 });
  assert.deepEqual(again, first);
  assert.equal((await readEvents(scene)).length, before.length);
});

test('[A52, A53] results are recorded once, however often the run that delivers them is started', async (t) => {
  const scene = { store: await openTempFleetStore(t), script: both };
  const [fetched = '', sent = ''] = callsIn(await handle(scene, {}));
  const client = {
    silent: true,
    results: [
      { call: sent, text: 'sent' },
      { call: fetched, text: 'gone', failed: true },
    ],
  };
  const second = { id: 'two', words: '(results)' };
  const leave = new AbortController();
  leave.abort();
  assert.equal(textOf(await handle(scene, client, second, { stopSignal: leave.signal })), 'released');
  assert.equal(textOf(await handle(scene, client, { ...second, attempts: 2 })), 'gone; sent of 3');
  assert.equal(textOf(await handle({ ...scene, script: [] }, client, { ...second, attempts: 3 })), 'gone; sent of 3');
  const facts = await readEvents(scene);
  const receipts = facts.flatMap((fact) => (fact.type === 'tool-ended' ? [[fact.call, fact.outcome]] : []));
  assert.deepEqual(receipts, [
    [fetched, 'failed'],
    [sent, 'ok'],
  ]);
  const said = facts.flatMap((fact) => (fact.type === 'input-received' ? [fact.input] : []));
  assert.deepEqual(said, ['one', 'two'], 'the prompt text of the queue entry is not sent to the model');
});

test('[A53] calls without a result of the client have an unknown outcome when another message arrives', async (t) => {
  const scene = { store: await openTempFleetStore(t), script: both };
  await handle(scene, {});
  const answer = textOf(await handle(scene, {}, { id: 'two', prompt: 'Never mind.' }));
  assert.equal(answer, 'The client sent no result.; The client sent no result. of 4');
  const outcomes = (await readEvents(scene)).flatMap((fact) => (fact.type === 'tool-ended' ? [fact.outcome] : []));
  assert.deepEqual(outcomes, ['unknown', 'unknown']);
});

test('[A112] a call that needs approval delays the others, and is sent to the client with them', async (t) => {
  const asks: Gate = ({ tool }) =>
    tool === 'send_it' ? { type: 'ask', question: 'May it be sent?' } : { type: 'allow' };
  const scene = { store: await openTempFleetStore(t), script: both, gates: [asks] };
  const waiting = await handle(scene, {});
  assert.equal(waiting.type, 'waiting');
  const question =
    waiting.type === 'waiting' ? waiting.pendingApprovals.find(({ tool }) => tool === 'send_it') : undefined;
  assert.equal(question?.question, 'May it be sent?');
  await scene.store.inbox.send('s', { type: 'answer', call: question.call, allowed: true });
  assert.deepEqual(listHandedTools(await handle(scene, {}, { attempts: 2 })), ['fetch_it', 'send_it']);
});

test('a client that requires a call gets one or no answer, and one call at a time if it requests that', async (t) => {
  const scene = { store: await openTempFleetStore(t), script: both };
  assert.deepEqual(listHandedTools(await handle(scene, { single: true })), ['fetch_it']);
  let turns = 0;
  const stubborn: ClientSetup = {
    store: await openTempFleetStore(t),
    script: ({ body }) => (turns++, body.toolChoice === 'auto' ? says('No.') : calls('unheard_of')),
  };
  const none = await handle(stubborn, { choice: 'required' });
  assert.equal(none.type === 'completed' && none.outcome.reason, 'abstained');
  assert.ok(turns < 8, `${turns} turns`);
});

test('the sampling parameters of a client reach the model', async (t) => {
  let seen: unknown;
  const scene: ClientSetup = {
    store: await openTempFleetStore(t),
    script: ({ body }) => {
      seen = body.settings;
      return says('Yes.');
    },
  };
  await handle(scene, { sampling: { temperature: 0.5, seed: 7, maxOutputTokens: 99 } });
  assert.deepEqual(seen, { temperature: 0.5, seed: 7, maxOutputTokens: 99 });
});
