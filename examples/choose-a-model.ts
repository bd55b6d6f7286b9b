// Choose a model by name, list what a server has, and fall back from one model to the next.
import assert from 'node:assert/strict';
import { Agent } from 'fairlead';
import { gateway, listModels, openProvider } from 'fairlead/providers';
import { closedUrl, says, scriptedServer } from 'fairlead/testing';

// A stand-in for a server on your own machine: Ollama, LM Studio, Lemonade, llama.cpp, vLLM or any other.
const server = await scriptedServer(() => says('Hello from your own machine.'), {
  models: [{ id: 'small', context: 8192, tools: true }],
});

const models = await listModels({ provider: 'openai-compatible', baseUrl: `${server.url}/v1` });
console.log(models.map((model) => model.id));

const away = await openProvider({ provider: 'openai-compatible', model: 'big', baseUrl: await closedUrl() });
const here = await openProvider({ provider: 'openai-compatible', model: 'small', baseUrl: `${server.url}/v1` });
const agent = new Agent({ model: gateway([away, here], { retry: { retries: 0 } }) });

console.log((await agent.run('Hello?')).text);
assert.equal(server.requests.at(-1)?.format, 'chat');
await server.close();
