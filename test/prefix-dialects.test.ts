// Law 1 at the server: 50 turns with rules, reminders and parallel tools, in every wire format, on the raw bytes.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Provider, Rule } from '../src/core/index.ts';
import { agentTool, defineTool, Harness, type HarnessOptions } from '../src/agent/index.ts';
import { openProvider } from '../src/providers/index.ts';
import {
  calls,
  joinResponses,
  prefixBreaks,
  says,
  scriptedServer,
  thinks,
  type ScriptRequest,
} from '../src/testing/index.ts';

const dialects: Readonly<Record<string, (url: string) => Promise<Provider>>> = {
  chat: (url) => openProvider({ provider: 'openai-compatible', model: 'm', baseUrl: `${url}/v1`, apiKey: 'k' }),
  responses: (url) =>
    openProvider({ provider: 'openai', model: 'gpt-5', baseUrl: `${url}/v1`, apiKey: 'k', api: 'responses' }),
  anthropic: (url) =>
    openProvider({ provider: 'anthropic', model: 'claude-sonnet-4-5', baseUrl: `${url}/v1`, apiKey: 'k' }),
  google: (url) =>
    openProvider({ provider: 'google', model: 'gemini-2.5-flash', baseUrl: `${url}/v1beta`, apiKey: 'k' }),
  ollama: (url) => openProvider({ provider: 'ollama', model: 'm', baseUrl: url }),
};

const turns = 50;
const script = ({ results, index }: ScriptRequest<unknown>) =>
  index >= turns - 1
    ? says('All done.')
    : joinResponses([
        ...(index % 5 === 0 ? [thinks('Let me think.')] : []),
        ...(index % 3 === 0 ? [says(`Step ${index}.`)] : []),
        calls('look', { n: index }),
        calls('note', { text: `“${results.length}” ✓` }),
        ...(index % 7 === 0 ? [calls('fail', {})] : []),
      ]);

const number = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
const tools: HarnessOptions['tools'] = [
  defineTool({
    name: 'look',
    description: 'Looks.',
    effect: 'read',
    input: number,
    run: ({ n }) => `saw ${String(n)}\nand more`,
  }),
  defineTool({
    name: 'note',
    description: 'Notes.',
    effect: 'write',
    input: { type: 'object', properties: { text: { type: 'string' } } },
    run: ({ text }) => ({ noted: text as string }),
  }),
  defineTool({
    name: 'fail',
    description: 'Fails.',
    effect: 'read',
    input: { type: 'object' },
    run: () => {
      throw new Error('no');
    },
  }),
  defineTool({
    name: 'rare',
    description: 'Rarely used.',
    effect: 'read',
    hidden: true,
    input: number,
    run: () => 'rare',
  }),
  agentTool({ name: 'helper', description: 'Helps.' }),
];
const rule: Rule = (event) =>
  event.type === 'tool-ended' && event.outcome !== 'ok'
    ? [{ key: 'failed', text: `${event.call} failed`, priority: 9 }]
    : [];

for (const [dialect, open] of Object.entries(dialects)) {
  test(`[D4, D16, P50] ${dialect}: each of ${turns} requests extends the previous one, byte for byte`, async (t) => {
    await using server = await scriptedServer(script, { models: [{ id: 'm' }] });
    const harness = new Harness({
      provider: await open(server.url),
      system: 'You are a test.',
      tools,
      rules: [rule],
      maxTurns: turns + 1,
      limits: { stuckAfter: 0 },
      runDir: null,
    });
    harness.registerReminder((turn) => (turn % 4 === 0 ? `It is turn ${turn}.` : null));
    const result = await harness.runResult('Go.');
    assert.deepEqual([result.status, result.detail], ['success', undefined]);
    const asked = server.requests.filter((request) => request.format !== undefined);
    assert.equal(asked.length, turns);
    assert.deepEqual(prefixBreaks(asked, { cacheMarkers: true }), []);
    t.diagnostic(`measured prefix-kept ${turns - 1}/${turns - 1}`);
  });
}

test('a changed prompt would be detected', async () => {
  await using server = await scriptedServer(() => says('ok'));
  for (const system of ['one', 'two']) {
    const harness = new Harness({
      provider: await (dialects['chat'] as (url: string) => Promise<Provider>)(server.url),
      system,
      runDir: null,
    });
    await harness.run('Go.');
  }
  assert.notDeepEqual(prefixBreaks(server.requests), []);
});
