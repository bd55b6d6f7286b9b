// Ollama's own /api/chat: a line of JSON for each chunk.
import { splitText } from '../split-text.ts';
import type { ResolvedResponse } from '../script.ts';
import {
  parseArgumentsOrText,
  resolveCounts,
  compileTemplate,
  type FinishReasonNames,
  type ResponseWriter,
  type StreamParts,
} from './writer.ts';

const ollamaFinishReasons: FinishReasonNames = {
  stop: 'stop',
  'tool-calls': 'stop',
  length: 'length',
  refusal: 'stop',
  filtered: 'stop',
  other: 'load',
};

/** Writes an answer as lines of chat. */
export const ollamaWriter: ResponseWriter = {
  streamType: 'application/x-ndjson',
  jsonType: 'application/json; charset=utf-8',
  writeWhole(answer) {
    const { reasoning, text, calls } = answer;
    const message = {
      role: 'assistant',
      content: text,
      ...(reasoning === '' ? {} : { thinking: reasoning }),
      ...(calls.length ? { tool_calls: writeToolCalls(answer) } : {}),
    };
    return JSON.stringify({ ...lineHead(answer), message, ...finalFields(answer) });
  },
  writeStream: writeOllamaStream,
  writeError: ({ name, message }) =>
    JSON.stringify({ error: name === 'context-too-long' ? contextTooLongMessage : message }),
  writeErrorEvent: ({ name, message }) =>
    jsonLine({ error: name === 'context-too-long' ? contextTooLongMessage : message }),
};

const contextTooLongMessage = 'the input length exceeds the context length';

const jsonLine = (value: object): string => `${JSON.stringify(value)}\n`;

const lineHead = ({ model }: ResolvedResponse): object => ({ model, created_at: new Date().toISOString() });

function writeOllamaStream(answer: ResolvedResponse): StreamParts {
  const start = lineHead(answer);
  const part = (message: object): object => ({
    ...start,
    message: { role: 'assistant', content: '', ...message },
    done: false,
  });
  const lines = (make: (text: string) => object): ((text: string) => string) => {
    const write = compileTemplate((text) => part(make(text)));
    return (text) => `${write(text)}\n`;
  };
  return {
    open: '',
    deltas: [
      ...splitText(answer.reasoning).map(lines((thinking) => ({ thinking }))),
      ...answer.textChunks.map(lines((content) => ({ content }))),
      ...writeToolCalls(answer).map((call) => jsonLine(part({ tool_calls: [call] }))),
    ],
    close: '',
    done: jsonLine({ ...start, message: { role: 'assistant', content: '' }, ...finalFields(answer) }),
  };
}

const writeToolCalls = ({ calls }: ResolvedResponse): readonly object[] =>
  calls.map((call, index) => ({
    ...(call.given ? { id: call.id } : {}),
    function: { index, name: call.tool, arguments: parseArgumentsOrText(call.raw) },
  }));

function finalFields({ finish, usage }: ResolvedResponse): object {
  const count = resolveCounts(usage);
  return {
    done_reason: ollamaFinishReasons[finish],
    done: true,
    total_duration: 1_000_000,
    load_duration: 100_000,
    ...(count
      ? {
          prompt_eval_count: count.input,
          prompt_eval_duration: 400_000,
          eval_count: count.output,
          eval_duration: 500_000,
        }
      : {}),
  };
}
