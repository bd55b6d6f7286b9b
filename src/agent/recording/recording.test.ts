// Recorded sessions: the events before a turn, and a model and tools that answer as recorded.
import assert from 'node:assert/strict';
import test from 'node:test';
import { memoryLog } from '../../stores/index.ts';
import { calls, says, scriptedProvider } from '../../testing/index.ts';
import { tool } from '../define-tool.ts';
import { createRecordedProvider, toolOutput, type Event, type ResolvedAgent } from '../../core/index.ts';
import {
  createRecordedResults,
  cutBeforeTurn,
  openBeforeTurn,
  withRecordedTools,
  type ContinuedSession,
} from './index.ts';
import { resolveAgent } from '../resolve-agent.ts';
import { Session } from '../session.ts';

async function record() {
  let executed = 0;
  const look = tool({
    name: 'look',
    description: 'looks',
    inputSchema: { type: 'object', properties: { at: { type: 'string' } } },
    effect: 'read',
    execute: async () => `seen ${++executed}`,
  });
  const provider = scriptedProvider(({ results }) =>
    results.length < 2
      ? calls('look', { at: results.length === 0 ? 'a' : 'b' })
      : says(`I have ${results.join(', ')}.`),
  );
  const agent = resolveAgent({ provider, system: 's', tools: [look] });
  const log = memoryLog();
  const session = await Session.open(agent, log);
  await session.advance('Look twice.');
  return { agent, events: log.events, count: () => executed };
}

function openRecorded(agent: ResolvedAgent, events: readonly Event[], turn: number): Promise<ContinuedSession> {
  const results = createRecordedResults(events, turn);
  return openBeforeTurn(
    withRecordedTools(agent, results, () => 'fail'),
    events,
    turn,
    results,
  );
}

test('[A51] a recording is cut before a turn, and a session continues there with the same history', async () => {
  const { agent, events } = await record();
  const prefix = cutBeforeTurn(events, 2);
  assert.ok(prefix.every((event, i) => event.seq === i + 1));
  assert.equal(prefix.filter(({ type }) => type === 'turn-started').length, 1);
  assert.throws(() => cutBeforeTurn(events, 7), { code: 'session/no-turn', message: 'The session has no turn 7.' });
  const { session, recorded } = await openBeforeTurn(agent, events, 2);
  assert.equal(recorded, prefix.length);
  assert.equal(session.messages.length, 3, 'the prompt, the call and its result');
});

test('[A51] a recorded model and recorded tools give the same answer, and nothing is executed', async () => {
  const { agent, events, count } = await record();
  const executed = count();
  const { session, log, recorded } = await openRecorded(
    { ...agent, provider: createRecordedProvider(events, { from: 2 }) },
    events,
    2,
  );
  await session.advance(undefined);
  assert.equal(count(), executed);
  const answers = (of: typeof events) => of.flatMap((event) => (event.type === 'turn-ended' ? [event.message] : []));
  assert.deepEqual(answers(log.events.slice(recorded)), answers(events).slice(1));
  const results = log.events.flatMap((event) => (event.type === 'tool-ended' ? [event.text] : []));
  assert.deepEqual(results, ['seen 1', 'seen 2']);
});

test('[A51] the same call twice has its two recorded results, in order', async () => {
  let executed = 0;
  const look = tool({
    name: 'look',
    description: 'looks',
    inputSchema: { type: 'object' },
    effect: 'read',
    execute: async () => `seen ${++executed}`,
  });
  const provider = scriptedProvider(({ results }) => (results.length < 2 ? calls('look', {}) : says('Done.')));
  const agent = resolveAgent({ provider, system: 's', tools: [look] });
  const log = memoryLog();
  await (await Session.open(agent, log)).advance('Look.');
  const again = await openRecorded({ ...agent, provider: createRecordedProvider(log.events) }, log.events, 1);
  await again.session.advance(undefined);
  const texts = again.log.events.flatMap((event) => (event.type === 'tool-ended' ? [event.text] : []));
  assert.deepEqual([texts, executed], [['seen 1', 'seen 2'], 2]);
});

test('[A51] a call that the recording does not have fails, and so does a turn after its end', async () => {
  const { agent, events } = await record();
  const provider = scriptedProvider(({ results }) => (results.length < 3 ? calls('look', { at: 'c' }) : says('x')));
  const { session, log } = await openRecorded({ ...agent, provider }, events, 3);
  await session.advance(undefined);
  const last = log.events.findLast((event) => event.type === 'tool-ended');
  assert.ok(last?.type === 'tool-ended' && last.outcome === 'failed');
  assert.match(last.text, /The recording has no result of this call/);
  const over = { ...agent, provider: createRecordedProvider(events, { from: 9 }) };
  const ended = await (await openBeforeTurn(over, events, 3)).session.advance(undefined);
  assert.equal(ended.ended?.reason, 'provider-error');
});

test('[A51] a recorded result is recorded whole, and the gates of now decide about its call', async () => {
  const look = tool({
    name: 'look',
    description: 'looks',
    inputSchema: { type: 'object' },
    effect: 'read',
    execute: async () => toolOutput({ text: 'seen', data: { seen: [1, 2] } }),
  });
  const provider = scriptedProvider(({ results }) => (results.length === 0 ? calls('look', {}) : says('Done.')));
  const agent = resolveAgent({ provider, system: 's', tools: [look] });
  const log = memoryLog();
  await (await Session.open(agent, log)).advance('Look.');
  const findResult = (events: readonly Event[]) => events.find((event) => event.type === 'tool-ended');
  const recorded = findResult(log.events);
  assert.ok(recorded?.type === 'tool-ended' && recorded.data !== undefined, 'the result has data');

  const own = { ...agent, provider: createRecordedProvider(log.events) };
  const same = await openRecorded(own, log.events, 1);
  await same.session.advance(undefined);
  const again = findResult(same.log.events);
  assert.deepEqual(again?.type === 'tool-ended' && [again.outcome, again.text, again.data], [
    recorded.outcome,
    recorded.text,
    recorded.data,
  ]);

  const denied = await openRecorded(
    {
      ...own,
      provider: createRecordedProvider(log.events),
      gates: [() => ({ type: 'deny', reason: 'Not any more.' })],
    },
    log.events,
    1,
  );
  await denied.session.advance(undefined);
  const result = findResult(denied.log.events);
  assert.deepEqual(result?.type === 'tool-ended' && [result.outcome, result.text], ['denied', 'Not any more.']);
});
