// One request of a client of OpenAI's: its run is begun, waited for or watched, and told in the client's own way.
import { setTimeout as pause } from 'node:timers/promises';
import type { Dialect } from '../../bridges/index.ts';
import type { StreamEvent } from '../../bridges/dialects/dialect.ts';
import type { FleetRun, JsonObject } from '../../core/index.ts';
import { refusalOf } from '../faults.ts';
import type { Answer, Asked } from '../route.ts';
import { sendFrames } from '../sse.ts';
import { settled } from '../waiting.ts';
import { beginIn, runOf, type Begun } from './beginning.ts';
import { conversationIn, type Conversation } from './conversation.ts';
import { toldOf, type Told } from './ending.ts';
import { errorOf } from './errors.ts';
import { spelledOut } from './references.ts';
import type { Saying } from './saying.ts';
import { spoken, type Spoken } from './speaking.ts';
import { cutterFor, stopsIn, type Cutter } from './stopping.ts';

/** How an endpoint reads and speaks. */
export type Way = {
  readonly dialect: Dialect;
  readonly sayingOf: (request: JsonObject, run: FleetRun) => Saying;
};

/** What a request has come to. */
type Exchange = {
  readonly asked: Asked;
  readonly begun: Begun;
  readonly talk: Conversation;
  readonly saying: Saying;
  readonly cutter: Cutter;
  readonly headers: Readonly<Record<string, string>>;
  /** The client is no longer waited with. */
  readonly release: () => void;
};

/** Answers a request. */
export async function answered(asked: Asked, request: JsonObject, { dialect, sayingOf }: Way): Promise<Answer> {
  const cutter = cutterFor(stopsIn(request));
  const talk = conversationIn(await spelledOut(request, (id) => runOf(asked, id)), dialect);
  const begun = await beginIn(asked, talk);
  const { run } = begun;
  const exchange: Exchange = {
    asked,
    begun,
    talk,
    saying: sayingOf(request, run),
    cutter,
    // Clients that try again by themselves would have everything done twice.
    headers: { 'x-fairlead-run': run.id, 'x-request-id': run.id, 'x-should-retry': 'false' },
    release: callOffWithout(asked, run),
  };
  return request['stream'] === true ? streamed(exchange) : whole(exchange);
}

/** The client that asked is the only one who waits: where it goes, the run is called off. Where the server ends, the run goes on elsewhere. */
function callOffWithout({ place, signal }: Asked, run: FleetRun): () => void {
  const gone = (): void => {
    if (!place.ending.aborted) void place.store.queue.cancel(run.id, 'The client has gone.').catch(() => undefined);
  };
  signal.addEventListener('abort', gone, { once: true });
  return () => signal.removeEventListener('abort', gone);
}

async function whole(exchange: Exchange): Promise<Answer> {
  const { asked, begun, saying, headers, release } = exchange;
  try {
    const run = await settled(asked.place, begun.run, Number.POSITIVE_INFINITY, asked.signal);
    return { json: saying.whole(await toldIn(exchange, run)), headers };
  } catch (error) {
    return failed(error, headers);
  } finally {
    release();
  }
}

const failed = (error: unknown, headers: Exchange['headers']): Answer => {
  const refusal = refusalOf(error);
  return { status: refusal.status, json: { error: errorOf(refusal) }, headers };
};

const toldIn = ({ asked, talk, cutter }: Exchange, run: FleetRun): Promise<Told> =>
  toldOf(asked.place, run, talk.format, (text) => cutter.take(text) + cutter.rest());

/** The same of a run whose words were told as they came. */
const toldLast = ({ asked, talk }: Exchange, run: FleetRun): Promise<Told> =>
  toldOf(asked.place, run, talk.format, (text) => text);

async function streamed(exchange: Exchange): Promise<Answer> {
  const { asked, begun, headers, release } = exchange;
  const { place, signal } = asked;
  const watched = place.watching.watch({ session: begun.run.session, run: begun.run.id }, begun.from, signal);
  const pieces = toldAfter(exchange, spoken(watched));
  const first = pieces.next();
  try {
    await soonest(first, place.bounds.firstMs, signal);
  } catch (error) {
    // What fails before anything was said fails as a request without a stream does.
    release();
    return failed(error, headers);
  }
  first.catch(() => undefined);
  return sending(exchange, withFirst(first, pieces));
}

/** Waits for what comes first, or for a while. */
async function soonest(first: Promise<unknown>, ms: number, signal: AbortSignal): Promise<void> {
  const late = new AbortController();
  const over = AbortSignal.any([late.signal, signal]);
  try {
    await Promise.race([first, pause(ms, undefined, { signal: over }).catch(() => undefined)]);
  } finally {
    late.abort();
  }
}

/** The words of a run as they come, and what is told at its end. Of an answer that has to fit a form nothing is said before it does. */
async function* toldAfter(exchange: Exchange, pieces: AsyncIterable<Spoken>): AsyncGenerator<string | Told> {
  const { talk, cutter } = exchange;
  for await (const each of pieces)
    if (each.type === 'run') yield await (talk.format ? toldIn : toldLast)(exchange, each.run);
    else if (!talk.format) yield cutter.take(each.text);
}

async function* withFirst<T>(first: Promise<IteratorResult<T>>, rest: AsyncGenerator<T>): AsyncGenerator<T> {
  const begun = await first;
  if (begun.done) return;
  yield begun.value;
  yield* rest;
}

function sending(exchange: Exchange, pieces: AsyncIterable<string | Told>): Answer {
  const { asked, talk, saying, cutter, headers, release } = exchange;
  const { place, signal } = asked;
  async function* frames(): AsyncGenerator<string> {
    let said = '';
    const tell = (text: string): string => {
      said += text;
      return text === '' ? '' : framed(saying.delta(text));
    };
    try {
      yield framed(saying.opening());
      for await (const each of pieces) {
        if (typeof each === 'string') {
          yield tell(each);
          continue;
        }
        yield tell(talk.format ? each.text : cutter.rest());
        yield framed(saying.closing({ ...each, text: said }));
      }
    } catch (error) {
      yield framed([saying.failure(refusalOf(error))]);
    } finally {
      release();
    }
  }
  const { pingMs, stallMs } = place.bounds;
  return { stream: (outgoing) => sendFrames(outgoing, frames(), { signal, pingMs, stallMs }), headers };
}

const framed = (events: readonly StreamEvent[]): string =>
  events
    .map(({ event, data }) => {
      const json = data === '[DONE]' ? data : JSON.stringify(data);
      return `${event === undefined ? '' : `event: ${event}\n`}data: ${json}\n\n`;
    })
    .join('');
