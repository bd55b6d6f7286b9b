// A session that was read from its file sends the same requests as before, byte for byte, in every wire format.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fold, runStateView, type Event, type Fact, type Provider, type RunState } from '../src/core/index.ts';
import { chatProvider } from '../src/providers/openai-compatible/chat.ts';
import { ollamaProvider } from '../src/providers/ollama/ollama.ts';
import { anthropicProvider } from '../src/providers/ai-sdk/anthropic.ts';
import { googleProvider } from '../src/providers/ai-sdk/google.ts';
import { responsesProvider } from '../src/providers/ai-sdk/responses.ts';
import { openJsonl } from '../src/stores/index.ts';

const providersByFormat: readonly (readonly [name: string, open: (url: string) => Provider])[] = [
  ['chat', (url) => chatProvider({ family: 'openai-compatible', model: 'm', baseUrl: `${url}/v1` })],
  ['ollama', (url) => ollamaProvider({ model: 'm', baseUrl: url, contextWindow: 1_000_000 })],
  ['responses', (url) => responsesProvider({ model: 'gpt-5.5', baseUrl: `${url}/v1`, apiKey: 'k' })],
  ['anthropic', (url) => anthropicProvider({ model: 'claude-sonnet-4-5', baseUrl: `${url}/v1`, apiKey: 'k' })],
  ['google', (url) => googleProvider({ model: 'gemini-3-pro', baseUrl: `${url}/v1beta`, apiKey: 'k' })],
];

const units = ['plain ', 'a\n"q"\n', '世界 😀\n', '",', '\\', '\ud83d x', '\u2028\u0085', '\u001b[31m\0'];
const results = [...units.map((unit) => unit.repeat(Math.ceil(5000 / unit.length))), 'short'];

const facts: readonly Fact[] = [
  { type: 'session-started', session: 's' },
  { type: 'epoch-started', epoch: 1, reason: 'started', system: 's', tools: [], model: 'm' },
  { type: 'input-received', input: 'i', how: 'prompt', parts: [{ type: 'text', text: 'go' }] },
  {
    type: 'run-started',
    run: 'r',
    limits: { turns: 9, errors: 5, maxRetriesPerAnswer: 2, stuckAfter: 5, outputChars: 1e9 },
  },
  { type: 'turn-started', turn: 1, inputs: ['i'], notes: [] },
  {
    type: 'turn-ended',
    turn: 1,
    message: {
      role: 'assistant',
      parts: results.map((_, i) => ({ type: 'tool-call', id: `c${i}`, tool: 't', input: { i } })),
    },
    finishReason: 'tool-calls',
    usage: {},
    model: 'm',
    ms: 1,
  },
  ...results.map((text, i): Fact => ({
    type: 'tool-ended',
    call: `c${i}`,
    outcome: i % 2 ? 'ok' : 'failed',
    text,
    ms: 1,
  })),
  { type: 'turn-started', turn: 2, inputs: [], notes: [{ key: 'n', text: 'a note' }] },
];

async function writeAndReadBack(file: string): Promise<readonly (readonly Event[])[]> {
  const log = await openJsonl(file);
  const written = await log.append(0, facts);
  await log.close();
  const again = await openJsonl(file, { mode: 'read' });
  const read: Event[] = [];
  for await (const batch of again.read()) read.push(...batch);
  await again.close();
  return [written, read];
}

test('[A24] [A10] a resumed session sends the same bytes in every wire format', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-wires-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const [before = [], after = []] = await writeAndReadBack(path.join(folder, 'session.jsonl'));
  let sent = Buffer.alloc(0);
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = Buffer.concat(await request.toArray());
    // The first requests to Ollama are not compared.
    if (request.url === '/api/show') return void response.end('{"model_info":{"m.context_length":1000000}}');
    sent = body;
    response.writeHead(400).end('{}');
  };
  const server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const bodyOf = async (provider: Provider, events: readonly Event[]): Promise<string> => {
    const { system, tools, messages, choice, session }: RunState = fold(runStateView(), events);
    const request = { system, tools, messages, toolChoice: choice, settings: {}, session };
    await assert.rejects(Array.fromAsync(provider.stream(request, new AbortController().signal)));
    return sent.toString();
  };
  for (const [name, open] of providersByFormat) {
    const body = await bodyOf(open(url), before);
    assert.ok(
      results.every((text) => JSON.stringify(JSON.parse(body)).includes(JSON.stringify(text).slice(1, -1))),
      name,
    );
    assert.equal(await bodyOf(open(url), after), body, name);
  }
});
