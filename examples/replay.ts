// Replays a recorded session: as it was, against an agent whose prompt changed, and from a turn on with another model.
import assert from 'node:assert/strict';
import { Agent, tool } from 'fairlead';
import { collectEvents, formatReplay, replaySession } from 'fairlead/sessions';
import { calls, says, scriptedProvider } from 'fairlead/testing';

let requests = 0;
const stock = tool({
  name: 'stock',
  description: 'How many pieces of an article are in stock.',
  inputSchema: { type: 'object', properties: { article: { type: 'string' } }, required: ['article'] },
  effect: 'read',
  execute: () => `${++requests} pieces`,
});
const createAgent = (instructions: string): Agent =>
  new Agent({
    model: scriptedProvider([calls('stock', { article: 'rope' }), says('There is one rope.')]),
    instructions,
    tools: [stock],
  });

const agent = createAgent('Answer briefly.');
const session = await agent.session();
await session.run('Is there rope?');
const events = await collectEvents(session.log, session.state.seq);
await session.close();

// The recorded answers and results: no model is asked, and no tool runs.
const whole = await replaySession(events, { agent: await agent.resolve() });
assert.ok(whole.identical);
assert.equal(requests, 1);

// Each request as an agent with another prompt would send it.
const changed = await replaySession(events, { agent: await createAgent('Answer in verse.').resolve() });
console.log(formatReplay(changed, 80));
assert.deepEqual(
  changed.differences.map(({ turn, where }) => [turn, where]),
  [[1, 'request: instructions']],
);

// Another model answers from turn 2 on and reads the recorded result.
const provider = scriptedProvider([says('Yes, one piece.')]);
const live = await replaySession(events, { from: 2, live: { provider } });
console.log(formatReplay(live, 80));
assert.deepEqual(
  live.differences.map(({ turn, where, replayed }) => [turn, where, replayed]),
  [[2, 'answer', 'Yes, one piece.']],
);
assert.equal(requests, 1);
