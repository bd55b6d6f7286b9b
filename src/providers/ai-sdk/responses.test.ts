// Tests of the stateless Responses API provider: request format and unusual responses.
import assert from 'node:assert/strict';
import test from 'node:test';
import { createPersistentList, type Chunk, type Message, type ModelRequest } from '../../core/index.ts';
import { says, scriptedServer, sends, type ScriptedServer } from '../../testing/index.ts';
import { responsesProvider } from './responses.ts';

type Body = {
  readonly store: boolean;
  readonly include?: readonly string[];
  readonly prompt_cache_key?: string;
  readonly reasoning?: unknown;
  readonly text?: { readonly format: { readonly strict: boolean } };
  readonly tools: readonly unknown[];
  readonly input: readonly { readonly type?: string; readonly id?: string }[];
};

type Event = { readonly type: string; readonly [key: string]: unknown };

const user = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] });
const lookTool = {
  name: 'look',
  description: 'Looks.',
  input: { type: 'object', properties: { at: { type: 'string' } } },
};

const createRequest = (messages: readonly Message[], more: Partial<ModelRequest> = {}): ModelRequest => ({
  system: 'Be brief.',
  tools: [lookTool],
  messages: createPersistentList(messages),
  toolChoice: 'auto',
  settings: {},
  session: 'session-1',
  ...more,
});

async function ask(server: ScriptedServer, request: ModelRequest, model = 'gpt-5.5'): Promise<Chunk & { type: 'end' }> {
  const provider = responsesProvider({ model, apiKey: 'k', baseUrl: `${server.url}/v1` });
  for await (const chunk of provider.stream(request, AbortSignal.timeout(9000))) if (chunk.type === 'end') return chunk;
  throw new Error('The stream had no end.');
}

async function sentBody(request: ModelRequest, model?: string): Promise<Body> {
  await using server = await scriptedServer([says('ok')]);
  await ask(server, request, model);
  return server.requests[0]?.body as unknown as Body;
}

async function read(...events: readonly Event[]): Promise<Chunk & { type: 'end' }> {
  const body = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
  await using server = await scriptedServer([sends({ headers: { 'content-type': 'text/event-stream' }, body })]);
  return await ask(server, createRequest([user('Go.')]));
}

const added = (output_index: number, item: object): Event => ({
  type: 'response.output_item.added',
  output_index,
  item,
});
const done = (output_index: number, item: object): Event => ({ type: 'response.output_item.done', output_index, item });
const ended = (response: object = {}, type = 'response.completed'): Event => ({
  type,
  response: { model: 'm', status: 'completed', output: [], ...response },
});

test('[A1] requests are stateless: calls are sent in full with their ids, reasoning is sent encrypted', async () => {
  const called: Message = {
    role: 'assistant',
    parts: [
      { type: 'reasoning', text: 'Hm.' },
      { type: 'reasoning', text: 'So.', meta: { family: 'responses', data: { reasoningEncryptedContent: 'seal' } } },
      { type: 'text', text: 'Looking.', meta: { family: 'responses', data: { phase: 'commentary' } } },
      { type: 'tool-call', id: 'c00001000', tool: 'look', input: { at: 'x' } },
    ],
  };
  const back: Message = {
    role: 'tool',
    parts: [{ type: 'tool-result', id: 'c00001000', tool: 'look', text: 'a wall', failed: true }],
  };
  const body = await sentBody(createRequest([user('Go.'), called, back, user('Hurry.')]));
  assert.deepEqual(body.input, [
    { role: 'developer', content: 'Be brief.' },
    { role: 'user', content: [{ type: 'input_text', text: 'Go.' }] },
    { type: 'reasoning', encrypted_content: 'seal', summary: [{ type: 'summary_text', text: 'So.' }] },
    { role: 'assistant', content: 'Looking.', phase: 'commentary' },
    { type: 'function_call', call_id: 'c00001000', name: 'look', arguments: '{"at":"x"}' },
    { type: 'function_call_output', call_id: 'c00001000', output: 'a wall' },
    { role: 'user', content: [{ type: 'input_text', text: 'Hurry.' }] },
  ]);
  assert.equal(body.store, false);
  assert.deepEqual(body.include, ['reasoning.encrypted_content']);
  assert.equal(body.prompt_cache_key, 'session-1');
});

test('tool schemas are sent unchanged and not strict', async () => {
  const { tools } = await sentBody(createRequest([user('Go.')]));
  assert.deepEqual(tools, [
    { type: 'function', name: 'look', description: 'Looks.', parameters: lookTool.input, strict: false },
  ]);
});

test('[A110] structured output is strict only if the schema allows it', async () => {
  const closed = {
    type: 'object',
    properties: { a: { type: 'number' } },
    required: ['a'],
    additionalProperties: false,
  };
  const strict = async (answer: ModelRequest['outputSchema']): Promise<boolean | undefined> =>
    (await sentBody(createRequest([user('Go.')], answer ? { outputSchema: answer } : {}))).text?.format.strict;
  assert.equal(await strict(closed), true);
  assert.equal(await strict({ ...closed, required: [] }), false);
  assert.equal(await strict(undefined), undefined);
});

test('the reasoning parameters follow the settings, also for models of other vendors', async () => {
  const high = { settings: { reasoning: 'high' } } as const;
  assert.deepEqual((await sentBody(createRequest([user('Go.')], high))).reasoning, { effort: 'high', summary: 'auto' });
  assert.deepEqual((await sentBody(createRequest([user('Go.')], high), 'openai/gpt-oss-120b')).reasoning, {
    effort: 'high',
    summary: 'auto',
  });
  assert.equal((await sentBody(createRequest([user('Go.')]))).reasoning, undefined);
});

test('reasoning text and several summaries keep their order, with the encrypted content on the last', async () => {
  const item = { type: 'reasoning', id: 'rs_1', summary: [] };
  const at = { output_index: 0, item_id: 'rs_1' };
  const { message } = await read(
    { type: 'response.created', response: { id: 'r', model: 'm' } },
    added(0, item),
    { type: 'response.reasoning_summary_part.added', ...at, summary_index: 0 },
    { type: 'response.reasoning_summary_text.delta', ...at, summary_index: 0, delta: 'One' },
    { type: 'response.reasoning_summary_text.delta', ...at, summary_index: 0, delta: '.' },
    { type: 'response.reasoning_summary_part.done', ...at, summary_index: 0 },
    { type: 'response.reasoning_summary_text.delta', ...at, summary_index: 1, delta: 'Two.' },
    done(0, { ...item, encrypted_content: 'seal' }),
    added(1, { type: 'reasoning', id: 'rs_2' }),
    { type: 'response.reasoning_text.delta', output_index: 1, item_id: 'other', content_index: 0, delta: 'Aloud.' },
    done(1, { type: 'reasoning', id: 'rs_2' }),
    done(2, { type: 'reasoning', id: 'rs_3', summary: [], encrypted_content: 'dark' }),
    ended(),
  );
  const seal = (reasoningEncryptedContent: string): object => ({
    family: 'responses',
    data: { reasoningEncryptedContent },
  });
  assert.deepEqual(message.parts, [
    { type: 'reasoning', text: 'One.' },
    { type: 'reasoning', text: 'Two.', meta: seal('seal') },
    { type: 'reasoning', text: 'Aloud.' },
    { type: 'reasoning', text: '', meta: seal('dark') },
  ]);
});

test('calls of server-side and unsupported built-in tools are ignored', async () => {
  const { message, finishReason } = await read(
    added(0, { type: 'shell_call', id: 's', call_id: 's', status: 'in_progress', action: { commands: ['rm -rf /'] } }),
    done(0, { type: 'shell_call', id: 's', call_id: 's', status: 'completed', action: { commands: ['rm -rf /'] } }),
    done(1, { type: 'local_shell_call', id: 'l', call_id: 'l', action: { type: 'exec', command: ['rm'], env: {} } }),
    done(2, { type: 'custom_tool_call', id: 'c', call_id: 'c', name: 'look', input: 'x', status: 'completed' }),
    done(3, { type: 'mcp_call', id: 'm', name: 'look', arguments: '{}', server_label: 'x', status: 'completed' }),
    done(4, { type: 'item_of_tomorrow', id: 't' }),
    { type: 'response.event_of_tomorrow' },
    ended(),
  );
  assert.deepEqual([message.parts, finishReason], [[], 'stop']);
});

test('complete items without deltas, or only the final response, are parsed too', async () => {
  const said = { type: 'message', id: 'msg', content: [{ type: 'output_text', text: 'Yes.' }] };
  const call = {
    type: 'function_call',
    id: 'fc',
    call_id: 'c',
    name: 'look',
    arguments: '{"at":"x"}',
    status: 'completed',
  };
  const parts = [
    { type: 'text', text: 'Yes.' },
    { type: 'tool-call', id: 'c', tool: 'look', input: { at: 'x' } },
  ];
  assert.deepEqual((await read(done(0, said), done(1, call), ended())).message.parts, parts);
  assert.deepEqual((await read(ended({ output: [said, call] }))).message.parts, parts);
  const pieces = { type: 'response.function_call_arguments.delta', output_index: 0, delta: '{"at":"x"}' };
  const late = await read(added(0, { ...call, arguments: '' }), pieces, done(0, { ...call, arguments: '' }), ended());
  assert.deepEqual(late.message.parts, [parts[1]]);
});

test('refusals, limits and filters are mapped to finish reasons (faults 51, 52)', async () => {
  const refused = await read(
    added(0, { type: 'message', id: 'msg' }),
    { type: 'response.refusal.delta', output_index: 0, item_id: 'msg', delta: 'No.' },
    done(0, { type: 'message', id: 'msg', content: [{ type: 'refusal', refusal: 'No.' }] }),
    ended(),
  );
  assert.deepEqual([refused.finishReason, refused.message.parts], ['refusal', [{ type: 'text', text: 'No.' }]]);
  const half = { type: 'function_call', id: 'fc', call_id: 'c', name: 'look', arguments: '{}', status: 'incomplete' };
  const limited = await read(
    added(0, { ...half, arguments: '' }),
    { type: 'response.function_call_arguments.delta', output_index: 0, delta: '{}' },
    done(0, half),
    ended({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }, 'response.incomplete'),
  );
  assert.deepEqual(
    [limited.finishReason, limited.rawFinishReason, limited.message.parts],
    ['length', 'max_output_tokens', []],
  );
  const filtered = await read(ended({ status: 'incomplete', incomplete_details: { reason: 'content_filter' } }));
  assert.equal(filtered.finishReason, 'filtered');
});

test('a failed response is an error with its code', async () => {
  const failed = (code: string): Promise<unknown> =>
    read(ended({ status: 'failed', error: { code, message: 'Sorry.' } }, 'response.failed'));
  await assert.rejects(failed('rate_limit_exceeded'), { code: 'provider/rate-limited', retry: true });
  await assert.rejects(failed('server_error'), { code: 'provider/server-error', retry: true });
  await assert.rejects(failed('context_length_exceeded'), { code: 'provider/context-too-long' });
  await assert.rejects(read({ type: 'error', code: 'server_error', message: 'Sorry.', param: null }), { retry: true });
});
