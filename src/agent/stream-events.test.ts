// The event stream of a run has the events and fields of the Anthropic Messages API.
import assert from 'node:assert/strict';
import test from 'node:test';
import type Anthropic from '@anthropic-ai/sdk';
import type { Chunk, Message, Provider } from '../core/index.ts';
import { calls, says, scriptedProvider, scriptedServer, thinks } from '../testing/index.ts';
import { Agent, tool, type StreamEvent } from './index.ts';

type ProtocolType = Anthropic.RawMessageStreamEvent['type'];
type ProtocolEvent = Extract<StreamEvent, { readonly type: ProtocolType }>;

/** The compiler checks here that each event has every field of the protocol. */
const toProtocolEvent = (event: ProtocolEvent): Anthropic.RawMessageStreamEvent => event;

/** The same for the beta form, which the Claude Agent SDK passes on. */
const toAgentSdkEvent = (event: ProtocolEvent): Anthropic.Beta.Messages.BetaRawMessageStreamEvent => event;

const protocolTypes: ReadonlySet<string> = new Set<ProtocolType>([
  'message_start',
  'content_block_start',
  'content_block_delta',
  'content_block_stop',
  'message_delta',
  'message_stop',
]);

const isProtocolEvent = (event: StreamEvent): event is ProtocolEvent => protocolTypes.has(event.type);

test('[D29] each event of a turn has every field of the Messages API', async () => {
  const look = tool({ name: 'look', description: 'Looks.', inputSchema: { type: 'object' }, execute: () => 'seen' });
  const provider = scriptedProvider([says('Let me see.').and(calls('look', {})), says('Done.')]);
  const events: StreamEvent[] = [];
  for await (const event of new Agent({ model: provider, tools: [look] }).stream('go')) events.push(event);
  const protocol = events.filter(isProtocolEvent).map(toProtocolEvent);
  for (const event of events.filter(isProtocolEvent).map(toAgentSdkEvent))
    if (event.type === 'message_delta') assert.equal(event.context_management, null);

  const [first, second] = protocol.filter((event) => event.type === 'message_start');
  assert.deepEqual(Object.keys(first?.message ?? {}).toSorted(), [
    'container',
    'content',
    'context_management',
    'diagnostics',
    'id',
    'model',
    'role',
    'stop_details',
    'stop_reason',
    'stop_sequence',
    'type',
    'usage',
  ]);
  assert.equal(first?.message.model, provider.model);
  assert.match(first?.message.id ?? '', /^msg_./);
  assert.notEqual(first?.message.id, second?.message.id);

  const blocks = protocol.filter((event) => event.type === 'content_block_start').map((event) => event.content_block);
  assert.deepEqual(blocks[0], { type: 'text', text: '', citations: null });
  const { id, ...call } = blocks[1] as Anthropic.ToolUseBlock;
  assert.deepEqual(call, { type: 'tool_use', name: 'look', input: {}, caller: { type: 'direct' } });
  const result = events.find((event) => event.type === 'tool_result');
  assert.equal(result?.tool_use_id, id);

  const deltas = protocol.filter((event) => event.type === 'message_delta');
  assert.deepEqual(
    deltas.map(({ delta }) => delta),
    ['tool_use', 'end_turn'].map((reason) => ({
      stop_reason: reason,
      stop_sequence: null,
      stop_details: null,
      container: null,
    })),
  );
  assert.ok((deltas[0]?.usage.input_tokens ?? 0) > 0);
  assert.deepEqual(Object.keys(deltas[0]?.usage ?? {}).toSorted(), [
    'cache_creation_input_tokens',
    'cache_read_input_tokens',
    'fallback_credit',
    'input_tokens',
    'iterations',
    'output_tokens',
    'output_tokens_details',
    'server_tool_use',
  ]);
});

test('reasoning tokens are in the events and in the result', async () => {
  const stream = new Agent({
    model: scriptedProvider([{ text: 'Done.', usage: { input: 5, output: 9, reasoning: 4 } }]),
  }).stream('go');
  for await (const event of stream)
    if (event.type === 'message_delta') assert.deepEqual(event.usage.output_tokens_details, { thinking_tokens: 4 });
  assert.equal((await stream.result).usage.reasoningTokens, 4);
});

/** One turn of the protocol: a message from its start to its stop, rebuilt from its deltas. */
type RebuiltTurn = { readonly blocks: readonly string[]; readonly stopReason: string };

/** Reads the events as a client of the protocol does; throws at an event that is out of order. */
function rebuildTurns(events: readonly StreamEvent[]): readonly RebuiltTurn[] {
  const turns: RebuiltTurn[] = [];
  let blocks: string[] | undefined;
  let openBlock: number | undefined;
  let stopReason: string | undefined;
  for (const event of events) {
    if (event.type === 'message_start') {
      assert.equal(blocks, undefined, 'a message starts after the last one stopped');
      blocks = [];
    } else if (event.type === 'content_block_start') {
      assert.deepEqual([openBlock, event.index], [undefined, blocks?.length]);
      openBlock = event.index;
      blocks?.push(event.content_block.type === 'tool_use' ? `${event.content_block.name} ` : '');
    } else if (event.type === 'content_block_delta') {
      assert.equal(event.index, openBlock);
      const { delta } = event;
      const text =
        delta.type === 'text_delta'
          ? delta.text
          : delta.type === 'thinking_delta'
            ? delta.thinking
            : delta.partial_json;
      blocks?.push(`${blocks.pop()}${text}`);
    } else if (event.type === 'content_block_stop') {
      assert.equal(event.index, openBlock);
      openBlock = undefined;
    } else if (event.type === 'message_delta') {
      assert.deepEqual([openBlock, stopReason], [undefined, undefined]);
      stopReason = event.delta.stop_reason;
    } else if (event.type === 'message_stop') {
      assert.ok(blocks && stopReason);
      turns.push({ blocks, stopReason });
      blocks = stopReason = undefined;
    } else {
      assert.ok(event.type === 'tool_result' || event.type === 'result', event.type);
      assert.equal(blocks, undefined, `${event.type} is between messages`);
    }
  }
  assert.equal(blocks, undefined);
  return turns;
}

const camelCaseKeys = (value: unknown): readonly string[] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([key, each]) => [...(/[A-Z]/.test(key) ? [key] : []), ...camelCaseKeys(each)])
    : [];

for (const format of ['anthropic', 'openai', 'ollama'] as const)
  test(`[D29, D30] every turn of ${format} is one message of the protocol, in order and in its spelling`, async (t) => {
    const server = await scriptedServer([
      thinks('Which one?')
        .and(says('I look twice.'))
        .and(calls('look', { n: 1 }))
        .and(calls('look', { n: 2 })),
      calls('look', { n: 3 }),
      says('Seen all three.'),
    ]);
    t.after(() => server.close());
    const baseUrl = format === 'ollama' ? server.url : `${server.url}/v1`;
    const agent = new Agent({
      model: { provider: format, model: 'scripted', baseUrl, apiKey: 'any' },
      tools: [tool({ name: 'look', description: 'Looks.', inputSchema: { type: 'object' }, execute: () => 'seen' })],
    });
    const events: StreamEvent[] = [];
    for await (const event of agent.stream('go')) events.push(event);
    const turns = rebuildTurns(events);
    assert.deepEqual(
      turns.map(({ stopReason }) => stopReason),
      ['tool_use', 'tool_use', 'end_turn'],
    );
    assert.deepEqual(
      turns.map(({ blocks }) => blocks.filter((block) => block !== 'Which one?')),
      [['I look twice.', 'look {"n":1}', 'look {"n":2}'], ['look {"n":3}'], ['Seen all three.']],
    );
    const results = events.filter((event) => event.type === 'tool_result');
    assert.deepEqual(
      results.map(({ tool_name: name, content }) => `${name} ${content}`),
      ['look seen', 'look seen', 'look seen'],
    );
    assert.deepEqual(camelCaseKeys(events.filter((event) => event.type !== 'result')), []);
    assert.equal(events.at(-1)?.type, 'result');
  });

test('[D29] parts that a provider interleaves become blocks in order; text that continues becomes another block', async () => {
  const start = (index: number, part: 'text' | 'reasoning'): Chunk => ({ type: 'part-started', index, part });
  const startCall = (index: number): Chunk => ({
    type: 'part-started',
    index,
    part: 'tool-call',
    id: `x${index}`,
    tool: 'look',
  });
  const delta = (index: number, text: string): Chunk => ({ type: 'part-delta', index, text });
  const end = (index: number): Chunk => ({ type: 'part-ended', index });
  const provider = scriptedProvider([says('done')]);
  const message: Message = {
    role: 'assistant',
    parts: [
      { type: 'reasoning', text: 'hm so' },
      { type: 'text', text: 'one' },
      { type: 'tool-call', id: 'x2', tool: 'look', input: { n: 1 } },
      { type: 'tool-call', id: 'x3', tool: 'look', input: { n: 2 } },
    ],
  };
  const chunks: readonly Chunk[] = [
    start(0, 'reasoning'),
    delta(0, 'hm'),
    start(1, 'text'),
    delta(1, 'one'),
    delta(0, ' so'),
    startCall(2),
    delta(2, '{"n"'),
    startCall(3),
    delta(3, '{"n":'),
    delta(2, ':1}'),
    delta(3, '2}'),
    end(0),
    end(1),
    end(3),
    end(2),
    { type: 'end', message, finishReason: 'tool-calls', usage: {}, model: 'm' },
  ];
  let isFirst = true;
  const interleaving: Provider = {
    ...provider,
    async *stream(request, signal) {
      if (!isFirst) return yield* provider.stream(request, signal);
      isFirst = false;
      yield* chunks;
    },
  };
  const look = tool({ name: 'look', description: 'Looks.', inputSchema: { type: 'object' }, execute: () => 'seen' });
  const events: StreamEvent[] = [];
  for await (const event of new Agent({ model: interleaving, tools: [look] }).stream('go')) events.push(event);
  assert.deepEqual(rebuildTurns(events)[0]?.blocks, ['hm', 'one', ' so', 'look {"n":1}', 'look {"n":2}']);
  const ids = events.flatMap((event) =>
    event.type === 'content_block_start' && event.content_block.type === 'tool_use' ? [event.content_block.id] : [],
  );
  assert.deepEqual(
    events.flatMap((event) => (event.type === 'tool_result' ? [event.tool_use_id] : [])),
    ids,
  );
});

test('[D30] a call without arguments before another call keeps its id in the events', async (t) => {
  const server = await scriptedServer([calls('look', {}, { raw: '' }).and(calls('see', { n: 2 })), says('done')]);
  t.after(() => server.close());
  const tools = ['look', 'see'].map((name) =>
    tool({ name, description: 'Looks.', inputSchema: { type: 'object' }, execute: () => 'seen' }),
  );
  const model = { provider: 'openai', model: 'scripted', baseUrl: `${server.url}/v1`, apiKey: 'any' };
  const started = new Map<string, string>();
  const ended = new Map<string, string>();
  for await (const event of new Agent({ model, tools }).stream('go')) {
    if (event.type === 'content_block_start' && event.content_block.type === 'tool_use')
      started.set(event.content_block.id, event.content_block.name);
    if (event.type === 'tool_result') ended.set(event.tool_use_id, event.tool_name);
  }
  assert.equal(started.size, 2);
  assert.deepEqual(started, ended);
});
