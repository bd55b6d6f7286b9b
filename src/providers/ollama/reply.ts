// Ollama's answer, one JSON object a line, as chunks. Only a line that says `done` ends it.
import { isObject, type Chunk, type FinishReason, type ProviderMetadata } from '../../core/index.ts';
import { assemble, type Ending } from '../wire/assemble.ts';
import { readCall } from '../chat/calls.ts';
import { bodyFault, cutFault, malformedFault, type Who } from '../wire/faults.ts';
import { lineDecoder } from '../wire/lines.ts';

type Fields = { readonly [key: string]: unknown };

const mine: ProviderMetadata = { family: 'ollama', data: {} };

/** The chunks of an answer, streamed or in one piece: both are lines. */
export async function* readOllama(body: AsyncIterable<Buffer>, who: Who, model: string): AsyncGenerator<Chunk> {
  const parts = assemble(who, 'apart');
  const lines = lineDecoder(who);
  let calls = 0;
  let last: Fields | undefined;

  function take(line: string, isLast: boolean): void {
    if (last) return;
    const value = parse(line, who, isLast);
    if (value['error'] !== undefined && value['error'] !== null) throw bodyFault(value, who);
    const { message } = value;
    if (isObject(message)) {
      const { thinking, content, tool_calls: list } = message;
      if (typeof thinking === 'string') parts.reasoning(thinking, thinking === '' ? undefined : mine);
      if (typeof content === 'string') parts.text(content);
      for (const each of Array.isArray(list) ? (list as unknown[]) : []) {
        const call = readCall(each);
        if (call) parts.call(calls++, call);
      }
    }
    if (value['done'] === true) last = value;
  }

  try {
    for await (const bytes of body) {
      for (const line of lines.push(bytes)) take(line, false);
      yield* parts.take();
      if (last) break;
    }
    for (const line of lines.end()) take(line, true);
  } catch (error) {
    if (!last) throw error;
  }
  if (!last) throw cutFault(who);
  parts.end(endingOf(last, model, calls));
  yield* parts.take();
}

function parse(line: string, who: Who, isLast: boolean): Fields {
  try {
    const value = JSON.parse(line) as unknown;
    if (isObject(value)) return value;
  } catch {
    // The stream broke off inside this line.
    if (isLast && line.trimStart().startsWith('{')) throw cutFault(who);
  }
  throw malformedFault('a line that is no answer', line, who, !isLast);
}

function endingOf(value: Fields, asked: string, calls: number): Ending {
  const { done_reason: reason, prompt_eval_count: input, eval_count: output, model } = value;
  const raw = typeof reason === 'string' ? reason : undefined;
  return {
    finishReason: finishOf(raw, calls),
    ...(raw === undefined ? {} : { rawFinishReason: raw }),
    usage: {
      ...(typeof input === 'number' ? { input } : {}),
      ...(typeof output === 'number' ? { output } : {}),
    },
    model: typeof model === 'string' && model !== '' ? model : asked,
  };
}

/** Ollama says `stop` for a tool call too, and versions before it had reasons say nothing. */
function finishOf(reason: string | undefined, calls: number): FinishReason {
  if (reason === 'length') return 'length';
  if (reason !== undefined && reason !== 'stop') return 'other';
  return calls > 0 ? 'tool-calls' : 'stop';
}
