// Intercepts one HTTP model request: adds notes, decides about the response, and retries if a call is denied.
import { FairleadError, isObject, type Json, type JsonObject } from '../../core/index.ts';
import {
  formatStreamEvents,
  tryParseJson,
  type ParsedModelResponse,
  type WireFormat,
  type WireStreamEvent,
} from '../../wire/index.ts';
import { formatStopMessage, type StopAction } from '../interceptor/stop-action.ts';
import { splitSseFrames } from './sse.ts';
import { mayContainCall } from './hold-tool-calls.ts';
import {
  createRequestBody,
  getRequestAction,
  isInterceptorFailedError,
  evaluateResponse,
  releaseTrackedRequest,
  markDelivered,
  recordUpstreamFailure,
  createUnreadableCallsError,
  type HttpExchange,
  type InterceptReply,
} from './http-exchange.ts';
import { interceptStream } from './intercept-stream.ts';

/** Handles a request. The conversation is released in every case. */
export async function interceptHttp<Head>(exchange: HttpExchange<Head>): Promise<InterceptReply<Head>> {
  let streams = false;
  try {
    const reply = await sendUntilAccepted(exchange);
    streams = reply.isStream;
    return reply;
  } catch (error) {
    if (!isInterceptorFailedError(error)) throw error;
    exchange.notify(error.message);
    return createLocalReply(503, exchange.format.errorBody(error.message));
  } finally {
    if (!streams) releaseTrackedRequest(exchange);
  }
}

async function sendUntilAccepted<Head>(exchange: HttpExchange<Head>): Promise<InterceptReply<Head>> {
  let guidance = getRequestAction(exchange);
  for (;;) {
    if (guidance.type === 'stop') return createStopReply(exchange, guidance);
    if (guidance.type === 'pass') throw new TypeError('An interceptor passes responses through, not requests.');
    const arrived = await exchange.send(createRequestBody(exchange, guidance));
    const { status, contentType, head, chunks } = arrived;
    if (status < 200 || status > 299) {
      await recordUpstreamFailure(exchange, `HTTP ${status}`);
      return { status, contentType, head, isStream: false, chunks };
    }
    if (/event-stream/i.test(contentType))
      return { status, contentType, head, isStream: true, chunks: interceptStream(exchange, arrived) };
    const bytes = await readAllChunks(chunks);
    const answer = parseWholeResponse(exchange.format, bytes);
    guidance = answer ? await evaluateResponse(exchange, answer) : { type: 'pass' };
    if (guidance.type !== 'pass') continue;
    if (answer) markDelivered(exchange, answer);
    return { status, contentType, head, isStream: false, chunks: singleChunk(bytes) };
  }
}

function createStopReply<Head>(exchange: HttpExchange<Head>, stop: StopAction): InterceptReply<Head> {
  const { format, request, wantsStream } = exchange;
  const text = formatStopMessage(stop);
  const answer = format.writeTextResponse(request, text);
  markDelivered(exchange, format.parseResponse(answer));
  if (!wantsStream) return createLocalReply(200, answer);
  const events = Buffer.from(formatStreamEvents(format.writeTextEvents(request, text)));
  return { status: 200, contentType: 'text/event-stream', isStream: false, chunks: singleChunk(events) };
}

const createLocalReply = (status: number, body: JsonObject): InterceptReply<never> => ({
  status,
  contentType: 'application/json',
  isStream: false,
  chunks: singleChunk(Buffer.from(JSON.stringify(body))),
});

async function* singleChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** Max size of a whole response. */
const maxResponseBytes = 64 * 1024 * 1024;

async function readAllChunks(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    parts.push(chunk);
    size += chunk.length;
    if (size > maxResponseBytes)
      throw new FairleadError('bridge/answer-too-long', 'The answer of the model is too long to be judged.', {
        blame: 'provider',
      });
  }
  return Buffer.concat(parts);
}

/** Parses a whole response in any form: a client may read events from a body without the event-stream type. */
function parseWholeResponse(dialect: WireFormat, bytes: Buffer): ParsedModelResponse | undefined {
  const value = tryParseJson(bytes.toString());
  if (isObject(value)) return dialect.parseResponse(value);
  const events = Array.isArray(value)
    ? (value as readonly Json[]).flatMap((data): readonly WireStreamEvent[] => (isObject(data) ? [{ data }] : []))
    : [...splitSseFrames(bytes)].flatMap(({ bytes: frame, event }) => {
        if (!event && mayContainCall(dialect, frame)) throw createUnreadableCallsError();
        return event ? [event] : [];
      });
  if (events.length === 0) return undefined;
  const reader = dialect.createAssembler();
  for (const event of events) reader.push(event);
  return reader.response();
}
