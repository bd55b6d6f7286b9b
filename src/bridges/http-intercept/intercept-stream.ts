// A streamed answer, guided: the caller sees one stream, however often the model had to be asked again behind it.
import { messageToolCalls, errorMessage } from '../../core/index.ts';
import type { WireFormat, WireStreamEvent, ParsedModelResponse } from '../formats/wire-format.ts';
import { encodeSseEvent, splitSseFrames } from './sse.ts';
import { parseSseEvents, mayContainCall, createToolCallHold, type ToolCallHold } from './hold-tool-calls.ts';
import {
  createRequestBody,
  isInterceptorFailedError,
  evaluateResponse,
  releaseTrackedRequest,
  markDelivered,
  recordUpstreamFailure,
  createUnreadableCallsError,
  type UpstreamResponse,
  type HttpExchange,
} from './http-exchange.ts';

/** The bytes that the caller gets; once they have ended, or are no longer wanted, the conversation is free again. */
export async function* interceptStream<Head>(
  exchange: HttpExchange<Head>,
  first: UpstreamResponse<Head>,
): AsyncGenerator<Uint8Array> {
  let settling: Promise<void> | undefined;
  let ended = false;
  try {
    const last = yield* streamUntilAccepted(exchange, first);
    ended = true;
    // Words that have all been given are put together afterwards: the caller does not wait for that.
    settling = last && evaluateDelivered(exchange, last);
  } catch (error) {
    ended = true;
    if (!isInterceptorFailedError(error)) {
      await recordUpstreamFailure(exchange, errorMessage(error));
      throw error;
    }
    exchange.notify(error.message);
    yield encodeSseEvent(exchange.format.errorEvent(error.message));
  } finally {
    if (!ended) await recordUpstreamFailure(exchange, 'The caller did not wait for the end.');
    if (settling) void settling.finally(() => releaseTrackedRequest(exchange));
    else releaseTrackedRequest(exchange);
  }
}

/** An answer of which everything was given, and what the caller had seen before it. */
type DeliveredStream = { readonly seen: readonly WireStreamEvent[]; readonly hold: ToolCallHold };

async function* streamUntilAccepted<Head>(
  exchange: HttpExchange<Head>,
  first: UpstreamResponse<Head>,
): AsyncGenerator<Uint8Array, DeliveredStream | undefined> {
  const { format, request } = exchange;
  const seen: WireStreamEvent[] = [];
  let arrived = first;
  for (;;) {
    const join = seen.length > 0 ? createStreamContinuation(format, seen) : undefined;
    const way = createToolCallHold(format, exchange.holdText);
    for await (const chunk of arrived.chunks) {
      const bytes = way.push(chunk);
      if (bytes) yield join ? join.rewrite(bytes) : bytes;
    }
    const rest = way.finish();
    if (rest) yield join ? join.rewrite(rest) : rest;
    if (!way.isHolding) return { seen, hold: way };
    let hidden = false;
    const events = await parseSseEvents(
      [...way.sent, ...way.held],
      (frame) => (hidden ||= mayContainCall(format, frame)),
    );
    const answer = mergeSeenText(format, seen, events);
    if (hidden || (way.hasCalls && messageToolCalls(answer.message).length === 0)) throw createUnreadableCallsError();
    const guidance = await evaluateResponse(exchange, answer);
    if (guidance.type === 'pass') {
      markDelivered(exchange, answer);
      const held = Buffer.concat(way.held);
      yield join ? join.rewrite(held) : held;
      return undefined;
    }
    seen.push(...(join ? join.given : await parseSseEvents(way.sent)));
    if (guidance.type === 'stop') {
      const next = format.continueStream(seen);
      const ending = format.stopEvents(request, guidance).flatMap((event) => next(event) ?? []);
      markDelivered(exchange, assembleResponse(format, [...seen, ...ending]));
      yield Buffer.concat(ending.map(encodeSseEvent));
      return undefined;
    }
    arrived = await exchange.send(createRequestBody(exchange, guidance));
    if (arrived.status > 299 || !/event-stream/i.test(arrived.contentType))
      throw createRetryFailedError(arrived.status);
  }
}

const createRetryFailedError = (status: number): Error =>
  new Error(`The model was asked again because of a refused call, and gave no stream but HTTP ${status}.`);

/** Makes the events of a further answer go on where the stream is. */
function createStreamContinuation(
  dialect: WireFormat,
  seen: readonly WireStreamEvent[],
): { readonly given: readonly WireStreamEvent[]; rewrite(bytes: Buffer): Buffer } {
  const join = dialect.continueStream(seen);
  const given: WireStreamEvent[] = [];
  return {
    given,
    rewrite: (block) =>
      Buffer.concat(
        [...splitSseFrames(block)].flatMap(({ bytes, event }) => {
          const next = event && join(event);
          if (next) given.push(next);
          if (!event || next === event) return [bytes];
          return next ? [encodeSseEvent(next)] : [];
        }),
      ),
  };
}

function assembleResponse(dialect: WireFormat, events: readonly WireStreamEvent[]): ParsedModelResponse {
  const reader = dialect.createAssembler();
  for (const event of events) reader.push(event);
  return reader.response();
}

/** An answer with the words of refused ones before it: to the caller they are one message, and it will give them back as one. */
function mergeSeenText(
  dialect: WireFormat,
  seen: readonly WireStreamEvent[],
  events: readonly WireStreamEvent[],
): ParsedModelResponse {
  const answer = assembleResponse(dialect, events);
  if (seen.length === 0) return answer;
  const join = dialect.continueStream(seen);
  const { message } = assembleResponse(dialect, [...seen, ...events.flatMap((event) => join(event) ?? [])]);
  return { ...answer, message };
}

async function evaluateDelivered<Head>(exchange: HttpExchange<Head>, { seen, hold }: DeliveredStream): Promise<void> {
  try {
    const answer = mergeSeenText(exchange.format, seen, await parseSseEvents(hold.sent));
    await evaluateResponse(exchange, answer);
    markDelivered(exchange, answer);
  } catch (error) {
    exchange.notify(errorMessage(error));
  }
}
