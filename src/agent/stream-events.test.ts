// The event stream of a run has the events and fields of the Anthropic Messages API.
import assert from 'node:assert/strict';
import test from 'node:test';
import type Anthropic from '@anthropic-ai/sdk';
import { calls, says, scriptedProvider } from '../testing/index.ts';
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
