// Tests model settings in every wire format: the reasoning effort, and complete responses instead of streams.
import assert from 'node:assert/strict';
import test from 'node:test';
import { resolveAgent, Session, tool } from '../src/agent/index.ts';
import type { ModelSettings } from '../src/core/index.ts';
import { openProvider, withModelSettings } from '../src/providers/index.ts';
import { calls, says, scriptedServer } from '../src/testing/index.ts';
import { memoryLog } from '../src/stores/index.ts';

const formats = {
  chat: { provider: 'openai', model: 'gpt-5-mini', path: '/v1', api: 'chat' },
  responses: { provider: 'openai', model: 'gpt-5', path: '/v1', api: 'responses' },
  anthropic: { provider: 'anthropic', model: 'claude-sonnet-4-5', path: '/v1' },
  google: { provider: 'google', model: 'gemini-2.5-flash', path: '/v1beta' },
  ollama: { provider: 'ollama', model: 'qwen3', path: '' },
} as const;

type Body = Readonly<Record<string, unknown>>;

/** Returns the requests of a session with one tool call, and its answer. */
async function runWith(
  name: keyof typeof formats,
  settings: ModelSettings,
): Promise<{ readonly text: string; readonly requests: readonly { readonly path: string; readonly body: Body }[] }> {
  const server = await scriptedServer(({ results }) => (results.length === 0 ? calls('look', {}) : says('Found it.')), {
    models: [{ id: 'qwen3', tools: true, context: 32_768 }],
  });
  try {
    const { path, ...ref } = formats[name];
    const opened = await openProvider({ ...ref, baseUrl: `${server.url}${path}`, apiKey: 'k' });
    const look = tool({
      name: 'look',
      description: 'Looks.',
      inputSchema: { type: 'object' },
      execute: async () => 'a thing',
    });
    const provider = withModelSettings(opened, () => settings);
    const session = await Session.open(resolveAgent({ provider, system: 'Be brief.', tools: [look] }), memoryLog());
    await session.advance('go');
    const last = session.messages.at(-1)?.parts.find((part) => part.type === 'text');
    const requests = server.requests
      .filter(({ format }) => format !== undefined)
      .map(({ path: url, body }) => ({ path: url, body: body as Body }));
    return { text: last?.type === 'text' ? last.text : '', requests };
  } finally {
    await server.close();
  }
}

for (const name of Object.keys(formats) as (keyof typeof formats)[])
  test(`[J100] ${name}: stream: false asks for one complete response, and calls and answers are read from it`, async () => {
    const { text, requests } = await runWith(name, { stream: false });
    assert.equal(text, 'Found it.');
    assert.equal(requests.length, 2);
    for (const { path, body } of requests) {
      if (name === 'google') assert.match(path, /:generateContent$/);
      else assert.equal(body['stream'], false);
    }
    const streamed = await runWith(name, {});
    assert.equal(streamed.text, 'Found it.');
    for (const { path, body } of streamed.requests)
      assert.ok(name === 'google' ? path.includes(':streamGenerateContent') : body['stream'] === true);
  });

const effortOf: Readonly<Record<keyof typeof formats, (body: Body) => unknown>> = {
  chat: (body) => body['reasoning_effort'],
  responses: (body) => (body['reasoning'] as Body | undefined)?.['effort'],
  anthropic: (body) => (body['thinking'] as Body | undefined)?.['type'],
  google: (body) =>
    ((body['generationConfig'] as Body | undefined)?.['thinkingConfig'] as Body | undefined)?.['thinkingBudget'],
  ollama: (body) => body['think'],
};

for (const name of Object.keys(formats) as (keyof typeof formats)[])
  test(`the reasoning effort reaches ${name}`, async () => {
    const [none, high, unset] = await Promise.all(
      ([{ reasoning: 'none' }, { reasoning: 'high' }, {}] as const).map(async (settings) =>
        effortOf[name]((await runWith(name, settings)).requests[0]?.body ?? {}),
      ),
    );
    assert.equal(unset, undefined);
    assert.ok(high !== undefined, `${name} gets an effort`);
    assert.notDeepEqual(none, high);
  });
