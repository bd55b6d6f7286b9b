// Sessions and stores that version 0.1 wrote: they open, list, verify, replay and continue.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test, { after, type TestContext } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { Client } from 'pg';
import { resolveAgent, Session } from '../src/agent/index.ts';
import {
  fold,
  pendingApprovals,
  runStateView,
  type Event,
  type FleetStore,
  type Json,
  type ResolvedAgent,
  type Tool,
} from '../src/core/index.ts';
import { createAgentRunHandler, sendMessage, startWorker } from '../src/fleet/index.ts';
import { copyJsonl, jsonlSessions, memoryLog, openFleetStore, openJsonl, verifyFile } from '../src/stores/index.ts';
import { calls, says, scriptedProvider } from '../src/testing/index.ts';
import { startPostgresStores } from './support/postgres-stores.ts';

const fixtures = path.join(import.meta.dirname, 'fixtures/logs-0.1');
const shared = path.resolve(import.meta.dirname, '../../shared/data/logs-0.1');
const skipShared = fs.existsSync(shared)
  ? {}
  : { skip: 'needs the recorded logs of version 0.1 next to the repository' };
const postgres = await startPostgresStores();
after(() => postgres.close());

function createTempDir(t: TestContext): string {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'fairlead-upgrade-'));
  t.after(() => fs.rmSync(directory, { recursive: true, force: true }));
  return directory;
}

const copyToTemp = (t: TestContext, file: string): string => {
  const copy = path.join(createTempDir(t), path.basename(file));
  fs.copyFileSync(file, copy);
  fs.chmodSync(copy, 0o600);
  return copy;
};

/** An agent whose tools only record their calls. It answers after a call, and calls the first tool before that. */
function createCountingAgent(toolNames: readonly string[], made: string[]): ResolvedAgent {
  let hasCalled = false;
  const tools = toolNames.map((name): Tool => ({
    name,
    description: `The tool ${name}.`,
    input: { type: 'object' },
    effect: 'external',
    execute() {
      hasCalled = true;
      made.push(name);
      return `${name} done`;
    },
  }));
  const provider = scriptedProvider(({ results }) =>
    hasCalled ? says(`Results: ${results.join(', ')}`) : calls(toolNames[0] ?? ''),
  );
  return resolveAgent({ provider, system: 'You look things up and send messages.', tools });
}

async function readEvents(log: { read(): AsyncIterable<readonly Event[]> }): Promise<readonly Event[]> {
  return (await Array.fromAsync(log.read())).flat();
}

const toPlainJson = (value: unknown): Json => JSON.parse(JSON.stringify(value)) as Json;

test('law 4: a session file of version 0.1 folds to the state that version 0.1 recorded', async (t) => {
  const file = copyToTemp(t, path.join(fixtures, 'session.jsonl'));
  const recorded = JSON.parse(fs.readFileSync(path.join(fixtures, 'session.json'), 'utf8')) as {
    readonly seq: number;
    readonly turn: number;
    readonly messages: Json;
    readonly total: { readonly unpriced: number };
    readonly waiting: Json;
  };
  assert.equal((await verifyFile(file)).ok, true);
  const log = await openJsonl(file);
  assert.deepEqual(log.report, []);
  const events = await readEvents(log);
  const session = await Session.open(createCountingAgent(['send'], []), log);
  assert.deepEqual(toPlainJson(session.messages), recorded.messages);
  const state = fold(runStateView(), events);
  const { unpriced, ...total } = recorded.total;
  assert.deepEqual([state.seq, state.turn], [recorded.seq, recorded.turn]);
  assert.deepEqual(toPlainJson(state.total), { ...total, turnsWithoutPrice: unpriced });
  assert.deepEqual(toPlainJson(pendingApprovals(state)), recorded.waiting);
  await session.close();
  const denials = events.flatMap((event) => (event.type === 'tool-ended' && event.deniedBy ? [event.deniedBy] : []));
  assert.deepEqual(denials, [{ kind: 'rule', name: 'keep-all' }, { kind: 'user' }]);
});

test('law 2: a call that waits for approval in a session of version 0.1 is approved, and the run continues', async (t) => {
  const file = copyToTemp(t, path.join(fixtures, 'session.jsonl'));
  const made: string[] = [];
  const session = await Session.open(createCountingAgent(['send'], made), await openJsonl(file));
  const [waiting] = pendingApprovals(session.state);
  assert.deepEqual([waiting?.tool, waiting?.question], ['send', 'May it send a message?']);
  await session.resolveApproval(waiting?.id ?? '', true, { by: 'the user' });
  const state = await session.advance(undefined);
  assert.equal(state.run, undefined);
  assert.deepEqual(made, ['send']);
  await session.close();
  assert.equal((await verifyFile(file)).ok, true);
  const [listed] = await jsonlSessions(path.dirname(file)).list();
  assert.equal(listed?.session, 'session-0.1');
  const copy = path.join(path.dirname(file), 'copy.jsonl');
  await copyJsonl(file, copy);
  assert.equal((await verifyFile(copy)).ok, true);
});

/** Handles all runs of a store with an agent that approves nothing by itself. */
async function drain(store: FleetStore, toolNames: readonly string[], made: string[]): Promise<void> {
  const worker = startWorker({
    store,
    drain: true,
    keepDays: Infinity,
    handlers: {
      run: createAgentRunHandler(async () => ({
        parts: createCountingAgent(toolNames, made),
        close: async () => {},
      })),
    },
  });
  await worker.done;
}

async function approveAll(store: FleetStore): Promise<number> {
  const waiting = await store.queue.list({ status: 'waiting' });
  for (const { session, pendingApprovals: approvals } of waiting)
    for (const { call, question } of approvals)
      assert.ok(await sendMessage(store, session, { type: 'answer', call, question, allowed: true, by: 'the user' }));
  return waiting.length;
}

async function assertUpgraded(store: FleetStore): Promise<void> {
  const { queue, sessions, ledger, killSwitch } = store;
  const runs = new Map((await queue.list()).map((run) => [run.id, run]));
  assert.deepEqual(
    [...runs].map(([id, { status, prompt }]) => [id, status, prompt]),
    [
      ['queued', 'queued', 'What colour is the grass?'],
      ['cancelled', 'ended', 'Nothing.'],
      ['handed', 'ended', 'Fetch it.'],
      ['waits', 'waiting', 'Tell Ann.'],
      ['answered', 'ended', 'What colour is the sky?'],
    ],
  );
  assert.deepEqual(runs.get('waits')?.pendingApprovals, [
    { call: 'c00001000', tool: 'send', question: 'May it send a message?' },
  ]);
  assert.equal(runs.get('answered')?.outcome?.text, 'Results: The sky is blue.');
  assert.equal(runs.get('answered')?.outcome?.spent.turnsWithoutPrice, 0);
  assert.equal(runs.get('handed')?.outcome?.clientToolCalls?.[0]?.tool, 'fetch_it');
  assert.equal(runs.get('cancelled')?.outcome?.detail, 'not needed');
  assert.deepEqual(await queue.limits(), { concurrency: 8 });
  assert.deepEqual(await queue.schedules(), [
    { name: 'nightly', cron: '0 3 * * *', run: { prompt: 'Tidy up.', tenant: 'acme' } },
  ]);
  assert.deepEqual(
    (await ledger.budgets()).map(({ tenant, period, usd, spent, reserved }) => [tenant, period, usd, spent, reserved]),
    [['acme', 'ever', 5, { usd: 0.5, tokens: 37 }, { usd: 1, tokens: 10 }]],
  );
  const { stopped, by } = await killSwitch.status();
  assert.deepEqual([stopped, by], [false, 'the operator']);
  assert.deepEqual(
    (await store.inbox.read('waits', 0)).map(({ message }) => message),
    [{ type: 'steer', text: 'Also greet her.', by: 'ann' }],
  );
  assert.deepEqual((await sessions.list()).map(({ session }) => session).toSorted(), ['answered', 'handed', 'waits']);

  // The schedule would add a run that depends on the day of the test.
  await queue.setSchedule({ name: 'nightly' });
  const made: string[] = [];
  assert.equal(await approveAll(store), 1);
  await drain(store, ['send'], made);
  assert.equal((await queue.run('waits'))?.outcome?.text, 'Results: send done');
  assert.equal((await queue.run('queued'))?.outcome?.text, 'Results: send done');
  assert.deepEqual(made, ['send', 'send']);
  const log = await sessions.reader('waits');
  const inputs = (await readEvents(log)).flatMap((event) => (event.type === 'input-received' ? event.parts : []));
  assert.deepEqual(
    inputs.map((part) => (part.type === 'text' ? part.text : part.type)),
    ['Tell Ann.', 'Also greet her.'],
  );
  await log.close();
}

test('law 4: a SQLite store of version 0.1 opens with its runs, and a run that waits for approval continues', async (t) => {
  const file = path.join(createTempDir(t), 'fleet.sqlite');
  fs.writeFileSync(file, gunzipSync(fs.readFileSync(path.join(fixtures, 'fleet.sqlite.gz'))));
  const store = await openFleetStore(file);
  t.after(() => store.close());
  await assertUpgraded(store);
});

test(
  'law 4: a PostgreSQL store of version 0.1 opens with its runs, and a run that waits for approval continues',
  postgres.skip === undefined ? {} : { skip: postgres.skip },
  async (t) => {
    const url = await postgres.fresh(t);
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query('DROP SCHEMA fairlead CASCADE');
    await client.query(fs.readFileSync(path.join(fixtures, 'postgres.sql'), 'utf8'));
    await client.end();
    const store = await openFleetStore(url);
    t.after(() => store.close());
    await assertUpgraded(store);
  },
);

test('law 4: the recorded session files of version 0.1 verify, fold alike, and continue', skipShared, async (t) => {
  const names = fs.readdirSync(shared).filter((name) => name.endsWith('.jsonl'));
  assert.ok(names.length > 0);
  for (const name of names) {
    const file = copyToTemp(t, path.join(shared, name));
    const check = await verifyFile(file);
    assert.deepEqual(check.problems, [], name);
    const log = await openJsonl(file);
    const events = await readEvents(log);
    assert.equal(events.length, check.events, name);
    const view = runStateView();
    const state = fold(view, events);
    assert.deepEqual(toPlainJson(fold(view, await readEvents(memoryLog(events)))), toPlainJson(state), name);
    const waiting = pendingApprovals(state);
    const made: string[] = [];
    const toolNames = [...new Set(['done', ...waiting.map(({ tool }) => tool)])];
    const session = await Session.open(createCountingAgent(toolNames, made), log);
    for (const { id } of waiting) await session.resolveApproval(id, true);
    const end = await session.advance(waiting.length > 0 ? undefined : 'Continue.');
    assert.equal(end.run, undefined, name);
    assert.equal(made.length, Math.max(1, waiting.length), name);
    await session.close();
    assert.equal((await verifyFile(file)).ok, true, name);
  }
});

test('law 4: the recorded store of version 0.1 opens, and its runs continue', skipShared, async (t) => {
  const store = await openFleetStore(copyToTemp(t, path.join(shared, 'fleet.sqlite')));
  t.after(() => store.close());
  const runs = await store.queue.list();
  assert.deepEqual(
    runs.map(({ status }) => status),
    ['queued', 'waiting', 'waiting'],
  );
  const made: string[] = [];
  assert.equal(await approveAll(store), 2);
  await drain(store, ['run_command'], made);
  assert.deepEqual(made, ['run_command', 'run_command', 'run_command']);
  for (const { id } of runs) assert.equal((await store.queue.run(id))?.outcome?.reason, 'answered');
});
