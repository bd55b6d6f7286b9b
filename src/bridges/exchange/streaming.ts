// A streamed answer, guided: the caller sees one stream, however often the model had to be asked again behind it.
import { messageToolCalls, errorMessage } from '../../core/index.ts';
import type { Dialect, StreamEvent, Told } from '../dialects/dialect.ts';
import { frameOf, framesIn } from './frames.ts';
import { eventsIn, mayCall, passage, type Passage } from './holding.ts';
import { bodyFor, isRefusal, judged, over, passed, told, unreadCalls, type Arrived, type Exchange } from './judging.ts';

/** The bytes that the caller gets; once they have ended, or are no longer wanted, the conversation is free again. */
export async function* streamed<Head>(exchange: Exchange<Head>, first: Arrived<Head>): AsyncGenerator<Uint8Array> {
  let settling: Promise<void> | undefined;
  let ended = false;
  try {
    const last = yield* rounds(exchange, first);
    ended = true;
    // Words that have all been given are put together afterwards: the caller does not wait for that.
    settling = last && settle(exchange, last);
  } catch (error) {
    ended = true;
    if (!isRefusal(error)) {
      await told(exchange, errorMessage(error));
      throw error;
    }
    exchange.tell(error.message);
    yield frameOf(exchange.dialect.failureEvent(error.message));
  } finally {
    if (!ended) await told(exchange, 'The caller did not wait for the end.');
    if (settling) void settling.finally(() => over(exchange));
    else over(exchange);
  }
}

/** An answer of which everything was given, and what the caller had seen before it. */
type Given = { readonly seen: readonly StreamEvent[]; readonly way: Passage };

async function* rounds<Head>(
  exchange: Exchange<Head>,
  first: Arrived<Head>,
): AsyncGenerator<Uint8Array, Given | undefined> {
  const { dialect, request } = exchange;
  const seen: StreamEvent[] = [];
  let arrived = first;
  for (;;) {
    const join = seen.length > 0 ? joiner(dialect, seen) : undefined;
    const way = passage(dialect, exchange.holdsWords);
    for await (const chunk of arrived.chunks) {
      const bytes = way.take(chunk);
      if (bytes) yield join ? join.rewrite(bytes) : bytes;
    }
    const rest = way.end();
    if (rest) yield join ? join.rewrite(rest) : rest;
    if (!way.holds) return { seen, way };
    let hidden = false;
    const events = await eventsIn([...way.sent, ...way.held], (frame) => (hidden ||= mayCall(dialect, frame)));
    const answer = asSeen(dialect, seen, events);
    if (hidden || (way.calls && messageToolCalls(answer.message).length === 0)) throw unreadCalls();
    const guidance = await judged(exchange, answer);
    if (guidance.type === 'pass') {
      passed(exchange, answer);
      const held = Buffer.concat(way.held);
      yield join ? join.rewrite(held) : held;
      return undefined;
    }
    seen.push(...(join ? join.given : await eventsIn(way.sent)));
    if (guidance.type === 'stop') {
      const next = dialect.joining(seen);
      const ending = dialect.stoppedEvents(request, guidance).flatMap((event) => next(event) ?? []);
      passed(exchange, read(dialect, [...seen, ...ending]));
      yield Buffer.concat(ending.map(frameOf));
      return undefined;
    }
    arrived = await exchange.send(bodyFor(exchange, guidance));
    if (arrived.status > 299 || !/event-stream/i.test(arrived.contentType)) throw notGoingOn(arrived.status);
  }
}

const notGoingOn = (status: number): Error =>
  new Error(`The model was asked again because of a refused call, and gave no stream but HTTP ${status}.`);

/** Makes the events of a further answer go on where the stream is. */
function joiner(
  dialect: Dialect,
  seen: readonly StreamEvent[],
): { readonly given: readonly StreamEvent[]; rewrite(bytes: Buffer): Buffer } {
  const join = dialect.joining(seen);
  const given: StreamEvent[] = [];
  return {
    given,
    rewrite: (block) =>
      Buffer.concat(
        [...framesIn(block)].flatMap(({ bytes, event }) => {
          const next = event && join(event);
          if (next) given.push(next);
          if (!event || next === event) return [bytes];
          return next ? [frameOf(next)] : [];
        }),
      ),
  };
}

function read(dialect: Dialect, events: readonly StreamEvent[]): Told {
  const reader = dialect.assembler();
  for (const event of events) reader.take(event);
  return reader.answer();
}

/** An answer with the words of refused ones before it: to the caller they are one message, and it will give them back as one. */
function asSeen(dialect: Dialect, seen: readonly StreamEvent[], events: readonly StreamEvent[]): Told {
  const answer = read(dialect, events);
  if (seen.length === 0) return answer;
  const join = dialect.joining(seen);
  const { message } = read(dialect, [...seen, ...events.flatMap((event) => join(event) ?? [])]);
  return { ...answer, message };
}

async function settle<Head>(exchange: Exchange<Head>, { seen, way }: Given): Promise<void> {
  try {
    const answer = asSeen(exchange.dialect, seen, await eventsIn(way.sent));
    await judged(exchange, answer);
    passed(exchange, answer);
  } catch (error) {
    exchange.tell(errorMessage(error));
  }
}
