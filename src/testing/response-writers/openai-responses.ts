// Writes scripted responses as OpenAI responses.
import type { JsonObject } from '../../core/index.ts';
import { asJsonArray, fillCounts, formatStreamEvent, formatStreamEvents } from '../../wire/index.ts';
import {
  createResponsesEvents,
  writeCallItem,
  writeEndedResponse,
  writeMessageItem,
  writePendingResponse,
  writeRefusalPart,
  writeResponsesUsage,
  writeTextPart,
  type ItemKind,
} from '../../wire/openai-responses/index.ts';
import type { ResolvedResponse } from '../script.ts';
import { splitText, splitToolArguments } from '../split-text.ts';
import { writeScriptedError } from './openai-chat.ts';
import {
  thinkingSignature,
  wrapDeltas,
  type ResponseWriter,
  type ResponseWriterContext,
  type StreamParts,
} from './writer.ts';

/** Writes OpenAI responses. */
export const responsesWriter: ResponseWriter = {
  streamType: 'text/event-stream; charset=utf-8',
  jsonType: 'application/json',
  writeWhole: (response, context) => JSON.stringify(writeEnded(response, context)),
  writeStream: writeResponsesStream,
  writeError: (failure) => JSON.stringify({ error: writeScriptedError(failure) }),
  writeErrorEvent: (failure) =>
    formatStreamEvent({
      event: 'error',
      data: { type: 'error', sequence_number: 0, error: writeScriptedError(failure) },
    }),
};

const idSuffix = ({ index }: ResponseWriterContext): string => index.toString(16).padStart(12, '0');

const writePending = ({ model }: ResolvedResponse, context: ResponseWriterContext): JsonObject => ({
  ...writePendingResponse(context.body, {
    id: `resp_${idSuffix(context)}`,
    model,
    createdAt: Math.floor(Date.now() / 1000),
  }),
  metadata: {},
  service_tier: 'default',
  store: context.body['store'] ?? true,
  temperature: 1,
  // The real service repeats the tools of the request; no client needs them.
  tools: [],
  top_p: 1,
  user: null,
});

function writeEnded(response: ResolvedResponse, context: ResponseWriterContext): JsonObject {
  const counts = fillCounts(response.usage);
  return writeEndedResponse(writePending(response, context), {
    finish: response.finish,
    output: outputItems(response, context).map(({ item }) => item),
    usage: counts ? writeResponsesUsage(counts) : null,
  });
}

type OutputItem = {
  readonly item: JsonObject;
  readonly kind: ItemKind;
  readonly text: string;
  readonly pieces: readonly string[];
};

function outputItems(response: ResolvedResponse, context: ResponseWriterContext): readonly OutputItem[] {
  const { reasoning, text, textChunks, calls, finish } = response;
  const status = finish === 'length' ? 'incomplete' : 'completed';
  const suffix = idSuffix(context);
  const items: OutputItem[] = [];
  if (reasoning !== '') {
    const summary = [{ type: 'summary_text', text: reasoning }];
    const item = { id: `rs_${suffix}`, type: 'reasoning', summary, ...encryptedContent(context) };
    items.push({ item, kind: 'reasoning', text: reasoning, pieces: splitText(reasoning) });
  }
  if (text !== '') {
    const part = finish === 'refusal' ? writeRefusalPart(text) : writeTextPart(text);
    const item = writeMessageItem(`msg_${suffix}`, part, status);
    items.push({ item, kind: finish === 'refusal' ? 'refusal' : 'text', text, pieces: textChunks });
  }
  for (const [i, { id: callId, tool: name, raw }] of calls.entries()) {
    const item = writeCallItem({ id: `fc_${suffix}${i.toString(16).padStart(3, '0')}`, callId, name }, raw, status);
    items.push({ item, kind: 'call', text: raw, pieces: splitToolArguments(raw) });
  }
  return items;
}

/** A client that keeps the conversation itself requests the reasoning in a form that only the service can read. */
const encryptedContent = (context: ResponseWriterContext): JsonObject =>
  asJsonArray(context.body['include']).includes('reasoning.encrypted_content')
    ? { encrypted_content: thinkingSignature(context) }
    : {};

function writeResponsesStream(response: ResolvedResponse, context: ResponseWriterContext): StreamParts {
  const events = createResponsesEvents();
  const open = formatStreamEvents(events.start(writePending(response, context)));
  const deltas = outputItems(response, context).flatMap(({ item, kind, text, pieces }, index) => {
    const writer = events.item(index, item, kind);
    const begin = formatStreamEvents(writer.begin());
    const frames = pieces.map((piece) => formatStreamEvent(writer.delta(piece)));
    return wrapDeltas(begin, frames, formatStreamEvents(writer.end(item, text)));
  });
  return { open, deltas, close: '', done: formatStreamEvent(events.end(writeEnded(response, context))) };
}
