// Tests an agent without a model: its behaviour, provider failures, the HTTP requests it sends, and replay of a recorded session.
import assert from 'node:assert/strict';
import { tool, Harness, type Provider } from 'fairlead';
import { openProvider } from 'fairlead/providers';
import { memoryLog } from 'fairlead/stores';
import {
  calls,
  callsThenAnswer,
  fails,
  prefixBreaks,
  replayProvider,
  says,
  scriptedProvider,
  scriptedServer,
} from 'fairlead/testing';

// The agent under test: only its model is replaced.
const stock = new Map([['apples', 3]]);
const count = tool({
  name: 'count',
  description: 'Says how many there are.',
  effect: 'read',
  inputSchema: { type: 'object', properties: { item: { type: 'string' } }, required: ['item'] },
  execute: ({ item }) => `${stock.get(item) ?? 0} ${item}`,
});
const shopkeeper = (provider: Provider): Harness =>
  new Harness({ provider, system: 'You keep a shop.', tools: [count], runDir: null });

// Behaviour: the script has one model response per request.
const provider = scriptedProvider([
  calls('count', { item: 'apples' }).and(calls('count', { item: 'pears' })),
  says('Three apples and no pears.'),
]);
const result = await shopkeeper(provider).runResult('What is there?');
assert.equal(result.text, 'Three apples and no pears.');
assert.equal(provider.requests.length, 2);

// Failures: an overloaded provider, a truncated response, arguments that are not JSON, a tool that does not exist.
const shaky = scriptedProvider([
  fails('overloaded'),
  says('There are three', { cutAfter: 2 }),
  calls('count', {}, { raw: '{"item":' }),
  calls('sell', { item: 'apples' }),
  says('Still here.'),
]);
assert.equal(await shopkeeper(shaky).run('Are you there?'), 'Still here.');
assert.equal(stock.get('apples'), 3);

// Requests: a local HTTP server that speaks every wire format and rejects what the real provider would reject.
const server = await scriptedServer(callsThenAnswer(20, 'count', (i) => ({ item: `thing ${i}` }), 'Counted.'));
const model = await openProvider({
  provider: 'anthropic',
  model: 'claude-sonnet-4-5',
  baseUrl: `${server.url}/v1`,
  apiKey: 'any',
});
assert.equal(await shopkeeper(model).run('Count everything.'), 'Counted.');
assert.equal(server.requests.length, 21);
assert.deepEqual(prefixBreaks(server.requests), []);
await server.close();

// Replay: the responses come from a recorded session, and the first request that differs from the recording is an error.
const log = memoryLog();
const recorded = shopkeeper(scriptedProvider([calls('count', { item: 'apples' }), says('Three.')]));
await recorded.open(log);
await recorded.ask('How many apples?');
assert.equal(await shopkeeper(replayProvider(log.events)).run('How many apples?'), 'Three.');

stock.set('apples', 2);
const departed = await shopkeeper(replayProvider(log.events)).runResult('How many apples?');
assert.match(departed.error?.message ?? '', /from the recording/);
console.log(departed.error?.message);
