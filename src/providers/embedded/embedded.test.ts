import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { pathToFileURL } from 'node:url';
import { FairleadError, createPersistentList, type Chunk, type Message, type ModelRequest } from '../../core/index.ts';
import { weightsFile } from './download-weights.ts';
import { tinyllama, type EmbeddedModel } from './models.ts';
import { runtimeDirectory } from './npm.ts';
import { embeddedProvider, type EmbeddedConsentRequest, type EmbeddedProvider } from './embedded.ts';

const model: EmbeddedModel = {
  ...tinyllama,
  name: 'made',
  parts: [{ url: 'http://127.0.0.1:1/never', bytes: 4 }],
  bytes: 4,
  sha256: 'b'.repeat(64),
};

/**
 * A fake runtime on disk, loaded like the real one. Its model has one token per byte and answers with the text that
 * follows the last "SAY:" in the prompt, byte by byte, in other tokens than those it
 * reads, as real models do; it records how many tokens it evaluated.
 */
const runtime = `
  const bytes = (text) => [...Buffer.from(text)];
  const text = (tokens) => Buffer.from(tokens.map((token) => token % 256)).toString();
  const log = (globalThis.madeRuntime ??= { loads: 0, disposed: 0, read: 0, at: 0, most: 0, grammars: [] });
  const step = async () => {
    log.most = Math.max(log.most, ++log.at);
    await new Promise((done) => setTimeout(done, 1));
    log.at--;
  };
  export class LlamaGrammarEvaluationState {}
  export const getLlama = async () => ({
    loadModel: async () => (log.loads++, {
      tokens: { bos: 1 },
      tokenize: (text, markup) => (markup && text === '</s>\\n' ? [2, 10] : bytes(text)),
      detokenize: (tokens) => text(tokens),
      createContext: async () => ({ getSequence: sequence, dispose: async () => {} }),
      dispose: async () => void log.disposed++,
    }),
    createGrammar: async ({ grammar }) => (log.grammars.push(grammar), { grammar }),
    dispose: async () => {},
  });
  function sequence() {
    let state = [];
    return {
      get nextTokenIndex() { return state.length; },
      adaptStateToTokens: async (tokens) => {
        let same = 0;
        while (same < tokens.length && state[same] === tokens[same]) same++;
        state = state.slice(0, same);
      },
      evaluateWithoutGeneratingNewTokens: async (tokens) => { await step(); log.read += tokens.length; state.push(...tokens); },
      controlledEvaluate: async (items) => (await step(), items.map((item) =>
        Array.isArray(item) ? { next: { logits: new Map([[item[1].generateNext.logits.filter.tokens[0], 0]]), totalLogitWeight: 1 } } : undefined)),
      async *evaluate([last]) {
        state.push(last);
        const said = text(state).split('SAY:').at(-1).split('</s>')[0].replaceAll('MARK', '<|user|>');
        if (said.startsWith('CRASH')) throw new Error('native trouble');
        for (const byte of bytes(said)) { await step(); yield byte + 256; state.push(byte + 256); }
      },
    };
  }`;

type RuntimeLog = { loads: number; disposed: number; read: number; most: number; grammars: string[] };
const globalLog = globalThis as { madeRuntime?: RuntimeLog };

function createTempDirectory(t: test.TestContext): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'fairlead-embedded-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Creates a complete data directory with this runtime. */
function createDataDirectory(t: test.TestContext, source = runtime): string {
  const directory = createTempDirectory(t);
  const home = path.join(runtimeDirectory(directory), 'node_modules', 'node-llama-cpp');
  mkdirSync(path.join(home, 'dist'), { recursive: true });
  writeFileSync(path.join(home, 'package.json'), '{"type": "module"}');
  writeFileSync(path.join(home, 'dist', 'index.js'), source);
  mkdirSync(path.dirname(weightsFile(directory, model)), { recursive: true });
  writeFileSync(weightsFile(directory, model), 'GGUF');
  return directory;
}

async function open(
  t: test.TestContext,
  directory = createDataDirectory(t),
): Promise<{ provider: EmbeddedProvider; log: RuntimeLog }> {
  const log: RuntimeLog = { loads: 0, disposed: 0, read: 0, most: 0, grammars: [] };
  globalLog.madeRuntime = Object.assign(log, { at: 0 });
  const provider = await embeddedProvider({ model, directory });
  t.after(() => provider.dispose());
  return { provider, log };
}

const user = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] });
const request = (messages: readonly Message[], more: Partial<ModelRequest> = {}): ModelRequest => ({
  system: '',
  tools: [],
  messages: createPersistentList(messages),
  toolChoice: 'auto',
  settings: {},
  ...more,
});
type End = Chunk & { readonly type: 'end' };

async function drain(
  provider: EmbeddedProvider,
  asked: ModelRequest,
  signal = new AbortController().signal,
): Promise<End & { readonly chunks: readonly Chunk[] }> {
  const chunks: Chunk[] = [];
  for await (const chunk of provider.stream(asked, signal)) chunks.push(chunk);
  const end = chunks.at(-1);
  assert.ok(end?.type === 'end');
  assert.equal(chunks.filter(({ type }) => type === 'end').length, 1);
  return { ...end, chunks };
}
const deltas = (chunks: readonly Chunk[]): readonly string[] =>
  chunks.flatMap((chunk) => (chunk.type === 'part-delta' ? [chunk.text] : []));
const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: unknown) => (error instanceof FairleadError ? error.code : String(error)),
  );

for (const [how, consent] of [
  ['without a consent function', undefined],
  ['without consent', (): boolean => false],
] as const)
  test(`${how} nothing is downloaded and nothing is written`, async (t) => {
    const directory = createTempDirectory(t);
    const opening = embeddedProvider({ directory, ...(consent ? { consent } : {}) });
    await assert.rejects(opening, { code: 'embedded/no-consent', hint: /373 MB.*ANTHROPIC_API_KEY.*Ollama/ });
    assert.deepEqual(readdirSync(directory), []);
  });

test('the consent request states the model, its size, its location and its license', async (t) => {
  const directory = createTempDirectory(t);
  const asked: EmbeddedConsentRequest[] = [];
  await codeOf(embeddedProvider({ directory, consent: (ask) => (asked.push(ask), false) }));
  assert.equal(asked.length, 1);
  assert.match(
    asked[0]?.question ?? '',
    /TinyLlama.*slow and unreliable.*Downloads 373 MB to .*Apache-2\.0.*Download it now\?/,
  );
  assert.equal(asked[0]?.directory, directory);
});

test('with a complete installation no consent is requested, and the provider has a zero price and a description', async (t) => {
  const { provider, log } = await open(t);
  assert.equal(provider.family, 'embedded');
  assert.equal(provider.model, 'made');
  assert.deepEqual(provider.price, { input: 0, output: 0 });
  assert.equal(provider.window, 2048);
  assert.match(provider.description, /unreliable/);
  assert.equal(log.loads, 0, 'nothing is loaded before the first request');
});

test('text is streamed, and the final message contains all of it', async (t) => {
  const { provider } = await open(t);
  const { chunks, message, finishReason, usage, model } = await drain(provider, request([user('SAY:Hällo 🌊 you.  ')]));
  assert.deepEqual(message.parts, [{ type: 'text', text: 'Hällo 🌊 you.' }]);
  assert.equal(deltas(chunks).join(''), 'Hällo 🌊 you.');
  assert.ok(deltas(chunks).length > 5);
  assert.ok(
    deltas(chunks).every((text) => !text.includes('\uFFFD')),
    'no half characters',
  );
  assert.equal(finishReason, 'stop');
  assert.equal(model, 'made');
  assert.equal(usage.cacheRead, 0);
});

test('generation ends at stop sequences and at markers of another turn', async (t) => {
  const { provider } = await open(t);
  const first = await drain(provider, request([user('SAY:one STOP two')], { settings: { stop: ['STOP'] } }));
  assert.equal(deltas(first.chunks).join(''), 'one');
  const other = await drain(provider, request([user('SAY:one\nMARK\nWhat?')]));
  assert.deepEqual(other.message.parts, [{ type: 'text', text: 'one' }]);
  const harmless = await drain(provider, request([user('SAY:a ST b')], { settings: { stop: ['STOP'] } }));
  assert.equal(deltas(harmless.chunks).join(''), 'a ST b');
});

test('an answer that reaches its limit has the finish reason "length"', async (t) => {
  const { provider } = await open(t);
  const { finishReason, usage, message } = await drain(
    provider,
    request([user('SAY:abcdefgh')], { settings: { maxOutputTokens: 3 } }),
  );
  assert.equal(finishReason, 'length');
  assert.equal(usage.output, 3);
  assert.deepEqual(message.parts, [{ type: 'text', text: 'abc' }]);
});

test('a call follows the schema of its tool, and its tokens are reused in the next request', async (t) => {
  const { provider, log } = await open(t);
  const tools = [
    {
      name: 'read',
      description: 'Reads.',
      input: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
    },
  ];
  const ask = user('Read it. SAY:{"path": "a.txt"}');
  const asked = request([ask], { tools, toolChoice: { tool: 'read' } });
  const { chunks, message, finishReason } = await drain(provider, asked);
  assert.equal(log.grammars.length, 1);
  assert.equal(finishReason, 'tool-calls');
  assert.deepEqual(message.parts, [{ type: 'tool-call', id: 'call_0', tool: 'read', input: { path: 'a.txt' } }]);
  assert.equal(deltas(chunks).join(''), '{"path": "a.txt"}');
  assert.equal(chunks[0]?.type, 'part-started');
  const result: Message = {
    role: 'tool',
    parts: [{ type: 'tool-result', id: 'x', tool: 'read', text: 'SAY:fine', failed: false }],
  };
  const second = await drain(provider, request([ask, message, result], { tools, toolChoice: 'none' }));
  assert.ok((second.usage.cacheRead ?? 0) > 60, `${second.usage.cacheRead} tokens were cached`);
});

test('the shared prefix of two requests is not evaluated again', async (t) => {
  const { provider, log } = await open(t);
  const first = await drain(provider, request([user('SAY:one')], { system: 'Long instructions. '.repeat(20) }));
  const before = log.read;
  const system = 'Long instructions. '.repeat(20);
  const second = await drain(provider, request([user('SAY:one'), first.message, user('SAY:two')], { system }));
  const { input = 0, output = 0 } = first.usage;
  assert.ok((second.usage.cacheRead ?? 0) >= input + output - 1, 'the generated tokens are cached too');
  assert.equal(log.read - before, (second.usage.input ?? 0) - 1 - (second.usage.cacheRead ?? 0));
});

test('a request that exceeds the context window is refused before evaluation', async (t) => {
  const { provider, log } = await open(t);
  const long = request([user('x'.repeat(2000))], { tools: [{ name: 'a', description: 'A.', input: {} }] });
  await assert.rejects(drain(provider, long), { code: 'provider/context-too-long', message: /20\d\d tokens.*2048/ });
  assert.equal(log.read, 0);
});

test('two conversations share one model and generate one at a time', async (t) => {
  const directory = createDataDirectory(t);
  const { provider, log } = await open(t, directory);
  const other = await embeddedProvider({ model, directory });
  const answers = await Promise.all([
    drain(provider, request([user('SAY:first one')])),
    drain(other, request([user('SAY:second')])),
  ]);
  assert.deepEqual(
    answers.map(({ message }) => message.parts[0]),
    [
      { type: 'text', text: 'first one' },
      { type: 'text', text: 'second' },
    ],
  );
  assert.equal(log.loads, 1);
  assert.equal(log.most, 1, 'never two generations at once');
  await provider.dispose();
  assert.equal(log.disposed, 0, 'the other provider still uses the model');
  await other.dispose();
  assert.equal(log.disposed, 1);
});

test('an abort ends a generation and a wait, and the next request proceeds', async (t) => {
  const { provider } = await open(t);
  const stop = new AbortController();
  const long = provider.stream(request([user(`SAY:${'a'.repeat(1000)}`)]), stop.signal)[Symbol.asyncIterator]();
  await long.next();
  const waiter = new AbortController();
  const waiting = codeOf(drain(provider, request([user('SAY:never')]), waiter.signal));
  waiter.abort();
  assert.equal(await waiting, 'run/cancelled');
  const after = drain(provider, request([user('SAY:next')]));
  stop.abort();
  await assert.rejects(
    async () => {
      for (;;) if ((await long.next()).done) break;
    },
    { code: 'run/cancelled' },
  );
  assert.deepEqual((await after).message.parts, [{ type: 'text', text: 'next' }]);
});

test('a consumer that was aborted and stops reading does not block other requests', async (t) => {
  const { provider } = await open(t);
  const stop = new AbortController();
  const left = provider.stream(request([user('SAY:abcdef')]), stop.signal)[Symbol.asyncIterator]();
  await left.next();
  stop.abort();
  assert.equal((await drain(provider, request([user('SAY:next')]))).finishReason, 'stop');
  await assert.rejects(left.next(), { code: 'run/cancelled' });
});

test('a consumer that stops reading releases the model', async (t) => {
  const { provider } = await open(t);
  for await (const chunk of provider.stream(request([user('SAY:abcdef')]), new AbortController().signal))
    if (chunk.type === 'part-delta') break;
  assert.deepEqual((await drain(provider, request([user('SAY:next')]))).message.parts, [
    { type: 'text', text: 'next' },
  ]);
});

test('an error in native code is a typed error, and the next request works', async (t) => {
  const { provider } = await open(t);
  await assert.rejects(drain(provider, request([user('SAY:CRASH')])), { code: 'embedded/failed', retry: true });
  assert.equal((await drain(provider, request([user('SAY:fine')]))).finishReason, 'stop');
});

test('a runtime that does not start, or an invalid model file, is reported in one sentence', async (t) => {
  const dead = createDataDirectory(t, `export const getLlama = async () => { throw new Error('no binary'); };`);
  const unreadable = createDataDirectory(
    t,
    `export const getLlama = async () => ({ loadModel: async () => { throw new Error('bad magic'); }, dispose: async () => {} });`,
  );
  const broken = createDataDirectory(t, 'this is no program');
  const codes: string[] = [];
  for (const directory of [dead, unreadable, broken]) {
    const provider = await embeddedProvider({ model, directory });
    codes.push(await codeOf(drain(provider, request([user('SAY:x')]))));
    await provider.dispose();
  }
  assert.deepEqual(codes, ['embedded/unsupported', 'embedded/not-loaded', 'embedded/unsupported']);
});

test('after dispose the model is loaded again on the next request', async (t) => {
  const { provider, log } = await open(t);
  await drain(provider, request([user('SAY:x')]));
  await provider.dispose();
  await provider.dispose();
  assert.equal((await drain(provider, request([user('SAY:y')]))).finishReason, 'stop');
  assert.equal(log.loads, 2);
});

test('a runtime in the installation of the program is used if it has the supported version', async (t) => {
  const home = path.join(createTempDirectory(t), 'node-llama-cpp');
  mkdirSync(path.join(home, 'dist'), { recursive: true });
  const entry = pathToFileURL(path.join(home, 'dist', 'index.js')).href;
  const script = `
    import { registerHooks } from 'node:module';
    registerHooks({
      resolve: (name, context, next) =>
        name === 'node-llama-cpp' ? { url: ${JSON.stringify(entry)}, shortCircuit: true } : next(name, context),
    });
    const { findBundledRuntime } = await import(${JSON.stringify(new URL('runtime.ts', import.meta.url).href)});
    console.log(findBundledRuntime() ?? 'none');`;
  const said: string[] = [];
  for (const version of ['3.9.0', '2.8.0']) {
    writeFileSync(path.join(home, 'package.json'), JSON.stringify({ version }));
    said.push(execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' }).trim());
  }
  assert.deepEqual(said, [entry, 'none']);
});
