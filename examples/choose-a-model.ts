// Lists the models of a server, opens models by name, and falls back from one model to another.
import assert from 'node:assert/strict';
import { Agent } from 'fairlead';
import { gateway, listModels, openProvider } from 'fairlead/providers';
import { closedUrl, says, scriptedServer } from 'fairlead/testing';

// A scripted server in place of Ollama, LM Studio, Lemonade, llama.cpp, vLLM or another local server.
const server = await scriptedServer(() => says('Hello from the local server.'), {
  models: [{ id: 'small', context: 8192, tools: true }],
});

const models = await listModels({ provider: 'openai-compatible', baseUrl: `${server.url}/v1` });
console.log(models.map((model) => model.id));

const remote = await openProvider({ provider: 'openai-compatible', model: 'big', baseUrl: await closedUrl() });
const local = await openProvider({ provider: 'openai-compatible', model: 'small', baseUrl: `${server.url}/v1` });
const agent = new Agent({ model: gateway([remote, local], { retry: { retries: 0 } }) });

console.log((await agent.run('Hello?')).text);
assert.equal(server.requests.at(-1)?.format, 'chat');
await server.close();
