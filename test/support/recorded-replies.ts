// Reads what a recorded response states, directly from its body and independent of the providers under test.
import type { FinishReason, Json, Usage } from '../../src/core/index.ts';

/** An answer as its body states it. Text and reasoning are joined; `order` is the order of kinds, with neighbours of one kind merged. */
export type RecordedReply = {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly { readonly tool: string; readonly input: Json; readonly id?: string | undefined }[];
  readonly order: readonly string[];
  readonly finish: FinishReason;
  readonly rawFinish: string | undefined;
  readonly usage: Usage;
  readonly model: string;
};

type ReplyPart =
  | { readonly type: 'text' | 'reasoning'; readonly text: string }
  | { readonly type: 'tool-call'; readonly tool: string; readonly input: Json; readonly id?: string | undefined };

type ReplyMetadata = Pick<RecordedReply, 'finish' | 'rawFinish' | 'model'> & {
  readonly usage: { readonly [Key in keyof Usage]: number | null | undefined };
};

function createRecordedReply(pieces: readonly ReplyPart[], rest: ReplyMetadata): RecordedReply {
  const said = pieces.filter((piece) => piece.type === 'tool-call' || piece.text !== '');
  const words = (type: string): string =>
    said.map((piece) => (piece.type === type && 'text' in piece ? piece.text : '')).join('');
  const calls = said.flatMap((piece) =>
    piece.type === 'tool-call' ? [{ tool: piece.tool, input: piece.input, id: piece.id }] : [],
  );
  const counts = Object.entries(rest.usage).filter(([, count]) => typeof count === 'number');
  return {
    ...rest,
    text: words('text'),
    reasoning: words('reasoning'),
    calls,
    order: said.map((piece) => piece.type).filter((type, i, all) => type !== all[i - 1]),
    finish: rest.finish === 'stop' && calls.length > 0 ? 'tool-calls' : rest.finish,
    usage: Object.fromEntries(counts),
  };
}

const parseSseData = (body: string): readonly unknown[] =>
  body
    .split(/\r?\n\r?\n/)
    .flatMap((event) => event.split(/\r?\n/).filter((line) => line.startsWith('data:')))
    .map((line) => line.slice(5).trim())
    .filter((data) => data !== '[DONE]')
    .map((data) => JSON.parse(data) as unknown);

type AnthropicBlock = {
  type: string;
  text?: string;
  thinking?: string;
  id?: string;
  name?: string;
  input?: Json;
  json?: string;
};

type AnthropicMessage = {
  model: string;
  stop_reason: string;
  content: AnthropicBlock[];
  usage: {
    input_tokens: number;
    output_tokens: number;
    cache_read_input_tokens?: number | null;
    cache_creation_input_tokens?: number | null;
    output_tokens_details?: { thinking_tokens?: number } | null;
  };
};

type AnthropicEvent = {
  readonly type: string;
  readonly index: number;
  readonly message: AnthropicMessage;
  readonly content_block: AnthropicBlock;
  readonly delta: { text?: string; thinking?: string; partial_json?: string; stop_reason?: string };
  readonly usage: Partial<AnthropicMessage['usage']>;
};

const anthropicFinish: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  tool_use: 'tool-calls',
  max_tokens: 'length',
};

/** Reads a response of Anthropic messages. */
export function parseAnthropicReply(body: string, streamed: boolean): RecordedReply {
  const message = streamed
    ? foldAnthropicEvents(parseSseData(body) as readonly AnthropicEvent[])
    : (JSON.parse(body) as AnthropicMessage);
  const { usage } = message;
  const pieces = message.content.flatMap((block): ReplyPart[] => {
    if (block.type === 'text') return [{ type: 'text', text: block.text ?? '' }];
    if (block.type === 'thinking') return [{ type: 'reasoning', text: block.thinking ?? '' }];
    if (block.type !== 'tool_use') return [];
    return [{ type: 'tool-call', tool: block.name ?? '', input: block.input ?? {}, id: block.id }];
  });
  return createRecordedReply(pieces, {
    finish: anthropicFinish[message.stop_reason] ?? 'other',
    rawFinish: message.stop_reason,
    model: message.model,
    usage: {
      input: usage.input_tokens + (usage.cache_read_input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0),
      output: usage.output_tokens,
      cacheRead: usage.cache_read_input_tokens,
      cacheWrite: usage.cache_creation_input_tokens,
      reasoning: usage.output_tokens_details?.thinking_tokens,
    },
  });
}

function foldAnthropicEvents(events: readonly AnthropicEvent[]): AnthropicMessage {
  const first = events.find((event) => event.type === 'message_start');
  if (!first) throw new Error('There is no message_start.');
  const message = structuredClone(first.message);
  for (const { type, index, content_block, delta, usage } of events) {
    if (type === 'content_block_start') message.content[index] = { ...content_block, json: '' };
    const block = message.content[index];
    if (type === 'content_block_delta' && block) {
      block.text = (block.text ?? '') + (delta.text ?? '');
      block.thinking = (block.thinking ?? '') + (delta.thinking ?? '');
      block.json = (block.json ?? '') + (delta.partial_json ?? '');
    }
    if (type === 'content_block_stop' && block?.json) block.input = JSON.parse(block.json) as Json;
    if (type === 'message_delta') {
      message.stop_reason = delta.stop_reason ?? message.stop_reason;
      message.usage = { ...message.usage, ...usage };
    }
  }
  return message;
}

type ResponsesItem = {
  readonly type: string;
  readonly content?: readonly { readonly text?: string; readonly refusal?: string }[];
  readonly summary?: readonly { readonly text: string }[];
  readonly name?: string;
  readonly arguments?: string;
  readonly call_id?: string;
};

type ResponsesBody = {
  readonly model: string;
  readonly status: string;
  readonly incomplete_details?: { readonly reason: string } | null;
  readonly output: readonly ResponsesItem[];
  readonly usage?: {
    readonly input_tokens: number;
    readonly output_tokens: number;
    readonly input_tokens_details?: { readonly cached_tokens?: number; readonly cache_write_tokens?: number };
    readonly output_tokens_details?: { readonly reasoning_tokens?: number };
  } | null;
};

/** Reads a response of the Responses API; the last event of a stream repeats it as a whole. */
export function parseResponsesReply(body: string, streamed: boolean): RecordedReply {
  const last = streamed
    ? (parseSseData(body) as readonly { readonly response?: ResponsesBody }[]).findLast((event) => event.response)
    : { response: JSON.parse(body) as ResponsesBody };
  const response = last?.response;
  if (!response) throw new Error('There is no response in this stream.');
  const pieces = response.output.flatMap((item): ReplyPart[] => {
    const content = (item.content ?? []).map((part) => part.refusal ?? part.text ?? '').join('');
    if (item.type === 'message') return [{ type: 'text', text: content }];
    if (item.type === 'reasoning')
      return [{ type: 'reasoning', text: content + (item.summary ?? []).map((part) => part.text).join('') }];
    if (item.type !== 'function_call') return [];
    const input = JSON.parse(item.arguments ?? '{}') as Json;
    return [{ type: 'tool-call', tool: item.name ?? '', input, id: item.call_id }];
  });
  const reason = response.incomplete_details?.reason;
  return createRecordedReply(pieces, {
    finish: response.status.startsWith('complete') ? 'stop' : reason === 'max_output_tokens' ? 'length' : 'other',
    rawFinish: reason ?? response.status,
    model: response.model,
    usage: {
      input: response.usage?.input_tokens,
      output: response.usage?.output_tokens,
      cacheRead: response.usage?.input_tokens_details?.cached_tokens,
      cacheWrite: response.usage?.input_tokens_details?.cache_write_tokens,
      reasoning: response.usage?.output_tokens_details?.reasoning_tokens,
    },
  });
}

type GoogleContent = {
  readonly modelVersion: string;
  readonly candidates?: readonly {
    readonly finishReason?: string;
    readonly content?: {
      readonly parts?: readonly {
        readonly text?: string;
        readonly thought?: boolean;
        readonly functionCall?: { readonly name: string; readonly args?: Json; readonly id?: string };
      }[];
    };
  }[];
  readonly usageMetadata?: {
    readonly promptTokenCount?: number;
    readonly toolUsePromptTokenCount?: number;
    readonly totalTokenCount?: number;
    readonly cachedContentTokenCount?: number;
    readonly thoughtsTokenCount?: number;
  };
};

const googleFinish: Readonly<Record<string, FinishReason>> = {
  STOP: 'stop',
  MAX_TOKENS: 'length',
  SAFETY: 'filtered',
  MODEL_ARMOR: 'filtered',
};

/** Reads a response of Gemini. It states a total, which input and output must add up to. */
export function parseGoogleReply(body: string, streamed: boolean): RecordedReply {
  const contents = streamed ? (parseSseData(body) as readonly GoogleContent[]) : [JSON.parse(body) as GoogleContent];
  const parts = contents.flatMap((content) => content.candidates?.[0]?.content?.parts ?? []);
  const usage = contents.findLast((content) => content.usageMetadata)?.usageMetadata ?? {};
  const reason = contents.findLast((content) => content.candidates?.[0]?.finishReason)?.candidates?.[0]?.finishReason;
  const input = (usage.promptTokenCount ?? 0) + (usage.toolUsePromptTokenCount ?? 0);
  const pieces = parts.flatMap(({ text, thought, functionCall }): ReplyPart[] => {
    if (functionCall)
      return [{ type: 'tool-call', tool: functionCall.name, input: functionCall.args ?? {}, id: functionCall.id }];
    return text === undefined ? [] : [{ type: thought ? 'reasoning' : 'text', text }];
  });
  return createRecordedReply(pieces, {
    finish: googleFinish[reason ?? ''] ?? 'other',
    rawFinish: reason,
    model: contents.at(-1)?.modelVersion ?? '',
    usage: {
      input,
      output: (usage.totalTokenCount ?? 0) - input,
      cacheRead: usage.cachedContentTokenCount,
      reasoning: usage.thoughtsTokenCount,
    },
  });
}
