// Tests of the view that keeps the grants of a session: what it takes from the log, and what it does not.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { defineTool, resolveAgent, Session } from '../../agent/index.ts';
import { pendingApprovals, readView, type Event, type InboxDelivery, type Json } from '../../core/index.ts';
import { drainInbox, inboxView } from '../../fleet/inbox.ts';
import { memoryLog } from '../../stores/index.ts';
import { calls, scriptedProvider } from '../../testing/index.ts';
import { openRunGrants, runGrantsView } from './run-grants.ts';

const event = (fields: Readonly<Record<string, unknown>>): Event => fields as unknown as Event;
const granted = (value: Json): Event => event({ type: 'annotation-added', key: 'grant', value });
const rule = { type: 'command', tool: 'run_command', words: ['npm', 'test'] } as const;

test('[A41] the grants of a session are folded from its log, and a fork starts without them', () => {
  const started = runGrantsView.on(runGrantsView.initial, event({ type: 'session-started', session: 'a' }));
  const state = runGrantsView.on(started, granted({ folder: '/work', rule }));
  assert.deepEqual(state, { session: 'a', grants: [{ folder: '/work', rule }] });
  assert.deepEqual(runGrantsView.restore?.(runGrantsView.serialize?.(state) ?? null), state);
  const epoch = (session: string): Event => event({ type: 'epoch-started', baseline: { session } });
  assert.deepEqual(runGrantsView.on(state, epoch('a')), state);
  assert.deepEqual(runGrantsView.on(state, epoch('b')), { session: 'b', grants: [] });
  assert.deepEqual(runGrantsView.on(state, event({ type: 'session-started', session: 'b' })).grants, []);
});

test('[A41] an entry of the log that is no grant grants nothing', () => {
  const broken: readonly Json[] = [
    null,
    'all',
    { rule },
    { folder: '/work' },
    { folder: '/work', rule: { type: 'everything' } },
    { folder: '/work', rule: { type: 'command', tool: 'run_command', words: [] } },
    { folder: '/work', rule: { type: 'command', tool: 'run_command', words: [1] } },
    { folder: '/work', rule: { type: 'call' } },
    { folder: '/work', rule: { type: 'tool' } },
  ];
  for (const value of broken)
    assert.deepEqual(runGrantsView.on(runGrantsView.initial, granted(value)).grants, [], JSON.stringify(value));
  assert.equal(runGrantsView.restore?.({ session: 'a' }), undefined);
});

test('[A41] an answer for the project counts in the session if permissions.yaml cannot be used, and later messages are read', async (t) => {
  const config = mkdtempSync(path.join(tmpdir(), 'fairlead-run-grants-'));
  t.after(() => rmSync(config, { recursive: true, force: true }));
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    effect: 'external',
    input: { type: 'object' },
    run: () => 'paid',
  });
  const agent = resolveAgent({
    provider: scriptedProvider([calls('pay', {}), 'Done.']),
    system: 'Work.',
    tools: [pay],
    gates: [async () => ({ type: 'ask', question: 'Pay?' })],
    views: [inboxView, runGrantsView],
  });
  const session = await Session.open(agent, memoryLog());
  await session.advance('Go', { runId: 'r' });
  const [pending] = pendingApprovals(session.state);
  assert.ok(pending);
  const warnings: string[] = [];
  const run = { tenant: 'default' };
  const settings = { dirs: { config } } as Parameters<typeof openRunGrants>[0]['settings'];
  const onWarning = (text: string): void => void warnings.push(text);
  const { bind } = await openRunGrants({ run, settings, cwd: tmpdir(), canKeep: true, onWarning });
  const bound = bind({ grantKey: () => 'pay {}' });
  const offered = async (): Promise<readonly string[]> => (await bound.listScopes(pending)).map(({ scope }) => scope);
  assert.deepEqual(await offered(), ['once', 'call-session', 'call-project']);
  // The file becomes unusable after the question was asked.
  writeFileSync(path.join(config, 'permissions.yaml'), 'projects: [oops\n');
  const answer = { type: 'answer', call: pending.id, allowed: true, run: 'r' } as const;
  let deliveries: readonly InboxDelivery[] = [
    { position: 1, message: { ...answer, scope: 'call-project' } },
    { position: 2, message: { type: 'steer', text: 'Then stop.' } },
  ];
  const inbox = {
    send: async () => 0,
    read: async (_: string, after: number) => deliveries.filter(({ position }) => position > after),
    clear: async () => void (deliveries = []),
    async *watch() {},
  };
  await drainInbox({ inbox, session, sessionId: 's', runId: 'r', grantScope: bound.grantScope });
  assert.equal(pendingApprovals(session.state).length, 0);
  assert.equal(deliveries.length, 0, 'the later message was read');
  assert.deepEqual(
    readView(session.state, runGrantsView).grants.map(({ rule }) => rule),
    [{ type: 'call', key: 'pay {}' }],
  );
  assert.match(warnings.join(), /Allowed in this session only.*permissions\.yaml cannot be used/s);
  assert.deepEqual(await offered(), ['once', 'call-session'], 'no project scope while the file is unusable');
});
