// Ollama's own /api/chat: a line of JSON for each chunk.
import { pieces } from '../pieces.ts';
import type { FullAnswer } from '../script.ts';
import { argumentsValue, counted, stamp, type FinishWords, type Speaker, type Stream } from './reply.ts';

const finishWords: FinishWords = {
  stop: 'stop',
  'tool-calls': 'stop',
  length: 'length',
  refusal: 'stop',
  filtered: 'stop',
  other: 'load',
};

/** Writes an answer as lines of chat. */
export const ollama: Speaker = {
  streamType: 'application/x-ndjson',
  jsonType: 'application/json; charset=utf-8',
  whole(answer) {
    const { reasoning, text, calls } = answer;
    const message = {
      role: 'assistant',
      content: text,
      ...(reasoning === '' ? {} : { thinking: reasoning }),
      ...(calls.length ? { tool_calls: toolCalls(answer) } : {}),
    };
    return JSON.stringify({ ...head(answer), message, ...ending(answer) });
  },
  stream,
  failure: ({ name, message }) => JSON.stringify({ error: name === 'context-too-long' ? tooLong : message }),
  failureEvent: ({ name, message }) => line({ error: name === 'context-too-long' ? tooLong : message }),
};

const tooLong = 'the input length exceeds the context length';

const line = (value: object): string => `${JSON.stringify(value)}\n`;

const head = ({ model }: FullAnswer): object => ({ model, created_at: new Date().toISOString() });

function stream(answer: FullAnswer): Stream {
  const start = head(answer);
  const part = (message: object): object => ({
    ...start,
    message: { role: 'assistant', content: '', ...message },
    done: false,
  });
  const lines = (make: (text: string) => object): ((text: string) => string) => {
    const write = stamp((text) => part(make(text)));
    return (text) => `${write(text)}\n`;
  };
  return {
    open: '',
    deltas: [
      ...pieces(answer.reasoning).map(lines((thinking) => ({ thinking }))),
      ...answer.textPieces.map(lines((content) => ({ content }))),
      ...toolCalls(answer).map((call) => line(part({ tool_calls: [call] }))),
    ],
    close: '',
    done: line({ ...start, message: { role: 'assistant', content: '' }, ...ending(answer) }),
  };
}

const toolCalls = ({ calls }: FullAnswer): readonly object[] =>
  calls.map((call, index) => ({
    ...(call.given ? { id: call.id } : {}),
    function: { index, name: call.tool, arguments: argumentsValue(call.raw) },
  }));

function ending({ finish, usage }: FullAnswer): object {
  const count = counted(usage);
  return {
    done_reason: finishWords[finish],
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
