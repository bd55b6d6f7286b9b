// Reads the reply of Ollama as chunks: one JSON object per line; a line with `done` ends the response.
import { isObject, type Chunk, type ProviderMetadata } from '../../core/index.ts';
import { createResponseAssembler, type ResponseEnd } from '../http/response-assembler.ts';
import { parseToolCall } from '../openai-compatible/deltas.ts';
import { errorBodyError, truncatedResponseError, malformedResponseError, type ProviderInfo } from '../http/errors.ts';
import { createLineDecoder } from '../http/sse.ts';
import { stringOrUndefined, type WireObject } from '../../wire/index.ts';
import { parseOllamaFinish, parseOllamaUsage } from '../../wire/ollama/index.ts';

const ollamaMeta: ProviderMetadata = { family: 'ollama', data: {} };

/** Yields the chunks of a response, streamed or whole: both forms are lines. */
export async function* readOllamaStream(
  body: AsyncIterable<Buffer>,
  providerInfo: ProviderInfo,
  model: string,
): AsyncGenerator<Chunk> {
  const parts = createResponseAssembler(providerInfo, 'apart');
  const lines = createLineDecoder(providerInfo);
  let calls = 0;
  let last: WireObject | undefined;

  function take(line: string, isLast: boolean): void {
    if (last) return;
    const value = parseLine(line, providerInfo, isLast);
    if (value['error'] !== undefined && value['error'] !== null) throw errorBodyError(value, providerInfo);
    const { message } = value;
    if (isObject(message)) {
      const { thinking, content, tool_calls: list } = message;
      if (typeof thinking === 'string') parts.reasoning(thinking, thinking === '' ? undefined : ollamaMeta);
      if (typeof content === 'string') parts.text(content);
      for (const each of Array.isArray(list) ? (list as unknown[]) : []) {
        const call = parseToolCall(each);
        if (call) parts.call(calls++, call);
      }
    }
    if (value['done'] === true) last = value;
  }

  try {
    for await (const bytes of body) {
      for (const line of lines.push(bytes)) take(line, false);
      yield* parts.takeChunks();
      if (last) break;
    }
    for (const line of lines.end()) take(line, true);
  } catch (error) {
    if (!last) throw error;
  }
  if (!last) throw truncatedResponseError(providerInfo);
  parts.end(parseResponseEnd(last, model, calls));
  yield* parts.takeChunks();
}

function parseLine(line: string, providerInfo: ProviderInfo, isLast: boolean): WireObject {
  try {
    const value = JSON.parse(line) as unknown;
    if (isObject(value)) return value;
  } catch {
    // The stream ended inside this line.
    if (isLast && line.trimStart().startsWith('{')) throw truncatedResponseError(providerInfo);
  }
  throw malformedResponseError('a line that is not a response', line, providerInfo, !isLast);
}

function parseResponseEnd(value: WireObject, requestedModel: string, calls: number): ResponseEnd {
  const { done_reason: reason, model } = value;
  const raw = stringOrUndefined(reason);
  return {
    finishReason: parseOllamaFinish(raw, calls > 0),
    ...(raw === undefined ? {} : { rawFinishReason: raw }),
    usage: parseOllamaUsage(value),
    model: typeof model === 'string' && model !== '' ? model : requestedModel,
  };
}
