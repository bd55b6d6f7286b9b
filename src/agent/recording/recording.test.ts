// Recorded sessions: the events before a turn, and a model and tools that answer as recorded.
import assert from 'node:assert/strict';
import test from 'node:test';
import { memoryLog } from '../../stores/index.ts';
import { calls, says, scriptedProvider } from '../../testing/index.ts';
import { tool } from '../define-tool.ts';
import { createRecordedProvider, cutBeforeTurn, openBeforeTurn, withRecordedTools } from './recording.ts';
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
  const own = withRecordedTools({ ...agent, provider: createRecordedProvider(events, 2) }, events);
  const { session, log, recorded } = await openBeforeTurn(own, events, 2);
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
  const own = withRecordedTools({ ...agent, provider: createRecordedProvider(log.events, 1) }, log.events);
  const again = await openBeforeTurn(own, log.events, 1);
  await again.session.advance(undefined);
  const texts = again.log.events.flatMap((event) => (event.type === 'tool-ended' ? [event.text] : []));
  assert.deepEqual([texts, executed], [['seen 1', 'seen 2'], 2]);
});

test('[A51] a call that the recording does not have fails, and so does a turn after its end', async () => {
  const { agent, events } = await record();
  const provider = scriptedProvider(({ results }) => (results.length < 3 ? calls('look', { at: 'c' }) : says('x')));
  const { session, log } = await openBeforeTurn(withRecordedTools({ ...agent, provider }, events), events, 3);
  await session.advance(undefined);
  const last = log.events.findLast((event) => event.type === 'tool-ended');
  assert.ok(last?.type === 'tool-ended' && last.outcome === 'failed');
  assert.match(last.text, /The recording has no result of this call/);
  const over = { ...agent, provider: createRecordedProvider(events, 9) };
  const ended = await (await openBeforeTurn(over, events, 3)).session.advance(undefined);
  assert.equal(ended.ended?.reason, 'provider-error');
});
