// One request of a caller's, guided: sent with what is added to it, its answer judged, asked again where a call is refused.
import { FairleadError, isObject, type Json, type JsonObject } from '../../core/index.ts';
import type { Dialect, Stopping, StreamEvent, Told } from '../dialects/dialect.ts';
import { jsonIn } from '../dialects/reading.ts';
import { frameOf, framesIn } from './frames.ts';
import { mayCall } from './holding.ts';
import {
  bodyFor,
  firstGuidance,
  isRefusal,
  judged,
  over,
  passed,
  told,
  unreadCalls,
  type Exchange,
  type Reply,
} from './judging.ts';
import { streamed } from './streaming.ts';

/** Carries out a request. Whatever becomes of it, the conversation is free for the next one afterwards. */
export async function carryOut<Head>(exchange: Exchange<Head>): Promise<Reply<Head>> {
  let streams = false;
  try {
    const reply = await answerTo(exchange);
    streams = reply.streams;
    return reply;
  } catch (error) {
    if (!isRefusal(error)) throw error;
    exchange.tell(error.message);
    return ours(503, exchange.dialect.failure(error.message));
  } finally {
    if (!streams) over(exchange);
  }
}

async function answerTo<Head>(exchange: Exchange<Head>): Promise<Reply<Head>> {
  let guidance = firstGuidance(exchange);
  for (;;) {
    if (guidance.type === 'stop') return stopped(exchange, guidance);
    if (guidance.type === 'pass') throw new TypeError('A guide lets answers pass, not requests.');
    const arrived = await exchange.send(bodyFor(exchange, guidance));
    const { status, contentType, head, chunks } = arrived;
    if (status < 200 || status > 299) {
      await told(exchange, `HTTP ${status}`);
      return { status, contentType, head, streams: false, chunks };
    }
    if (/event-stream/i.test(contentType))
      return { status, contentType, head, streams: true, chunks: streamed(exchange, arrived) };
    const bytes = await whole(chunks);
    const answer = answerIn(exchange.dialect, bytes);
    guidance = answer ? await judged(exchange, answer) : { type: 'pass' };
    if (guidance.type !== 'pass') continue;
    if (answer) passed(exchange, answer);
    return { status, contentType, head, streams: false, chunks: once(bytes) };
  }
}

function stopped<Head>(exchange: Exchange<Head>, stop: Stopping): Reply<Head> {
  const { dialect, request, wantsEvents } = exchange;
  const answer = dialect.stopped(request, stop);
  passed(exchange, dialect.answered(answer));
  if (!wantsEvents) return ours(200, answer);
  const events = Buffer.concat(dialect.stoppedEvents(request, stop).map(frameOf));
  return { status: 200, contentType: 'text/event-stream', streams: false, chunks: once(events) };
}

const ours = (status: number, body: JsonObject): Reply<never> => ({
  status,
  contentType: 'application/json',
  streams: false,
  chunks: once(Buffer.from(JSON.stringify(body))),
});

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** How long an answer in one piece may be. */
const mostBytes = 64 * 1024 * 1024;

async function whole(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    parts.push(chunk);
    size += chunk.length;
    if (size > mostBytes)
      throw new FairleadError('bridge/answer-too-long', 'The answer of the model is too long to be judged.', {
        blame: 'provider',
      });
  }
  return Buffer.concat(parts);
}

/** An answer in one piece, in whatever form it came: a client may read events out of what does not call itself so. */
function answerIn(dialect: Dialect, bytes: Buffer): Told | undefined {
  const value = jsonIn(bytes);
  if (isObject(value)) return dialect.answered(value);
  const events = Array.isArray(value)
    ? (value as readonly Json[]).flatMap((data): readonly StreamEvent[] => (isObject(data) ? [{ data }] : []))
    : [...framesIn(bytes)].flatMap(({ bytes: frame, event }) => {
        if (!event && mayCall(dialect, frame)) throw unreadCalls();
        return event ? [event] : [];
      });
  if (events.length === 0) return undefined;
  const reader = dialect.assembler();
  for (const event of events) reader.take(event);
  return reader.answer();
}
