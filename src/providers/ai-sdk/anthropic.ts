// Provider for the Anthropic Messages API, through the package of the AI SDK.
import { createAnthropic } from '@ai-sdk/anthropic';
import type { JSONValue } from '@ai-sdk/provider';
import { messageToolCalls, toArray, type MessagePart, type Provider, type ModelRequest } from '../../core/index.ts';
import { createAiSdkProvider, type AiSdkOptions } from './provider.ts';
import { toObjectSchema } from '../http/schema.ts';
import { parseAnthropicFinish, parseAnthropicUsage } from '../../wire/anthropic/index.ts';
import { asObject, asObjectArray, mergeCounts, stringOrUndefined, type WireObject } from '../../wire/index.ts';
import type { ResponseMeta, StreamNormalizer } from './fetch-normalizer.ts';

/** The options of an Anthropic provider. */
export type AnthropicOptions = AiSdkOptions & {
  /** Whether cache markers are sent, by default true; some compatible servers refuse them. */
  readonly cache?: boolean;
};

const cacheMarker = { cacheControl: { type: 'ephemeral' } } as const;

/** Creates a provider for a Claude model, or for a compatible server. */
export function anthropicProvider(callerOptions: AnthropicOptions): Provider {
  const options = { baseUrl: 'https://api.anthropic.com/v1', ...callerOptions };
  const { model, family = 'anthropic', cache = true } = options;
  return createAiSdkProvider(
    {
      profile: {
        family,
        optionsKey: 'anthropic',
        toolSchema: toObjectSchema,
        // One cache marker for the request, which the server places after the last block: earlier bytes do not change.
        requestOptions: (): Record<string, JSONValue> => ({ toolStreaming: false, ...(cache ? cacheMarker : {}) }),
        ...(cache ? { systemOptions: cacheMarker } : {}),
        adjust: (request) => adjustRequest(request, model, family),
        maxOutputTokens: defaultMaxOutputTokens(model),
      },
      normalizer: anthropicNormalizer,
      createModel: (fetch) =>
        createAnthropic({
          apiKey: options.apiKey ?? '',
          baseURL: options.baseUrl,
          headers: { ...options.headers },
          fetch,
        })(model),
      keepMetadata: (kind, { signature, redactedData }) =>
        kind !== 'reasoning'
          ? undefined
          : signature !== undefined
            ? { signature }
            : redactedData !== undefined
              ? { redactedData }
              : undefined,
    },
    options,
  );
}

/** The server requires a limit: enough for a long answer, and within the limits of old models. */
function defaultMaxOutputTokens(model: string): number {
  if (/claude-(instant|v?2|3-(opus|sonnet|haiku))/.test(model)) return 4096;
  if (/claude-3-5/.test(model) || !model.includes('claude')) return 8192;
  return 32_000;
}

/**
 * Removes settings that this server refuses to combine. Reasoning requires the reasoning of the last calls, which is missing
 * if another family made them. If a model cannot be forced to one tool, the SDK would remove the others, and the cached
 * prefix with them: the loop sends another request instead.
 */
function adjustRequest(
  { toolChoice, settings, messages }: ModelRequest,
  model: string,
  family: string,
): AdjustedRequest {
  const { reasoning, ...others } = settings;
  const wantsReasoning = reasoning !== undefined && reasoning !== 'none';
  const isSent = (part: MessagePart): boolean => part.type !== 'reasoning' || part.meta?.family === family;
  const last = toArray(messages).findLast((each) => each.role === 'assistant' && each.parts.some(isSent));
  const hasReasoning = last?.parts.find(isSent)?.type === 'reasoning';
  const canReason = wantsReasoning && (hasReasoning || !last || messageToolCalls(last).length === 0);
  const refusesForcedTool = /claude-(sonnet|opus)-5-5|claude-fable-5-[12]/.test(model);
  return {
    toolChoice: typeof toolChoice === 'object' && (canReason || refusesForcedTool) ? 'auto' : toolChoice,
    settings: wantsReasoning && !canReason ? others : settings,
  };
}

type AdjustedRequest = Pick<ModelRequest, 'toolChoice' | 'settings'>;

/** Parses the event stream of `/v1/messages`. Blocks of server-side tools are ignored. */
const anthropicNormalizer: StreamNormalizer = { createReader: createMessageReader, toEvents: messageToEvents };

type OpenBlock = { readonly type: string; readonly input: unknown; hasDelta: boolean };

function createMessageReader(account: ResponseMeta): (event: WireObject) => readonly WireObject[] {
  const open = new Map<unknown, OpenBlock>();
  let counts: WireObject = {};

  const count = (usage: unknown): void => {
    counts = mergeCounts(counts, asObject(usage));
    account.usage = parseAnthropicUsage(counts);
  };

  const close = (index: unknown): readonly WireObject[] => {
    const block = open.get(index);
    if (!block) return [];
    open.delete(index);
    const hasFullInput = !block.hasDelta && block.type === 'tool_use' && Object.keys(asObject(block.input)).length > 0;
    return [
      ...(hasFullInput
        ? [blockDelta(index, { type: 'input_json_delta', partial_json: JSON.stringify(block.input) })]
        : []),
      { type: 'content_block_stop', index },
    ];
  };

  return (event) => {
    switch (event['type']) {
      case 'message_start': {
        const message = asObject(event['message']);
        account.model = stringOrUndefined(message['model']) ?? account.model;
        count(message['usage']);
        return [messageStart(message)];
      }
      case 'content_block_start': {
        const { index } = event;
        const block = asObject(event['content_block']);
        const startEvent = beginBlock(index, block);
        if (startEvent.length > 0)
          open.set(index, { type: String(block['type']), input: block['input'], hasDelta: false });
        return startEvent;
      }
      case 'content_block_delta': {
        const block = open.get(event['index']);
        const delta = asObject(event['delta']);
        const isAllowed = block !== undefined && allowedDeltas[block.type]?.includes(String(delta['type']));
        if (isAllowed) block.hasDelta = true;
        return isAllowed ? [blockDelta(event['index'], delta)] : [];
      }
      case 'content_block_stop':
        return close(event['index']);
      case 'message_delta': {
        count(event['usage']);
        const reason = stringOrUndefined(asObject(event['delta'])['stop_reason']);
        if (reason === undefined) return [];
        account.rawFinish = reason;
        account.finish = parseAnthropicFinish(reason);
        account.ended = true;
        // At the output limit an open block is incomplete; at any other end only its closing event is missing.
        const unclosed = reason === 'max_tokens' ? [] : [...open.keys()].flatMap(close);
        return [
          ...unclosed,
          { type: 'message_delta', delta: { stop_reason: reason }, usage: { output_tokens: 0 } },
          { type: 'message_stop' },
        ];
      }
      case 'message_stop':
        account.complete = account.ended;
        return [];
      case 'error':
        account.error = event;
        return [];
      default:
        return [];
    }
  };
}

const allowedDeltas: Readonly<Record<string, readonly string[]>> = {
  text: ['text_delta'],
  thinking: ['thinking_delta', 'signature_delta'],
  redacted_thinking: [],
  tool_use: ['input_json_delta'],
};

const blockDelta = (index: unknown, delta: WireObject): WireObject => ({
  type: 'content_block_delta',
  index,
  delta,
});

const messageStart = ({ id, model }: WireObject): WireObject => ({
  type: 'message_start',
  message: { id: stringOrUndefined(id), model: stringOrUndefined(model), usage: { input_tokens: 0 } },
});

/** Returns the start event of a supported block, with its initial content. */
function beginBlock(index: unknown, block: WireObject): readonly WireObject[] {
  const opening = (content_block: WireObject): WireObject => ({ type: 'content_block_start', index, content_block });
  const { type, text, thinking, signature } = block;
  switch (type) {
    case 'text':
      return [opening({ type, text: '' }), ...(text ? [blockDelta(index, { type: 'text_delta', text })] : [])];
    case 'thinking':
      return [
        opening({ type, thinking: '' }),
        ...(thinking ? [blockDelta(index, { type: 'thinking_delta', thinking })] : []),
        ...(signature ? [blockDelta(index, { type: 'signature_delta', signature })] : []),
      ];
    case 'redacted_thinking':
      return [opening({ type, data: String(block['data'] ?? '') })];
    case 'tool_use':
      return [opening({ type, id: String(block['id'] ?? ''), name: String(block['name'] ?? '') })];
    default:
      return [];
  }
}

function messageToEvents(body: unknown): readonly WireObject[] {
  const message = asObject(body);
  return [
    { type: 'message_start', message },
    ...asObjectArray(message['content']).flatMap((content_block, index): WireObject[] => [
      { type: 'content_block_start', index, content_block },
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason: message['stop_reason'] } },
    { type: 'message_stop' },
  ];
}
