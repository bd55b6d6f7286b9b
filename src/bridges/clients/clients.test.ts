// Wrapped SDK clients and guardMessages: the same object type is returned, nothing else changes, and the same messages always get the same additions.
import assert from 'node:assert/strict';
import test from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import type { Gate, JsonObject, Rule } from '../../core/index.ts';
import { calls, scriptedServer } from '../../testing/index.ts';
import { wrapFetch } from './fetch.ts';
import { guardMessages } from './guard-messages.ts';
import { wrapAnthropic, wrapGoogle, wrapOpenAI } from './sdk-clients.ts';

const denyDelete: Gate = ({ input }) =>
  JSON.stringify(input).includes('rm') ? { type: 'deny', reason: 'Nothing is deleted here.' } : { type: 'allow' };
const failingRule: Rule = (event) =>
  event.type === 'tool-ended' && event.outcome === 'failed' ? [{ key: 'failed', text: 'Try another way.' }] : [];

test('[M41, M45] a wrapped client has the same class and settings, and the original client is unchanged', async () => {
  await using server = await scriptedServer(['Hello.']);
  const openai = new OpenAI({ apiKey: 'k', baseURL: `${server.url}/v1`, maxRetries: 7, organization: 'o' });
  const guided = wrapOpenAI(openai);
  assert.ok(guided instanceof OpenAI && guided !== openai);
  assert.deepEqual([guided.maxRetries, guided.organization, guided.baseURL], [7, 'o', `${server.url}/v1`]);
  assert.equal((await guided.models.list()).data[0]?.id, 'scripted', 'other requests are forwarded');
  const { data, response } = await guided.chat.completions
    .create({ model: 'm', messages: [{ role: 'user', content: 'Hi.' }] })
    .withResponse();
  assert.equal(data.choices[0]?.message.content, 'Hello.');
  assert.equal(response.url, `${server.url}/v1/chat/completions`);
  assert.ok(wrapAnthropic(new Anthropic({ apiKey: 'k' })) instanceof Anthropic);
  const google = new GoogleGenAI({ apiKey: 'k' });
  assert.ok(wrapGoogle(google) instanceof GoogleGenAI);
  assert.notEqual(wrapGoogle(google).models, google.models);
  assert.throws(() => wrapGoogle({}), /not a client of @google\/genai/);
});

test('chats of a wrapped Google client get reminders too', async () => {
  await using server = await scriptedServer(['One.', 'Two.']);
  const google = new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl: server.url } });
  const chat = wrapGoogle(google, { reminders: [() => 'Be brief.'] }).chats.create({ model: 'm' });
  await chat.sendMessage({ message: 'Hi.' });
  await chat.sendMessage({ message: 'And?' });
  const seen = server.requests[1]?.raw.toString() ?? '';
  assert.equal(seen.split('Be brief.').length, 3, seen);
});

test('[M45] wrapFetch works for any client that accepts a fetch function; a body that cannot be read is not sent', async () => {
  await using server = await scriptedServer([calls('run', { command: 'rm' }), 'No, then.']);
  const send = wrapFetch({ gates: [denyDelete] });
  const url = `${server.url}/v1/messages`;
  const body = {
    model: 'm',
    max_tokens: 9,
    messages: [{ role: 'user', content: 'Go.' }],
    tools: [{ name: 'run', input_schema: { type: 'object' } }],
  };
  const response = await send(url, { method: 'POST', body: JSON.stringify(body) });
  assert.match(await response.text(), /No, then\./);
  await assert.rejects(send(url, { method: 'POST', body: new Blob(['{}']) }), /cannot be read/);
  const several = await send(`${server.url}/v1/chat/completions`, { method: 'POST', body: '{"n":2,"tools":[]}' });
  assert.equal(several.status, 400);
  assert.equal(server.requests.length, 2);
});

const call = (id: string, command: string): JsonObject => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id, type: 'function', function: { name: 'run', arguments: JSON.stringify({ command }) } }],
});
const result = (id: string, content: string): JsonObject => ({ role: 'tool', tool_call_id: id, content });

test('[M31, M45] wrapFetch accepts a Request object', async () => {
  await using server = await scriptedServer([calls('run', { command: 'rm' }), 'No, then.']);
  const body = {
    model: 'm',
    messages: [{ role: 'user', content: 'Go.' }],
    tools: [{ type: 'function', function: { name: 'run', parameters: { type: 'object' } } }],
  };
  const headers = { authorization: 'Bearer k', 'content-type': 'application/json' };
  const request = new Request(`${server.url}/v1/chat/completions`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });
  const answer = await wrapFetch({ gates: [denyDelete] })(request);
  assert.match(await answer.text(), /No, then\./);
  assert.deepEqual(
    server.requests.map((each) => each.headers['authorization']),
    ['Bearer k', 'Bearer k'],
  );
});

test('[M3, M4, M40, M42] guardMessages adds notes and system text, always at the same positions', async () => {
  const how = { rules: [failingRule], system: 'Reminders exist.' };
  const messages = [
    { role: 'system', content: 'Help.' },
    { role: 'user', content: 'Go.' },
    call('a', 'bad'),
    result('a', 'Error: no'),
  ];
  const first = await guardMessages(messages, how);
  assert.deepEqual(first.messages[0], { role: 'system', content: 'Help.\n\nReminders exist.' });
  assert.match(String(first.messages.at(-1)?.['content']), /Try another way\./);
  assert.deepEqual(
    first.decisions.map(({ type }) => type),
    ['noted', 'noted'],
  );
  const more = await guardMessages([...messages, call('b', 'ls'), result('b', 'fine')], how);
  assert.deepEqual(more.messages.slice(0, first.messages.length), first.messages);
  assert.equal(more.messages.length, first.messages.length + 2);
});

test('[M31] guardMessages allows or denies each call at the end of the messages, with a reason', async () => {
  const both = {
    ...call('a', 'ls'),
    tool_calls: [
      ...(call('a', 'ls')['tool_calls'] as JsonObject[]),
      ...(call('b', 'rm')['tool_calls'] as JsonObject[]),
    ],
  };
  const { messages, decisions } = await guardMessages([{ role: 'user', content: 'Go.' }, both], {
    gates: [denyDelete],
  });
  assert.equal(messages.length, 2);
  assert.deepEqual(decisions, [
    { type: 'allowed', id: 'a', tool: 'run' },
    { type: 'refused', id: 'b', tool: 'run', reason: 'Nothing is deleted here.' },
  ]);
});

test('[M25] guardMessages reports that a stop condition was met', async () => {
  const { decisions } = await guardMessages([{ role: 'user', content: 'Go.' }, call('a', 'ls'), result('a', 'fine')], {
    stops: [({ spent }) => (spent.turns >= 1 ? { reason: 'rule', detail: 'Enough.' } : undefined)],
  });
  assert.deepEqual(decisions, [{ type: 'stopped', reason: 'rule', detail: 'Enough.' }]);
});

test('guardMessages returns the system text separately for the Anthropic format', async () => {
  const messages = [{ role: 'user', content: 'Go.' }];
  const { system } = await guardMessages(messages, { format: 'anthropic', system: 'Reminders exist.' });
  assert.equal(system, 'Reminders exist.');
});
