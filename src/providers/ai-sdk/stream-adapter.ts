// Converts the stream parts of the AI SDK to chunks and to the final message.
import type { LanguageModelV4StreamPart, SharedV4ProviderMetadata } from '@ai-sdk/provider';
import type { Chunk, FinishReason, JsonObject, Message, ProviderMetadata, MessagePart } from '../../core/index.ts';
import { createResponseAssembler, parseToolInput } from '../http/response-assembler.ts';
import { malformedResponseError, type ProviderInfo } from '../http/errors.ts';
import type { ProviderProfile } from './to-prompt.ts';
import type { ResponseMeta } from './fetch-normalizer.ts';

/** Selects the SDK metadata of a part that must be sent back. */
export type MetadataFilter = (kind: MessagePart['type'], data: JsonObject) => JsonObject | undefined;

/** The state of a streaming answer. */
export type StreamAdapter = {
  push(part: LanguageModelV4StreamPart): void;
  takeChunks(): readonly Chunk[];
  end(account: ResponseMeta, model: string): readonly Chunk[];
};

type PendingCall = { readonly id: string; hasInput: boolean; input: string | undefined };

/** Creates an adapter of stream parts. A call counts only after the SDK has marked it complete; server-side calls are ignored. */
export function createStreamAdapter(
  { family, optionsKey }: ProviderProfile,
  filterMetadata: MetadataFilter,
  providerInfo: ProviderInfo,
): StreamAdapter {
  const assembly = createResponseAssembler(providerInfo);
  const calls: PendingCall[] = [];
  let data: JsonObject = {};

  const gather = (metadata: SharedV4ProviderMetadata | undefined): void => {
    if (metadata) data = { ...data, ...omitNullish(metadata[optionsKey]) };
  };
  const metaFor = (kind: MessagePart['type']): ProviderMetadata | undefined => {
    const metadata = filterMetadata(kind, data);
    return metadata && Object.keys(metadata).length > 0 ? { family, data: metadata } : undefined;
  };
  const begin = (metadata: SharedV4ProviderMetadata | undefined): void => {
    assembly.close();
    data = {};
    gather(metadata);
  };
  const speak = (kind: 'text' | 'reasoning', delta: string, metadata: SharedV4ProviderMetadata | undefined): void => {
    gather(metadata);
    assembly[kind](delta);
  };
  const finish = (kind: 'text' | 'reasoning', metadata: SharedV4ProviderMetadata | undefined): void => {
    gather(metadata);
    assembly[kind]('', metaFor(kind));
    assembly.close();
  };

  function onPart(part: LanguageModelV4StreamPart): void {
    switch (part.type) {
      case 'text-start':
      case 'reasoning-start':
        return begin(part.providerMetadata);
      case 'text-delta':
        return speak('text', part.delta, part.providerMetadata);
      case 'reasoning-delta':
        return speak('reasoning', part.delta, part.providerMetadata);
      case 'text-end':
        return finish('text', part.providerMetadata);
      case 'reasoning-end':
        return finish('reasoning', part.providerMetadata);
      case 'tool-input-start':
        if (!part.providerExecuted) open(part.id, part.toolName);
        return;
      case 'tool-input-delta':
        return feed(part.id, part.delta);
      case 'tool-call':
        if (!part.providerExecuted) close(part);
        return;
      case 'file':
        return file(part);
      case 'tool-input-end':
      case 'tool-result':
      case 'tool-approval-request':
      case 'reasoning-file':
      case 'source':
      case 'custom':
      case 'stream-start':
      case 'response-metadata':
      case 'finish':
      case 'ping':
      case 'raw':
        return;
      case 'error':
        throw malformedResponseError('something that cannot be read', String(part.error), providerInfo, true);
    }
  }

  function open(id: string, tool: string): number {
    calls.push({ id, hasInput: false, input: undefined });
    assembly.call(calls.length - 1, { id, tool });
    return calls.length - 1;
  }

  function feed(id: string, delta: string): void {
    const index = calls.findLastIndex((each) => each.id === id);
    const call = calls[index];
    if (!call || call.input !== undefined || delta === '') return;
    call.hasInput = true;
    assembly.call(index, { input: delta });
  }

  function close(part: LanguageModelV4StreamPart & { type: 'tool-call' }): void {
    const at = calls.findLastIndex((each) => each.id === part.toolCallId && each.input === undefined);
    const index = at < 0 ? open(part.toolCallId, part.toolName) : at;
    const call = calls[index] as PendingCall;
    data = {};
    gather(part.providerMetadata);
    const meta = metaFor('tool-call');
    assembly.call(index, { ...(call.hasInput ? {} : { input: part.input }), ...(meta ? { meta } : {}) });
    call.input = part.input;
  }

  function file({ mediaType, data: content, providerMetadata }: LanguageModelV4StreamPart & { type: 'file' }): void {
    if (content.type !== 'data') return;
    begin(providerMetadata);
    const meta = metaFor('file');
    const base64 = typeof content.data === 'string' ? content.data : Buffer.from(content.data).toString('base64');
    assembly.file({ type: 'file', mediaType, data: base64, ...(meta ? { meta } : {}) });
  }

  return {
    push: onPart,
    takeChunks: () => assembly.takeChunks(),
    end({ finish, rawFinish, usage, model: answered }, model) {
      const inputs = calls.map((call) => call.input);
      assembly.end({
        finishReason: reconcileFinish(
          finish ?? 'other',
          inputs.some((input) => input !== undefined),
        ),
        ...(rawFinish === undefined ? {} : { rawFinishReason: rawFinish }),
        usage,
        model: answered ?? model,
      });
      return assembly
        .takeChunks()
        .map((chunk) =>
          chunk.type === 'end' ? { ...chunk, message: applyFinalInputs(chunk.message, inputs) } : chunk,
        );
    },
  };
}

/** Returns the finish reason; servers disagree about answers with calls, so the calls decide. */
function reconcileFinish(finish: FinishReason, calls: boolean): FinishReason {
  if (finish === 'stop' || finish === 'refusal') return calls ? 'tool-calls' : finish;
  return finish === 'tool-calls' && !calls ? 'stop' : finish;
}

/** Returns the message with the complete input of each call, without incomplete calls. */
function applyFinalInputs(message: Message, inputs: readonly (string | undefined)[]): Message {
  let next = 0;
  const parts = message.parts.flatMap((part): MessagePart[] => {
    if (part.type !== 'tool-call') return [part];
    const input = inputs[next++];
    return input === undefined ? [] : [{ ...part, ...parseToolInput(input) }];
  });
  return { ...message, parts };
}

const omitNullish = (values: { readonly [key: string]: unknown } | undefined): JsonObject =>
  Object.fromEntries(
    Object.entries(values ?? {}).filter(([, value]) => value !== null && value !== undefined),
  ) as JsonObject;
