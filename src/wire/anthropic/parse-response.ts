// Parses Anthropic message responses: whole documents and streams.
import type { JsonObject, MessagePart } from '../../core/index.ts';
import { asObject, asObjectArray, asString, parseCallArguments } from '../fields.ts';
import type { WireStreamEvent } from '../sse.ts';
import { mergeCounts } from '../usage.ts';
import type { ParsedModelResponse, StreamAssembler } from '../wire-format.ts';
import { parseAnthropicFinish } from './finish-reasons.ts';
import { parseAssistantBlock } from './parse-request.ts';
import { parseAnthropicUsage } from './usage.ts';

/** Parses a message. */
export const parseAnthropicResponse = (response: JsonObject): ParsedModelResponse => {
  const content = asObjectArray(response['content']);
  return createResponse(
    content.flatMap(parseAssistantBlock),
    content,
    asString(response['stop_reason']),
    asObject(response['usage']),
  );
};

const createResponse = (
  parts: readonly MessagePart[],
  content: readonly JsonObject[],
  stop: string,
  usage: JsonObject,
): ParsedModelResponse => ({
  message: { role: 'assistant', parts },
  finish: parseAnthropicFinish(stop),
  usage: parseAnthropicUsage(usage),
  raw: content,
});

type OpenBlock = { block: JsonObject; json: string };

/** Assembles a message from the events of its stream. */
export function createAnthropicAssembler(): StreamAssembler {
  const blocks: OpenBlock[] = [];
  const latest = new Map<number, OpenBlock>();
  let stop = '';
  let usage: JsonObject = {};
  return {
    push({ data }) {
      if (data === '[DONE]') return { mustHold: false };
      const index = typeof data['index'] === 'number' ? data['index'] : 0;
      const delta = asObject(data['delta']);
      if (data['type'] === 'message_start') usage = asObject(asObject(data['message'])['usage']);
      if (data['type'] === 'content_block_start') {
        const started: OpenBlock = { block: asObject(data['content_block']), json: '' };
        blocks.push(started);
        latest.set(index, started);
      }
      if (data['type'] === 'message_delta') {
        stop = asString(delta['stop_reason']) || stop;
        usage = mergeCounts(usage, asObject(data['usage']));
      }
      const open = latest.get(index);
      if (data['type'] === 'content_block_delta' && open) appendDelta(open, delta);
      return { mustHold: data['type'] === 'content_block_start' && open?.block['type'] === 'tool_use' };
    },
    response: () => createResponse(blocks.flatMap(parseOpenBlock), blocks.map(finishBlock), stop, usage),
  };
}

function appendDelta(open: OpenBlock, delta: JsonObject): void {
  if (typeof delta['partial_json'] === 'string') open.json += delta['partial_json'];
  for (const name of ['text', 'thinking', 'signature'])
    if (typeof delta[name] === 'string')
      open.block = { ...open.block, [name]: asString(open.block[name]) + delta[name] };
}

const finishBlock = ({ block, json }: OpenBlock): JsonObject =>
  block['type'] === 'tool_use' && json !== '' ? { ...block, input: parseCallArguments(json).input } : block;

/** Truncated arguments are marked invalid: clients may read them as far as they go, so they are not the same as none. */
const parseOpenBlock = (open: OpenBlock): readonly MessagePart[] =>
  parseAssistantBlock(finishBlock(open)).map((part) =>
    part.type === 'tool-call' && open.json !== '' ? { ...part, ...parseCallArguments(open.json) } : part,
  );

/** Continues a message that has started: drops a second `message_start` and adds the number of earlier blocks to each index. */
export function continueAnthropicStream(
  sent: readonly WireStreamEvent[],
): (event: WireStreamEvent) => WireStreamEvent | undefined {
  const count = (type: string): number => sent.filter(({ data }) => data !== '[DONE]' && data['type'] === type).length;
  const started = count('message_start') > 0;
  const blocks = count('content_block_start');
  return (event) => {
    const { data } = event;
    if (data === '[DONE]') return event;
    if (data['type'] === 'message_start') return started ? undefined : event;
    return typeof data['index'] === 'number' ? { ...event, data: { ...data, index: data['index'] + blocks } } : event;
  };
}
