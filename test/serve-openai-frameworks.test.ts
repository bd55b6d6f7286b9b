// Frameworks on the OpenAI endpoints: their own loops call their own tools, and the run on the server continues with the results.
import assert from 'node:assert/strict';
import test from 'node:test';
import { ChatOpenAI } from '@langchain/openai';
import { Agent, OpenAIProvider, Runner, setTracingDisabled, tool as agentTool } from '@openai/agents';
import { createAgent, tool as chainTool } from 'langchain';
import { z } from 'zod';
import { calls, says } from '../src/testing/index.ts';
import { createApiFixture, roleKeys, type ApiFixture } from './support/api-server.ts';

setTracingDisabled(true);

const City = z.object({ city: z.string() });

/** A server whose model requests the weather of two cities in parallel, and then answers with both. */
const startWeatherServer = (t: test.TestContext): Promise<ApiFixture> =>
  createApiFixture(t, {
    script: ({ results }) =>
      results.length === 0
        ? says('One moment.').and(calls('get_weather', { city: 'Rome' }), calls('get_weather', { city: 'Oslo' }))
        : says(results.join(', ')),
  });

/** Asserts that each conversation was one session with this number of runs. */
async function assertSessionCounts({ store }: ApiFixture, conversations: number, runs: number): Promise<void> {
  const all = await store.queue.list();
  assert.deepEqual(
    [new Set(all.map(({ session }) => session)).size, all.length],
    [conversations, conversations * runs],
  );
}

const createChainModel = (url: string, useResponsesApi: boolean): ChatOpenAI =>
  new ChatOpenAI({
    model: 'fairlead',
    apiKey: roleKeys.runner,
    useResponsesApi,
    maxRetries: 0,
    configuration: { baseURL: `${url}/v1` },
  });

for (const useResponsesApi of [false, true]) {
  const way = useResponsesApi ? 'responses' : 'chat completions';

  test(`LangChain’s agent runs its tools over ${way}, whole and streamed`, async (t) => {
    const api = await startWeatherServer(t);
    const model = createChainModel(api.url, useResponsesApi);
    const weather = chainTool(({ city }: z.infer<typeof City>) => `sun in ${city}`, {
      name: 'get_weather',
      description: 'The weather of a city.',
      schema: City,
    });
    const agent = createAgent({ model, tools: [weather] });
    const asked = { messages: [{ role: 'user', content: 'How are Rome and Oslo?' }] };
    const { messages } = await agent.invoke(asked);
    assert.equal(messages.at(-1)?.text, 'sun in Rome, sun in Oslo');
    let last = '';
    for await (const { messages: now } of await agent.stream(asked, { streamMode: 'values' }))
      last = now.at(-1)?.text ?? '';
    assert.equal(last, 'sun in Rome, sun in Oslo');
    await assertSessionCounts(api, 2, 2);
  });

  test(`LangChain gets structured output over ${way}`, async (t) => {
    const api = await createApiFixture(t, {
      script: ({ body, tools }) =>
        body.outputSchema ? says('{"city": "Rome"}') : calls(tools[0] ?? '', { city: 'Rome' }),
    });
    const model = createChainModel(api.url, useResponsesApi);
    for (const method of ['jsonSchema', 'functionCalling'] as const) {
      const made = await model.withStructuredOutput(City, { name: 'city', method }).invoke('Which?');
      assert.deepEqual(made, { city: 'Rome' }, method);
    }
  });

  test(`the OpenAI Agents SDK runs its tools over ${way}, whole and streamed, to a structured answer`, async (t) => {
    const api = await createApiFixture(t, {
      script: ({ results }) =>
        results.length === 0 ? calls('get_weather', { city: 'Rome' }) : says(JSON.stringify({ city: results.join() })),
    });
    const weather = agentTool({
      name: 'get_weather',
      description: 'The weather of a city.',
      parameters: City,
      execute: async ({ city }) => `rain in ${city}`,
    });
    const agent = new Agent({
      name: 'a',
      instructions: 'Be short.',
      model: 'fairlead',
      tools: [weather],
      outputType: City,
    });
    const modelProvider = new OpenAIProvider({
      apiKey: roleKeys.runner,
      baseURL: `${api.url}/v1`,
      useResponses: useResponsesApi,
    });
    const runner = new Runner({ modelProvider });
    const { finalOutput } = await runner.run(agent, 'How is Rome?');
    assert.deepEqual(finalOutput, { city: 'rain in Rome' });
    const streamed = await runner.run(agent, 'How is Rome?', { stream: true });
    for await (const _ of streamed);
    assert.deepEqual(streamed.finalOutput, { city: 'rain in Rome' });
    await assertSessionCounts(api, 2, 2);
  });
}
