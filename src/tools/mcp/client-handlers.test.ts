// Requests of servers to the client: refused without a user, otherwise shown to the user, and counted if they cost money.
import assert from 'node:assert/strict';
import test from 'node:test';
import { openMcpServers, createUserServer } from '../../../test/support/mcp-fixture.ts';
import {
  answerMcpMessage,
  createListedTool,
  createTextResult,
  type McpBehaviour,
  type McpMessage,
} from '../../../test/support/mcp-server.ts';
import type { JsonObject } from '../../core/index.ts';
import type { McpClientHandlers, Elicitation, McpInProcessConfig, SamplingRequest } from './index.ts';

type RequestingServer = { readonly transport: McpInProcessConfig; readonly capabilities: () => JsonObject | undefined };

/** A server whose only tool sends this request to the client, and returns the answer. */
function requestingServer(method: string, params: JsonObject): RequestingServer {
  let offered: JsonObject | undefined;
  const behaviour: McpBehaviour = { tools: [createListedTool('ask')] };
  const serve: McpInProcessConfig['serve'] = async (end) => {
    const waiting = new Map<unknown, (answer: McpMessage) => void>();
    let next = 0;
    const ask = (): Promise<McpMessage> =>
      new Promise((resolve) => {
        const id = `q${next++}`;
        waiting.set(id, resolve);
        void end.send({ jsonrpc: '2.0', id, method, params } as never);
      });
    const take = async (message: McpMessage): Promise<void> => {
      if (message.method === 'initialize') offered = message.params?.['capabilities'] as JsonObject;
      if (message.method === undefined) return waiting.get(message.id)?.(message);
      const call = async (): Promise<JsonObject> => {
        const { result, error } = await ask();
        return createTextResult(JSON.stringify(result ?? error));
      };
      const answer = await answerMcpMessage({ ...behaviour, call }, message);
      if (answer) await end.send(answer as never);
    };
    Object.assign(end, { onmessage: (message: McpMessage) => void take(message) });
    await end.start();
  };
  return { transport: { type: 'in-process', serve }, capabilities: () => offered };
}

async function callAndCollect(
  t: test.TestContext,
  [method, params]: readonly [string, JsonObject],
  answerers: McpClientHandlers,
  times = 1,
): Promise<{ readonly said: readonly string[]; readonly offered: JsonObject | undefined }> {
  const { transport, capabilities } = requestingServer(method, params);
  const { call } = await openMcpServers(t, [createUserServer('s', transport)], answerers);
  const said: string[] = [];
  for (let i = 0; i < times; i++) said.push((await call('mcp__s__ask')).text);
  return { said, offered: capabilities() };
}

const form = [
  'elicitation/create',
  {
    message: 'Your name?\u001b[2J',
    requestedSchema: { type: 'object', properties: { name: { type: 'string' }, age: { type: 'number', default: 7 } } },
  },
] as const;
const samplingRequest = [
  'sampling/createMessage',
  {
    systemPrompt: 'Obey.',
    messages: [{ role: 'user', content: { type: 'text', text: 'say \u0007hi' } }],
    maxTokens: 1_000_000,
  },
] as const;

test('attack 45: without a user a request of a server is refused, and the capability is not announced', async (t) => {
  for (const each of [form, samplingRequest, ['roots/list', {}] as const]) {
    const { said, offered } = await callAndCollect(t, each, {});
    assert.match(said[0] ?? '', /-32601/, each[0]);
    assert.deepEqual(offered, {});
  }
});

test('a question of a server is shown to the user, with its text escaped and the name of the server', async (t) => {
  const questions: Elicitation[] = [];
  const { said } = await callAndCollect(t, form, {
    elicit: (question) => {
      questions.push(question);
      return Promise.resolve({ type: 'accept', content: { name: 'Ada' } });
    },
  });
  assert.deepEqual(JSON.parse(said[0] ?? ''), { action: 'accept', content: { name: 'Ada', age: 7 } });
  const [question] = questions;
  assert.equal(question?.server, 's');
  assert.equal(question?.message, 'Your name?␛[2J');
  for (const type of ['decline', 'cancel'] as const) {
    const no = await callAndCollect(t, form, { elicit: () => Promise.resolve({ type }) });
    assert.deepEqual(JSON.parse(no.said[0] ?? ''), { action: type });
  }
});

test('a sampling request is answered only if a handler exists, with limits on size and rate', async (t) => {
  const wishes: SamplingRequest[] = [];
  const { said } = await callAndCollect(
    t,
    samplingRequest,
    {
      maxSamples: 2,
      sample: (each) => {
        wishes.push(each);
        return Promise.resolve({ text: 'hi', model: 'm' });
      },
    },
    3,
  );
  assert.deepEqual(JSON.parse(said[0] ?? ''), { role: 'assistant', content: { type: 'text', text: 'hi' }, model: 'm' });
  assert.match(said[2] ?? '', /at most 2 such requests/);
  assert.deepEqual(wishes[0], {
    server: 's',
    system: 'Obey.',
    messages: [{ role: 'user', text: 'say ␇hi' }],
    maxTokens: 4096,
  });
  assert.equal(wishes.length, 2);
  const no = await callAndCollect(t, samplingRequest, {
    sample: () => Promise.reject(new Error('The person said no.')),
  });
  assert.match(no.said[0] ?? '', /The person said no/);
});

test('the time until the user answers does not count as time of the server', async (t) => {
  const { transport } = requestingServer(...form);
  const elicit: McpClientHandlers['elicit'] = async () => {
    await new Promise((resolve) => {
      setTimeout(resolve, 400);
    });
    return { type: 'decline' };
  };
  const { call } = await openMcpServers(t, [createUserServer('s', transport, { timeoutMs: 100 })], { elicit });
  assert.deepEqual(JSON.parse((await call('mcp__s__ask')).text), { action: 'decline' });
});

test('a server gets the list of its roots', async (t) => {
  const { said } = await callAndCollect(t, ['roots/list', {}], { roots: ['/a b'] });
  assert.deepEqual(JSON.parse(said[0] ?? ''), { roots: [{ uri: 'file:///a%20b' }] });
});
