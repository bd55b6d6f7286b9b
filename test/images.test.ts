// An image that a tool read reaches the model in every wire format, stays at its position, and is replaced by text for a model without image support.
import assert from 'node:assert/strict';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { resolveAgent, Session } from '../src/agent/index.ts';
import { toolOutput, partTokens, type FilePart, type Provider, type Tool } from '../src/core/index.ts';
import { openProvider } from '../src/providers/index.ts';
import {
  calls,
  joinResponses,
  prefixBreaks,
  says,
  scriptedProvider,
  scriptedServer,
  type ScriptRequest,
  type ScriptedServer,
} from '../src/testing/index.ts';
import { memoryLog, openJsonl, verifyFile } from '../src/stores/index.ts';
import { readFile } from '../src/tools/index.ts';
import { localWorkspace } from '../src/workspace/index.ts';
import { createPng } from './support/png.ts';

type ModelCapabilities = { readonly images?: boolean };
type OpenProvider = (url: string, sees: ModelCapabilities) => Promise<Provider>;

const openAt =
  (provider: string, model: string, path: string, more: { readonly api?: 'responses' } = {}): OpenProvider =>
  (url, sees) =>
    openProvider({ provider, model, baseUrl: `${url}${path}`, apiKey: 'k', ...more, ...sees });

const dialects: Readonly<Record<string, OpenProvider>> = {
  chat: openAt('openai-compatible', 'm', '/v1'),
  mistral: openAt('mistral', 'm', '/v1'),
  responses: openAt('openai', 'gpt-5', '/v1', { api: 'responses' }),
  anthropic: openAt('anthropic', 'claude-sonnet-4-5', '/v1'),
  google: openAt('google', 'gemini-2.5-flash', '/v1beta'),
  'google-3': openAt('google', 'gemini-3-pro', '/v1beta'),
  ollama: openAt('ollama', 'm', ''),
};

const png = createPng(3, 2);
const base64 = png.toString('base64');

function createImageDir(t: TestContext): string {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-pictures-')));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  writeFileSync(path.join(root, 'a.png'), png);
  writeFileSync(path.join(root, 'b.txt'), 'words\n');
  return root;
}

/** An image next to a text, then a prompt of the user, then another call. */
const script = ({ index }: ScriptRequest<unknown>) =>
  index === 0
    ? joinResponses([calls('read_file', { path: 'a.png' }), calls('read_file', { path: 'b.txt' })])
    : index === 2
      ? calls('read_file', { path: 'b.txt' })
      : says(`Answer ${index}.`);

async function runConversation(t: TestContext, open: OpenProvider, sees: ModelCapabilities): Promise<ScriptedServer> {
  const server = await scriptedServer(script, { models: [{ id: 'm' }] });
  t.after(() => server.close());
  const workspace = localWorkspace({ roots: [createImageDir(t)] });
  const provider = await open(server.url, sees);
  const parts = resolveAgent({ provider, system: 'You are a test.', tools: [readFile(workspace)] });
  const session = await Session.open(parts, memoryLog());
  for (const words of ['Look at it.', 'And again.'])
    assert.equal((await session.advance(words)).ended?.reason, 'answered');
  return server;
}

const getModelRequests = (server: ScriptedServer) => server.requests.filter((request) => request.format !== undefined);

/** The position of the image in a request, and its neighbours. */
const imagePatterns: Readonly<Record<string, RegExp>> = {
  chat: /"role":"tool"[^{]*"words"},\{"role":"user","content":\[\{"type":"text","text":"[^"]*"},\{"type":"image_url","image_url":\{"url":"data:image\/png;base64,PIC"}}]}/,
  mistral:
    /"words"},\{"role":"assistant"[^{]*},\{"role":"user","content":\[[^\]]*"image_url":\{"url":"data:image\/png;base64,PIC"}}]}/,
  responses:
    /"function_call_output","call_id":"[^"]+","output":\[\{"type":"input_text","text":"a\.png[^"]*"},\{"type":"input_image","image_url":"data:image\/png;base64,PIC"}]/,
  anthropic:
    /"tool_result","tool_use_id":"[^"]+","content":\[\{"type":"text","text":"a\.png[^"]*"},\{"type":"image","source":\{"type":"base64","media_type":"image\/png","data":"PIC"}}]/,
  google:
    /"functionResponse":\{[^}]*"response":\{[^}]*a\.png[^}]*}}},\{"inlineData":\{"mimeType":"image\/png","data":"PIC"}}/,
  'google-3': /"functionResponse":\{.*a\.png[^}]*},"parts":\[\{"inlineData":\{"mimeType":"image\/png","data":"PIC"}}]}/,
  ollama: /"role":"tool","content":"words"[^{]*},\{"role":"user","content":"[^"]+","images":\["PIC"]}/,
};

for (const [dialect, open] of Object.entries(dialects)) {
  test(`[P12] ${dialect}: an image that a tool read is sent with its result, and stays byte for byte in later requests`, async (t) => {
    const requests = getModelRequests(await runConversation(t, open, { images: true }));
    assert.equal(requests.length, 4);
    assert.ok(!JSON.stringify(requests[0]?.body).includes(base64));
    for (const { body } of requests.slice(1)) {
      const text = JSON.stringify(body).replaceAll(/<outside-text-\w+>\\n|\\n<\/outside-text-\w+>/g, '');
      assert.equal(text.split(base64).length, 2, 'once in each request');
      assert.match(text.replace(base64, 'PIC'), imagePatterns[dialect] as RegExp);
    }
    assert.deepEqual(prefixBreaks(requests, { cacheMarkers: true }), []);
  });
}

for (const dialect of ['chat', 'ollama', 'anthropic'])
  test(`[P12] ${dialect}: a model that does not support images is told so in one sentence`, async (t) => {
    const requests = getModelRequests(await runConversation(t, dialects[dialect] as OpenProvider, { images: false }));
    const text = JSON.stringify(requests.at(-1)?.body);
    assert.ok(!text.includes(base64));
    assert.match(text, /a\.png: image\/png, 3×2 pixels, \d+ bytes\. It is not shown: [\w-]+ does not support images\./);
  });

test('[P12] if it is unknown whether a model supports images, no image is sent, because a server might refuse every later request', async (t) => {
  const text = JSON.stringify(
    getModelRequests(await runConversation(t, dialects['chat'] as OpenProvider, {})).at(-1)?.body,
  );
  assert.ok(!text.includes(base64));
  assert.match(text, /It is not shown: it is not known whether m supports images\./);
});

for (const sees of [{ images: false }, {}])
  test(`[P12] a conversation with images can continue with a model that ${'images' in sees ? 'supports none' : 'may support none'}: text takes their place`, async (t) => {
    await using server = await scriptedServer(script);
    const open = dialects['chat'] as OpenProvider;
    const tools = [readFile(localWorkspace({ roots: [createImageDir(t)] }))];
    const parts = resolveAgent({ provider: await open(server.url, { images: true }), system: '', tools });
    const session = await Session.open(parts, memoryLog());
    await session.advance('Look at it.');
    await session.setAgent(resolveAgent({ provider: await open(server.url, sees), system: '', tools }));
    await session.advance('And again.');
    const text = JSON.stringify(getModelRequests(server).at(-1)?.body);
    assert.ok(JSON.stringify(session.messages).includes(base64) && !text.includes(base64));
    assert.match(text, /\[a\.png is not shown to this model\.]/);
  });

test('[P12] a session file contains the image: opened again, the session sends it unchanged', async (t) => {
  await using server = await scriptedServer(script);
  const open = dialects['chat'] as OpenProvider;
  const root = createImageDir(t);
  const tools = [readFile(localWorkspace({ roots: [root] }))];
  const parts = resolveAgent({ provider: await open(server.url, { images: true }), system: '', tools });
  const file = path.join(root, 'session.jsonl');
  for (const words of ['Look at it.', 'And again.']) {
    const session = await Session.open(parts, await openJsonl(file));
    await session.advance(words);
    await session.close();
  }
  const requests = getModelRequests(server);
  assert.equal(requests.length, 4);
  assert.deepEqual(prefixBreaks(requests), []);
  assert.ok(JSON.stringify(requests.at(-1)?.body).includes(base64));
  assert.deepEqual((await verifyFile(file)).problems, []);
});

test('[P12] invalid image data of a tool is left out of the log, and an image counts as one page of tokens', async () => {
  const strange = toolOutput({
    text: 'ok',
    files: [
      { type: 'file', mediaType: 'image/png', data: base64 },
      { type: 'file' },
      'x',
      null,
    ] as unknown as FilePart[],
  });
  const provider = scriptedProvider(({ index }) => (index === 0 ? calls('draw', {}) : says('done')));
  const draw: Tool = {
    name: 'draw',
    description: 'Draws.',
    input: { type: 'object' },
    effect: 'read',
    execute: () => strange,
  };
  const session = await Session.open(resolveAgent({ provider, system: '', tools: [draw] }), memoryLog());
  await session.advance('Go.');
  const [result] = session.messages[2]?.parts ?? [];
  assert.ok(result?.type === 'tool-result');
  assert.deepEqual(result.files, [{ type: 'file', mediaType: 'image/png', data: base64 }]);
  assert.ok(partTokens([result]) > 1000 && partTokens([result]) < 2000);
});
