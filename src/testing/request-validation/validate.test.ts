// The validator of every wire format accepts a valid conversation, detects each inserted violation, and refuses no request that a real service accepted.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { assertValidRequestBody, readRecordedExchanges, type WireFormatName } from '../index.ts';

/** A request that a test can make invalid. */
type Body = { [key: string]: unknown };
type InvalidCase = readonly [what: string, spoil: (body: Body) => void, sentence: RegExp];

const schema = { type: 'object', properties: { q: { type: 'string' } }, required: ['q'], additionalProperties: false };

const chatCall = (id: string): Body => ({ id, type: 'function', function: { name: 'look', arguments: '{"q":"x"}' } });

const validBodies: Readonly<Record<WireFormatName, () => Body>> = {
  chat: () => ({
    model: 'm',
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'text', text: 'go' }] },
      { role: 'assistant', content: null, tool_calls: [chatCall('a'), chatCall('b')] },
      { role: 'tool', tool_call_id: 'a', content: 'one' },
      { role: 'tool', tool_call_id: 'b', content: '' },
      { role: 'assistant', content: 'so far' },
      { role: 'user', content: 'more' },
    ],
    tools: [{ type: 'function', function: { name: 'look', description: 'd', parameters: schema, strict: true } }],
    tool_choice: 'auto',
    stream: true,
    stream_options: { include_usage: true },
  }),
  responses: () => ({
    model: 'm',
    instructions: 'Be brief.',
    input: [
      { role: 'user', content: [{ type: 'input_text', text: 'go' }] },
      { type: 'reasoning', id: 'rs_1', summary: [] },
      { type: 'function_call', id: 'fc_1', call_id: 'a', name: 'look', arguments: '{}' },
      { type: 'function_call', id: 'fc_2', call_id: 'b', name: 'look', arguments: '{}' },
      { type: 'function_call_output', call_id: 'a', output: 'one' },
      { type: 'function_call_output', call_id: 'b', output: '' },
      { type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: 'so far' }] },
      { role: 'user', content: 'more' },
    ],
    tools: [{ type: 'function', name: 'look', parameters: schema }],
    tool_choice: { type: 'function', name: 'look' },
  }),
  anthropic: () => ({
    model: 'm',
    max_tokens: 4096,
    system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
    thinking: { type: 'enabled', budget_tokens: 1024 },
    messages: [
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'hm', signature: 's' },
          { type: 'text', text: 'I look.' },
          { type: 'tool_use', id: 'a', name: 'look', input: {} },
          { type: 'tool_use', id: 'b', name: 'look', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 'one' }] },
          { type: 'tool_result', tool_use_id: 'b', content: '' },
          { type: 'text', text: 'more' },
        ],
      },
    ],
    tools: [{ name: 'look', description: 'd', input_schema: schema }],
  }),
  google: () => ({
    systemInstruction: { parts: [{ text: 'Be brief.' }] },
    contents: [
      { role: 'user', parts: [{ text: 'go' }] },
      {
        role: 'model',
        parts: [
          { functionCall: { name: 'look', args: {}, id: 'a' }, thoughtSignature: 's' },
          { functionCall: { name: 'peek', args: {}, id: 'b' } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { name: 'look', id: 'a', response: { result: 'one' } } },
          { functionResponse: { name: 'peek', id: 'b', response: {} } },
          { text: 'more' },
        ],
      },
    ],
    tools: [{ functionDeclarations: [{ name: 'look', parameters: schema }, { name: 'peek' }] }],
    toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['look'] } },
  }),
  ollama: () => ({
    model: 'm',
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: '',
        tool_calls: [{ function: { name: 'look', arguments: {} } }, { function: { name: 'peek', arguments: {} } }],
      },
      { role: 'tool', tool_name: 'look', content: 'one' },
      { role: 'tool', tool_name: 'peek', content: '' },
    ],
    tools: [{ type: 'function', function: { name: 'look', parameters: schema } }],
    options: { num_ctx: 8192 },
  }),
};

/** The value at a path, and the object or list that contains it. */
function locate(body: Body, at: string): { readonly holder: Body; readonly key: string } {
  const keys = at.split('.');
  const key = keys.pop() ?? '';
  return { holder: keys.reduce((here, each) => here[each] as Body, body), key };
}

const listAtPath = (body: Body, at: string): unknown[] => {
  const { holder, key } = locate(body, at);
  return holder[key] as unknown[];
};

type Mutation = (body: Body) => void;

const set =
  (at: string, value: unknown): Mutation =>
  (body) => {
    const { holder, key } = locate(body, at);
    holder[key] = value;
  };
const drop =
  (at: string): Mutation =>
  (body) => {
    const { holder, key } = locate(body, at);
    delete holder[key];
  };
const insert =
  (at: string, value: unknown, i = Number.POSITIVE_INFINITY): Mutation =>
  (body) =>
    void listAtPath(body, at).splice(i, 0, value);
const remove =
  (at: string, i: number): Mutation =>
  (body) =>
    void listAtPath(body, at).splice(i, 1);
const repeat =
  (at: string, i: number): Mutation =>
  (body) =>
    void listAtPath(body, at).splice(i + 1, 0, listAtPath(body, at)[i]);
const swap =
  (at: string, i: number): Mutation =>
  (body) =>
    void listAtPath(body, at).splice(i, 2, listAtPath(body, at)[i + 1], listAtPath(body, at)[i]);
const cut =
  (at: string, length: number): Mutation =>
  (body) =>
    void listAtPath(body, at).splice(length);
const combine =
  (...spoils: readonly Mutation[]): Mutation =>
  (body) =>
    spoils.forEach((spoil) => spoil(body));

const cases: Readonly<Record<WireFormatName, readonly InvalidCase[]>> = {
  chat: [
    ['there is no model', drop('model'), /^model is missing/],
    ['there are no messages', set('messages', []), /^messages is an empty list/],
    ['a role is unknown', set('messages.1.role', 'human'), /messages\[1\]\.role is "human"/],
    ['a result is missing', remove('messages', 4), /messages\[4\] comes before the result for b/],
    ['a result comes twice', repeat('messages', 3), /second result for a/],
    ['results are out of order', swap('messages', 3), /result for b, but the next in order is the one for a/],
    ['a result has no call', set('messages.3.tool_call_id', 'z'), /result for z, which was not called/],
    [
      'a tool result has an image',
      set('messages.3.content', [{ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }]),
      /messages\[3\]\.content\[0\]\.type/,
    ],
    ['a result comes later', swap('messages', 4), /messages\[4\] comes before the result for b/],
    ['the last calls are open', cut('messages', 3), /end of the conversation comes before the results for a, b/],
    ['an id is used twice', set('messages.2.tool_calls.1.id', 'a'), /second call with the id a/],
    ['the list of calls is empty', set('messages.2.tool_calls', []), /tool_calls is an empty list/],
    [
      'arguments are not a string',
      set('messages.2.tool_calls.0.function.arguments', {}),
      /arguments is an object and must be a string/,
    ],
    ['arguments are not JSON', set('messages.2.tool_calls.0.function.arguments', '{q:1}'), /arguments is not JSON/],
    ['the name of a call is invalid', set('messages.2.tool_calls.0.function.name', 'look up'), /not a valid tool name/],
    ['a text is empty', set('messages.1.content.0.text', ''), /content\[0\]\.text is an empty string/],
    ['an answer is empty', set('messages.5.content', null), /messages\[5\]\.content is null/],
    [
      'a system message comes late',
      insert('messages', { role: 'system', content: 'x' }),
      /system message after the conversation began/,
    ],
    ['the list of tools is empty', set('tools', []), /tools is an empty list/],
    ['a tool name is too long', set('tools.0.function.name', 'x'.repeat(65)), /not a valid tool name/],
    ['two tools have one name', repeat('tools', 0), /"look", which is a duplicate/],
    [
      'a schema is not an object',
      set('tools.0.function.parameters', { type: 'string' }),
      /type is "string" and must be "object"/,
    ],
    ['a strict tool is not strict', set('tools.0.function.parameters', { ...schema, required: [] }), /must contain q/],
    ['the choice names no tool', set('tool_choice', { type: 'function', function: { name: 'z' } }), /names "z"/],
    ['there is a choice and no tools', drop('tools'), /tool_choice is only allowed together with tools/],
    ['there are stream options and no stream', drop('stream'), /stream_options is only allowed/],
    ['the temperature is negative', set('temperature', -1), /temperature is -1/],
  ],
  responses: [
    [
      'a result has an invalid part',
      set('input.4.output', [{ type: 'image_url', url: 'x' }]),
      /input\[4\]\.output\[0\]\.type/,
    ],
    ['there is no input', drop('input'), /^input is missing/],
    ['a result is missing', remove('input', 5), /comes before the result for b/],
    ['results are out of order', swap('input', 4), /next in order is the one for a/],
    ['a result has no call', set('input.4.call_id', 'z'), /which was not called/],
    [
      'a user message comes before the results',
      insert('input', { role: 'user', content: 'x' }, 4),
      /input\[4\] comes before the results for a, b/,
    ],
    [
      'a call comes among results',
      insert('input', { type: 'function_call', call_id: 'c', name: 'look', arguments: '{}' }, 5),
      /new call while b has no result/,
    ],
    ['an item comes twice', set('input.3.id', 'fc_1'), /"fc_1", which is a duplicate/],
    [
      'reasoning has no following item',
      insert('input', { type: 'reasoning', id: 'rs_2', summary: [] }),
      /reasoning without the item/,
    ],
    ['reasoning leads to a copy', drop('input.2.id'), /reasoning without the item/],
    ['the user sends output', set('input.0.content.0.type', 'output_text'), /must be one of input_text/],
    ['the assistant sends input', set('input.6.content.0.type', 'input_text'), /must be one of output_text/],
    ['arguments are not JSON', set('input.2.arguments', '{'), /is not JSON/],
    ['a tool has no name', drop('tools.0.name'), /name is missing/],
    ['the choice names no tool', set('tool_choice.name', 'z'), /names "z"/],
  ],
  anthropic: [
    ['max_tokens is missing', drop('max_tokens'), /^max_tokens is missing/],
    ['the assistant begins', remove('messages', 0), /first message and must be a user message/],
    ['a tool role is used', set('messages.2.role', 'tool'), /role is "tool"/],
    ['a result is missing', remove('messages.2.content', 1), /content\[1\] comes before the result for b/],
    ['all results are missing', set('messages.2.content', 'never mind'), /comes before the results for a, b/],
    ['results are out of order', swap('messages.2.content', 0), /next in order is the one for a/],
    ['a text comes before the results', swap('messages.2.content', 1), /content\[1\] comes before the result for b/],
    [
      'a result comes after its message',
      insert('messages.2.content', { type: 'tool_result', tool_use_id: 'a' }),
      /tool result after other blocks/,
    ],
    ['an input is not an object', set('messages.1.content.2.input', '{}'), /input is a text and must be an object/],
    ['an id has a dot', set('messages.1.content.2.id', 'a.b'), /only letters, digits/],
    ['a text is white space', set('messages.2.content.2.text', ' \n'), /only white space/],
    ['a system text is empty', set('system.0.text', ''), /system\[0\]\.text is an empty string/],
    ['reasoning has no signature', drop('messages.1.content.0.signature'), /signature is missing/],
    ['reasoning was dropped', remove('messages.1.content', 0), /begin with its thinking/],
    ['the thinking budget is too large', set('thinking.budget_tokens', 4096), /greater than thinking\.budget_tokens/],
    ['a tool is forced while thinking', set('tool_choice', { type: 'any' }), /cannot force a tool/],
    [
      'there are five cache markers',
      insert('messages', {
        role: 'user',
        content: Array.from({ length: 4 }, () => ({ type: 'text', text: 'x', cache_control: { type: 'ephemeral' } })),
      }),
      /5 blocks with cache_control/,
    ],
    ['a failed result is empty', set('messages.2.content.1.is_error', true), /not allowed for an error/],
    ['a tool has no schema', drop('tools.0.input_schema'), /input_schema is missing/],
    [
      'the choice names no tool',
      combine(drop('thinking'), set('tool_choice', { type: 'tool', name: 'z' })),
      /"z", which is not among/,
    ],
    [
      'the last message ends in white space',
      insert('messages', { role: 'assistant', content: 'so ' }),
      /ends with white space/,
    ],
  ],
  google: [
    ['there are no contents', drop('contents'), /^contents is missing/],
    ['the model begins', remove('contents', 0), /first content and must have the role user/],
    ['a response is missing', remove('contents.2.parts', 1), /has 1 function responses and the turn before it 2/],
    ['responses are out of order', swap('contents.2.parts', 0), /the call at its position is of "look"/],
    ['an id does not match', set('contents.2.parts.0.functionResponse.id', 'z'), /has the id "z"/],
    [
      'a turn comes between',
      insert('contents', { role: 'user', parts: [{ text: 'x' }] }, 2),
      /has 0 function responses/,
    ],
    ['the last calls are open', remove('contents', -1), /end of the contents comes before/],
    ['a response is not an object', set('contents.2.parts.0.functionResponse.response', 'one'), /response is a text/],
    ['the user calls', set('contents.1.role', 'user'), /not a model content/],
    ['a part is empty', insert('contents.0.parts', {}), /has no content/],
    ['a part has two contents', set('contents.1.parts.0.text', 'x'), /has text and functionCall/],
    ['a text is empty among others', insert('contents.0.parts', { text: '' }), /text is an empty string/],
    ['a signature is missing', drop('contents.1.parts.0.thoughtSignature'), /has no thoughtSignature/],
    ['a name begins with a digit', set('tools.0.functionDeclarations.0.name', '1look'), /not a valid tool name/],
    [
      'a schema names its schema',
      set('tools.0.functionDeclarations.0.parameters', { ...schema, $schema: 'x' }),
      /\$schema is not supported/,
    ],
    ['the choice names no tool', set('toolConfig.functionCallingConfig.allowedFunctionNames', ['z']), /names "z"/],
    ['the mode is unknown', set('toolConfig.functionCallingConfig.mode', 'any'), /mode is "any"/],
  ],
  ollama: [
    ['there is no model', drop('model'), /^model is missing/],
    ['content is a list', set('messages.1.content', [{ type: 'text', text: 'go' }]), /must be a string/],
    ['arguments are a text', set('messages.2.tool_calls.0.function.arguments', '{}'), /must be an object/],
    ['a result is missing', remove('messages', -1), /comes before the result/],
    ['there is one result too many', insert('messages', { role: 'tool', content: 'x' }), /result without a call/],
    ['results are out of order', swap('messages', 3), /tool_name is "peek", but the next in order is look/],
    ['the context window is not a number', set('options.num_ctx', '8k'), /num_ctx is "8k"/],
    ['a message is empty', insert('messages', { role: 'user', content: '' }), /content is an empty string/],
  ],
};

for (const [dialect, spoiled] of Object.entries(cases) as [WireFormatName, readonly InvalidCase[]][]) {
  test(`law 3, ${dialect}: a valid conversation is accepted`, () =>
    assertValidRequestBody(dialect, validBodies[dialect](), 'gemini-3-pro'));

  for (const [what, spoil, sentence] of spoiled) {
    test(`law 3, ${dialect} is violated when ${what}`, () => {
      const body = validBodies[dialect]();
      spoil(body);
      assert.throws(
        () => assertValidRequestBody(dialect, body, 'gemini-3-pro'),
        (error: Error & { code?: string }) => {
          assert.equal(error.code, 'testing/illegal-request');
          assert.match(error.message, sentence);
          return true;
        },
      );
    });
  }
}

test('messages stored by the service need not be in the request', () => {
  assertValidRequestBody('responses', {
    model: 'm',
    previous_response_id: 'resp_1',
    input: [{ type: 'function_call_output', call_id: 'a', output: 'x' }],
  });
});

test('a body that is not an object is invalid in every wire format', () => {
  for (const dialect of Object.keys(validBodies) as WireFormatName[])
    assert.throws(() => assertValidRequestBody(dialect, []), /The body is a list/);
});

const file = path.resolve(import.meta.dirname, '../../../../shared/data/wire/exchanges.jsonl');
const skip = existsSync(file) ? false : 'the recorded exchanges are not here';

/** Services that accept in chat completions what OpenAI itself refuses: tools without a type, empty lists, loose strict schemas. */
const lenient = /mistral|huggingface|openrouter/;

test(
  'no request that OpenAI, Anthropic or Google accepted is refused, and two that they refused are',
  { skip },
  async () => {
    const refused: string[] = [];
    let taken = 0;
    for (const { id, host, path: where, status, format, request } of await readRecordedExchanges(file)) {
      if (!format) continue;
      try {
        assertValidRequestBody(format, request, /models\/([^/:]+):/.exec(where)?.[1]);
        taken++;
      } catch (error) {
        if (status === 200 && lenient.test(host)) continue;
        refused.push(`${status} ${id}: ${(error as Error).message}`);
      }
    }
    assert.ok(taken > 370, `${taken} taken`);
    assert.deepEqual(
      refused.map((line) => line.slice(0, 3)),
      ['400', '400'],
      refused.join('\n'),
    );
  },
);
