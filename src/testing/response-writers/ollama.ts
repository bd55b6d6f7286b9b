// Writes scripted responses as the JSON lines of Ollama's /api/chat.
import type { JsonObject } from '../../core/index.ts';
import { ollamaFinishNames, writeOllamaUsage } from '../../wire/ollama/index.ts';
import { fillCounts } from '../../wire/index.ts';
import type { ResolvedFailure } from '../failure.ts';
import type { ResolvedResponse } from '../script.ts';
import { splitText } from '../split-text.ts';
import { compileTemplate, parseArgumentsOrText, type ResponseWriter, type StreamParts } from './writer.ts';

/** Writes Ollama chat responses. */
export const ollamaWriter: ResponseWriter = {
  streamType: 'application/x-ndjson',
  jsonType: 'application/json; charset=utf-8',
  writeWhole(response) {
    const { reasoning, text, calls } = response;
    const message = {
      role: 'assistant',
      content: text,
      ...(reasoning === '' ? {} : { thinking: reasoning }),
      ...(calls.length ? { tool_calls: writeToolCalls(response) } : {}),
    };
    return JSON.stringify({ ...lineHead(response), message, ...finalFields(response) });
  },
  writeStream: writeOllamaStream,
  writeError: (failure) => JSON.stringify(writeError(failure)),
  writeErrorEvent: (failure) => `${JSON.stringify(writeError(failure))}\n`,
};

const writeError = ({ name, message }: ResolvedFailure): JsonObject => ({
  error: name === 'context-too-long' ? 'the input length exceeds the context length' : message,
});

const lineHead = ({ model }: ResolvedResponse): JsonObject => ({ model, created_at: new Date().toISOString() });

function writeOllamaStream(response: ResolvedResponse): StreamParts {
  const head = lineHead(response);
  const line = (message: JsonObject): JsonObject => ({
    ...head,
    message: { role: 'assistant', content: '', ...message },
    done: false,
  });
  const textLine = (field: 'thinking' | 'content'): ((text: string) => string) =>
    compileTemplate((text) => line({ [field]: text }));
  const last = { ...head, message: { role: 'assistant', content: '' }, ...finalFields(response) };
  return {
    open: '',
    deltas: [
      ...splitText(response.reasoning).map(textLine('thinking')),
      ...response.textChunks.map(textLine('content')),
      ...writeToolCalls(response).map((call) => JSON.stringify(line({ tool_calls: [call] }))),
    ].map((text) => `${text}\n`),
    close: '',
    done: `${JSON.stringify(last)}\n`,
  };
}

const writeToolCalls = ({ calls }: ResolvedResponse): readonly JsonObject[] =>
  calls.map((call, index) => ({
    ...(call.given ? { id: call.id } : {}),
    function: { index, name: call.tool, arguments: parseArgumentsOrText(call.raw) },
  }));

function finalFields({ finish, usage }: ResolvedResponse): JsonObject {
  const counts = fillCounts(usage);
  return {
    done_reason: ollamaFinishNames[finish],
    done: true,
    total_duration: 1_000_000,
    load_duration: 100_000,
    ...(counts ? writeOllamaUsage(counts) : {}),
  };
}
