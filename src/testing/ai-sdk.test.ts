// The AI SDK's wire packages read the scripted server as they read the real services.
import assert from 'node:assert/strict';
import test from 'node:test';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogle } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4Prompt } from '@ai-sdk/provider';
import type { FinishReason } from '../core/index.ts';
import {
  calls,
  fails,
  prefixBreaks,
  says,
  scriptedServer,
  thinks,
  type ScriptedResponse,
  type ScriptedServer,
} from './index.ts';

/** The result of a wire package, in one form for whole and streamed answers. */
type ClientResult = {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly { readonly tool: string; readonly input: string }[];
  readonly finish: string;
  readonly usage: Readonly<Record<string, number | undefined>>;
};

const clients: Readonly<Record<string, (server: ScriptedServer) => LanguageModelV4>> = {
  chat: ({ url }) => createOpenAI({ apiKey: 'k', baseURL: `${url}/v1` }).chat('gpt-4o'),
  responses: ({ url }) => createOpenAI({ apiKey: 'k', baseURL: `${url}/v1` }).responses('gpt-5'),
  anthropic: ({ url }) => createAnthropic({ apiKey: 'k', baseURL: `${url}/v1` })('claude-sonnet-4-5'),
  google: ({ url }) => createGoogle({ apiKey: 'k', baseURL: `${url}/v1beta` })('gemini-2.5-pro'),
  compatible: ({ url }) => createOpenAICompatible({ name: 'x', baseURL: `${url}/v1`, includeUsage: true })('m'),
};

const user = (text: string): LanguageModelV4Prompt[number] => ({ role: 'user', content: [{ type: 'text', text }] });

const options = (...prompt: LanguageModelV4Prompt): LanguageModelV4CallOptions => ({
  prompt: [{ role: 'system', content: 'Be brief.' }, ...prompt],
  tools: [
    {
      type: 'function',
      name: 'look',
      description: 'Looks.',
      inputSchema: {
        type: 'object',
        properties: { q: { type: 'string' } },
        required: ['q'],
        additionalProperties: false,
      },
    },
  ],
});

type Part = { readonly type: string; readonly text?: string; readonly toolName?: string; readonly input?: string };

const toClientResult = (
  parts: readonly Part[],
  finish: string,
  usage: Awaited<ReturnType<LanguageModelV4['doGenerate']>>['usage'],
): ClientResult => ({
  text: parts.map((part) => (part.type === 'text' ? part.text : '')).join(''),
  reasoning: parts.map((part) => (part.type === 'reasoning' ? part.text : '')).join(''),
  calls: parts.flatMap((part) =>
    part.type === 'tool-call' ? [{ tool: part.toolName ?? '', input: part.input ?? '' }] : [],
  ),
  finish,
  usage: {
    input: usage.inputTokens.total,
    output: usage.outputTokens.total,
    cacheRead: usage.inputTokens.cacheRead,
    cacheWrite: usage.inputTokens.cacheWrite,
    reasoning: usage.outputTokens.reasoning,
  },
});

async function generateResult(model: LanguageModelV4, asked: LanguageModelV4CallOptions): Promise<ClientResult> {
  const { content, finishReason, usage } = await model.doGenerate(asked);
  return toClientResult(content, finishReason.unified, usage);
}

async function streamResult(model: LanguageModelV4, asked: LanguageModelV4CallOptions): Promise<ClientResult> {
  const { stream } = await model.doStream(asked);
  const parts: Part[] = [];
  for await (const part of stream) {
    if (part.type === 'error') throw part.error;
    if (part.type === 'text-delta') parts.push({ type: 'text', text: part.delta });
    if (part.type === 'reasoning-delta') parts.push({ type: 'reasoning', text: part.delta });
    if (part.type === 'tool-call') parts.push(part);
    if (part.type === 'finish') return toClientResult(parts, part.finishReason.unified, part.usage);
  }
  throw new Error('the stream ended without a finish');
}

const richResponse = thinks('Let me see.').and(
  says('Hello, “wörld” \u{1F600}!\nBye.'),
  calls('look', { q: 'é"\\ \n' }),
  calls('look', { q: '' }),
  { usage: { input: 100, output: 20, cacheRead: 30, cacheWrite: 10, reasoning: 5 } },
);

/** Features that a wire format, or the package that parses it, does not support. */
const unsupportedFields: Readonly<Record<string, readonly string[]>> = {
  chat: ['reasoning text'],
  responses: ['cacheWrite'],
  anthropic: ['reasoning'],
  google: ['cacheWrite'],
  compatible: ['cacheWrite'],
};

for (const [name, client] of Object.entries(clients)) {
  for (const [way, hear] of [
    ['whole', generateResult],
    ['streamed', streamResult],
  ] as const) {
    const answering = async (answer: ScriptedResponse, ...prompt: LanguageModelV4Prompt): Promise<ClientResult> => {
      await using server = await scriptedServer([answer]);
      return await hear(client(server), options(...(prompt.length ? prompt : [user('hi')])));
    };

    test(`[A1] ${name}, ${way}: text, reasoning, parallel calls and usage are transferred`, async () => {
      const { text, reasoning, calls, finish, usage } = await answering(richResponse);
      const lost = unsupportedFields[name] ?? [];
      assert.equal(text, richResponse.text);
      if (!lost.includes('reasoning text')) assert.equal(reasoning, 'Let me see.');
      assert.deepEqual(calls, [
        { tool: 'look', input: '{"q":"é\\"\\\\ \\n"}' },
        { tool: 'look', input: '{"q":""}' },
      ]);
      assert.equal(finish, 'tool-calls');
      for (const [key, count] of Object.entries(richResponse.usage ?? {}))
        if (!lost.includes(key)) assert.equal(usage[key], count, key);
    });

    test(`${name}, ${way}: each finish reason has the value of the wire format`, async () => {
      const expected: Readonly<Partial<Record<FinishReason, RegExp>>> = {
        stop: /^stop$/,
        length: /^length$/,
        filtered: /^content-filter$/,
        refusal: /^content-filter$/,
      };
      for (const [finish, word] of Object.entries(expected))
        assert.match((await answering(says('so', { finish: finish as FinishReason }))).finish, word, finish);
    });

    test(`${name}, ${way}: an error status becomes the package’s own error with the scripted message`, async () => {
      await using server = await scriptedServer([fails(429, { message: 'Slow down.', afterMs: 7000 })]);
      await assert.rejects(
        hear(client(server), options(user('hi'))),
        (error: Error & { statusCode?: number; responseHeaders?: Record<string, string> }) => {
          assert.equal(error.statusCode, 429);
          assert.match(error.message, /Slow down/);
          assert.equal(error.responseHeaders?.['retry-after'], '7');
          return true;
        },
      );
    });
  }

  test(`${name}: a conversation with tool results is valid and each request extends the previous one`, async () => {
    await using server = await scriptedServer(({ results }) =>
      results.length < 3 ? calls('look', { q: `${results.length}` }) : says('done'),
    );
    const model = client(server);
    const prompt: LanguageModelV4Prompt = [user('go')];
    for (let turn = 0; ; turn++) {
      const { content } = await model.doGenerate(options(...prompt));
      const call = content.find((part) => part.type === 'tool-call');
      if (!call) break;
      const { toolCallId, toolName, input } = call;
      const echo = name === 'responses' ? { providerOptions: { openai: { itemId: `fc_${turn}` } } } : {};
      prompt.push(
        {
          role: 'assistant',
          content: [{ type: 'tool-call', toolCallId, toolName, input: JSON.parse(input), ...echo }],
        },
        {
          role: 'tool',
          content: [{ type: 'tool-result', toolCallId, toolName, output: { type: 'text', value: `seen ${turn}` } }],
        },
      );
    }
    assert.equal(server.requests.length, 4);
    assert.deepEqual(
      server.requests.map((request) => request.outcome.status),
      [200, 200, 200, 200],
    );
    assert.deepEqual(prefixBreaks(server.requests), []);
  });
}

test('an error inside a stream that began well reaches the client of each wire format', async () => {
  for (const [name, client] of Object.entries(clients)) {
    await using server = await scriptedServer([{ text: 'one two three', cutAfter: 2, error: { name: 'overloaded' } }]);
    await assert.rejects(streamResult(client(server), options(user('hi'))), (error) => {
      assert.match(JSON.stringify(error) + String(error), /Overloaded/i, name);
      return true;
    });
  }
});
