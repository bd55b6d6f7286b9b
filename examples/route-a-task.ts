// Routes simple tasks to a local model and hard ones to a cloud model, and prints the reason before a request is sent.
import assert from 'node:assert/strict';
import { resolveAgent, Session } from 'fairlead/agent';
import { runWithRouting } from 'fairlead/agent/routing';
import { readView, messageText, type Provider } from 'fairlead/core';
import { openProvider } from 'fairlead/providers';
import {
  formatDecision,
  runHistoryView,
  route,
  type ModelCandidate,
  type RoutingContext,
} from 'fairlead/providers/routing';
import { memoryLog } from 'fairlead/stores';
import { says, scriptedServer } from 'fairlead/testing';

// Scripted servers in place of a local server and a cloud provider.
const here = await scriptedServer(() => says('Done, locally.'), {
  models: [{ id: 'qwen3:8b', context: 32_768, tools: true }],
});
const away = await scriptedServer(() => says('Done, in the cloud.'));

const candidates: readonly ModelCandidate[] = [
  { name: 'ollama/qwen3:8b', model: 'qwen3:8b', local: true, quality: 0.45, price: { input: 0, output: 0 } },
  {
    name: 'anthropic/claude-sonnet-5',
    model: 'claude-sonnet-5',
    local: false,
    quality: 0.95,
    price: { input: 2, output: 10 },
  },
];
const situation = (task: string): RoutingContext => ({
  task,
  context: 1500,
  needs: { tools: false, images: false },
  private: false,
  past: [],
  now: Date.now(),
});

const hard = 'Design the architecture of a distributed queue and prove that it loses nothing';
console.log(formatDecision(route(candidates, situation('Fix the typo in the README'))));
console.log(formatDecision(route(candidates, situation(hard))));
console.log(formatDecision(route(candidates, { ...situation(hard), private: true })));

const open = (name: string): Promise<Provider> =>
  name.startsWith('ollama')
    ? openProvider({ provider: 'ollama', model: 'qwen3:8b', baseUrl: here.url })
    : openProvider({ provider: 'anthropic', model: 'claude-sonnet-5', baseUrl: `${away.url}/v1`, apiKey: 'none' });

const parts = resolveAgent({ provider: await open('ollama/qwen3:8b'), system: 'Be brief.', views: [runHistoryView] });
const session = await Session.open(parts, memoryLog());
const ask = (task: string): ReturnType<typeof runWithRouting> =>
  runWithRouting(
    session,
    task,
    {},
    {
      name: 'example',
      private: false,
      choose: (_words, state, except) =>
        route(candidates, { ...situation(task), except, past: readView(state, runHistoryView).runs }),
      switchModel: async ({ name }) => session.setAgent({ ...session.agent, provider: await open(name) }),
      onChoice: (choice) => console.log(formatDecision(choice)),
    },
  );

await ask('Fix the typo in the README');
await ask(hard);
assert.deepEqual(session.messages.filter(({ role }) => role === 'assistant').map(messageText), [
  'Done, locally.',
  'Done, in the cloud.',
]);
assert.equal(session.state.epoch, 2, 'a change of model is a new epoch');

// The choice, its reason and a failure are recorded as events; after a failure the next candidate is used.
await away.close();
const ended = await ask(`${hard}, again`);
assert.equal(ended.ended?.reason, 'answered');
assert.equal(here.requests.at(-1)?.format, 'ollama');
await session.close();
await here.close();
