// Test your own agent without a model: what it does, how it takes a bad day, what it puts on the wire, and that it still does what it did.
import assert from 'node:assert/strict';
import { defineTool, Harness, type Provider } from 'fairlead';
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

// Your agent: everything but its model is the real thing.
const stock = new Map([['apples', 3]]);
const count = defineTool({
  name: 'count',
  description: 'Says how many there are.',
  effect: 'read',
  input: { type: 'object', properties: { item: { type: 'string' } }, required: ['item'] },
  run: ({ item }) => `${stock.get(item) ?? 0} ${item}`,
});
const shopkeeper = (provider: Provider): Harness =>
  new Harness({ provider, system: 'You keep a shop.', tools: [count], runDir: null });

// What it does: the script is what the model answers, one entry a request.
const provider = scriptedProvider([
  calls('count', { item: 'apples' }).and(calls('count', { item: 'pears' })),
  says('Three apples and no pears.'),
]);
const result = await shopkeeper(provider).runResult('What is there?');
assert.equal(result.text, 'Three apples and no pears.');
assert.equal(provider.requests.length, 2);

// How it takes a bad day: an overloaded service, an answer cut short, arguments that are no JSON, a tool that is not there.
const shaky = scriptedProvider([
  fails('overloaded'),
  says('There are three', { cutAfter: 2 }),
  calls('count', {}, { raw: '{"item":' }),
  calls('sell', { item: 'apples' }),
  says('Still here.'),
]);
assert.equal(await shopkeeper(shaky).run('Are you there?'), 'Still here.');
assert.equal(stock.get('apples'), 3);

// What it puts on the wire: a real server on loopback that speaks every dialect and refuses what the real service would refuse.
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

// That it still does what it did: a recorded session is played back, and the first departure from it is an error.
const log = memoryLog();
const recorded = shopkeeper(scriptedProvider([calls('count', { item: 'apples' }), says('Three.')]));
await recorded.open(log);
await recorded.ask('How many apples?');
assert.equal(await shopkeeper(replayProvider(log.events)).run('How many apples?'), 'Three.');

stock.set('apples', 2);
const departed = await shopkeeper(replayProvider(log.events)).runResult('How many apples?');
assert.match(departed.error?.message ?? '', /departs from the recording/);
console.log(departed.error?.message);
