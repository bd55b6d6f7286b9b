// Intercepts a streamed response: the caller sees one stream, however often the model is retried.
import { messageToolCalls, errorMessage } from '../../core/index.ts';
import {
  formatStreamEvent,
  formatStreamEvents,
  type ParsedModelResponse,
  type WireFormat,
  type WireStreamEvent,
} from '../../wire/index.ts';
import { formatStopMessage } from '../interceptor/stop-action.ts';
import { splitSseFrames } from './sse.ts';
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

/** Returns the bytes for the caller; releases the conversation at the end or on cancel. */
export async function* interceptStream<Head>(
  exchange: HttpExchange<Head>,
  first: UpstreamResponse<Head>,
): AsyncGenerator<Uint8Array> {
  let settling: Promise<void> | undefined;
  let ended = false;
  try {
    const last = yield* streamUntilAccepted(exchange, first);
    ended = true;
    // Text that has fully passed is assembled afterwards, without delaying the caller.
    settling = last && evaluateDelivered(exchange, last);
  } catch (error) {
    ended = true;
    if (!isInterceptorFailedError(error)) {
      await recordUpstreamFailure(exchange, errorMessage(error));
      throw error;
    }
    exchange.notify(error.message);
    yield Buffer.from(formatStreamEvent(exchange.format.errorEvent(error.message)));
  } finally {
    if (!ended) await recordUpstreamFailure(exchange, 'The caller did not wait for the end.');
    if (settling) void settling.finally(() => releaseTrackedRequest(exchange));
    else releaseTrackedRequest(exchange);
  }
}

/** A fully passed response, and the text the caller saw before it. */
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
    for (const item of join ? join.given : await parseSseEvents(way.sent)) seen.push(item);
    if (guidance.type === 'stop') {
      const next = format.continueStream(seen);
      const ending = format.writeTextEvents(request, formatStopMessage(guidance)).flatMap((event) => next(event) ?? []);
      markDelivered(exchange, assembleResponse(format, [...seen, ...ending]));
      yield Buffer.from(formatStreamEvents(ending));
      return undefined;
    }
    arrived = await exchange.send(createRequestBody(exchange, guidance));
    if (arrived.status > 299 || !/event-stream/i.test(arrived.contentType))
      throw createRetryFailedError(arrived.status);
  }
}

const createRetryFailedError = (status: number): Error =>
  new Error(`The model was asked again because of a denied call, and returned HTTP ${status}.`);

/** Continues the stream with the events of a retried response. */
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
          return next ? [Buffer.from(formatStreamEvent(next))] : [];
        }),
      ),
  };
}

function assembleResponse(dialect: WireFormat, events: readonly WireStreamEvent[]): ParsedModelResponse {
  const reader = dialect.createAssembler();
  for (const event of events) reader.push(event);
  return reader.response();
}

/** Prepends the text of rejected responses: the caller sees one message and sends it back as one. */
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
