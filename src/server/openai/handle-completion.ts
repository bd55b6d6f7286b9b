// One request of a client of OpenAI's: its run is begun, waited for or watched, and told in the client's own way.
import { setTimeout as pause } from 'node:timers/promises';
import type { WireFormat } from '../../bridges/index.ts';
import type { WireStreamEvent } from '../../bridges/formats/wire-format.ts';
import type { FleetRun, JsonObject } from '../../core/index.ts';
import { toHttpError } from '../http/errors.ts';
import type { RouteResponse, RouteRequest } from '../http/route.ts';
import { sendSseFrames } from '../http/sse.ts';
import { waitForRun } from '../http/wait-for-run.ts';
import { startCompletionRun, findRunForCaller, type StartedRun } from './start-run.ts';
import { parseCompletionRequest, type CompletionRequest } from './parse-request.ts';
import { createCompletionResult, type CompletionResult } from './completion-result.ts';
import { formatOpenAiError } from './errors.ts';
import { resolveItemReferences } from './resolve-references.ts';
import type { ResponseEncoder } from './response-encoder.ts';
import { readRunOutput, type RunOutput } from './text-deltas.ts';
import { createStopFilter, parseStopSequences, type StopFilter } from './stop-sequences.ts';

/** How an endpoint reads and speaks. */
export type CompletionEndpoint = {
  readonly format: WireFormat;
  readonly createEncoder: (request: JsonObject, run: FleetRun) => ResponseEncoder;
};

/** What a request has come to. */
type CompletionContext = {
  readonly routeRequest: RouteRequest;
  readonly started: StartedRun;
  readonly completionRequest: CompletionRequest;
  readonly encoder: ResponseEncoder;
  readonly stopFilter: StopFilter;
  readonly headers: Readonly<Record<string, string>>;
  /** The client is no longer waited with. */
  readonly release: () => void;
};

/** Answers a request. */
export async function handleCompletion(
  asked: RouteRequest,
  request: JsonObject,
  { format: dialect, createEncoder: sayingOf }: CompletionEndpoint,
): Promise<RouteResponse> {
  const cutter = createStopFilter(parseStopSequences(request));
  const talk = parseCompletionRequest(
    await resolveItemReferences(request, (id) => findRunForCaller(asked, id)),
    dialect,
  );
  const begun = await startCompletionRun(asked, talk);
  const { run } = begun;
  const exchange: CompletionContext = {
    routeRequest: asked,
    started: begun,
    completionRequest: talk,
    encoder: sayingOf(request, run),
    stopFilter: cutter,
    // Clients that try again by themselves would have everything done twice.
    headers: { 'x-fairlead-run': run.id, 'x-request-id': run.id, 'x-should-retry': 'false' },
    release: cancelOnDisconnect(asked, run),
  };
  return request['stream'] === true ? respondStreamed(exchange) : respondWhole(exchange);
}

/** The client that asked is the only one who waits: where it goes, the run is called off. Where the server ends, the run goes on elsewhere. */
function cancelOnDisconnect({ context: place, signal }: RouteRequest, run: FleetRun): () => void {
  const gone = (): void => {
    if (!place.shutdownSignal.aborted)
      void place.store.queue.cancel(run.id, 'The client has gone.').catch(() => undefined);
  };
  signal.addEventListener('abort', gone, { once: true });
  return () => signal.removeEventListener('abort', gone);
}

async function respondWhole(exchange: CompletionContext): Promise<RouteResponse> {
  const { routeRequest: asked, started: begun, encoder: saying, headers, release } = exchange;
  try {
    const run = await waitForRun(asked.context, begun.run, Number.POSITIVE_INFINITY, asked.signal);
    return { json: saying.encodeWhole(await createFilteredResult(exchange, run)), headers };
  } catch (error) {
    return respondWithError(error, headers);
  } finally {
    release();
  }
}

const respondWithError = (error: unknown, headers: CompletionContext['headers']): RouteResponse => {
  const refusal = toHttpError(error);
  return { status: refusal.status, json: { error: formatOpenAiError(refusal) }, headers };
};

const createFilteredResult = (
  { routeRequest: asked, completionRequest: talk, stopFilter: cutter }: CompletionContext,
  run: FleetRun,
): Promise<CompletionResult> =>
  createCompletionResult(asked.context, run, talk.format, (text) => cutter.push(text) + cutter.flush());

/** The same of a run whose words were told as they came. */
const createStreamedResult = (
  { routeRequest: asked, completionRequest: talk }: CompletionContext,
  run: FleetRun,
): Promise<CompletionResult> => createCompletionResult(asked.context, run, talk.format, (text) => text);

async function respondStreamed(exchange: CompletionContext): Promise<RouteResponse> {
  const { routeRequest: asked, started: begun, headers, release } = exchange;
  const { context: place, signal } = asked;
  const watched = place.broadcasters.subscribe({ session: begun.run.session, run: begun.run.id }, begun.from, signal);
  const pieces = streamOutput(exchange, readRunOutput(watched));
  const first = pieces.next();
  try {
    await waitForFirst(first, place.limits.firstChunkMs, signal);
  } catch (error) {
    // What fails before anything was said fails as a request without a stream does.
    release();
    return respondWithError(error, headers);
  }
  first.catch(() => undefined);
  return sendStream(exchange, prependFirst(first, pieces));
}

/** Waits for what comes first, or for a while. */
async function waitForFirst(first: Promise<unknown>, ms: number, signal: AbortSignal): Promise<void> {
  const late = new AbortController();
  const over = AbortSignal.any([late.signal, signal]);
  try {
    await Promise.race([first, pause(ms, undefined, { signal: over }).catch(() => undefined)]);
  } finally {
    late.abort();
  }
}

/** The words of a run as they come, and what is told at its end. Of an answer that has to fit a form nothing is said before it does. */
async function* streamOutput(
  exchange: CompletionContext,
  pieces: AsyncIterable<RunOutput>,
): AsyncGenerator<string | CompletionResult> {
  const { completionRequest: talk, stopFilter: cutter } = exchange;
  for await (const each of pieces)
    if (each.type === 'run')
      yield await (talk.format ? createFilteredResult : createStreamedResult)(exchange, each.run);
    else if (!talk.format) yield cutter.push(each.text);
}

async function* prependFirst<T>(first: Promise<IteratorResult<T>>, rest: AsyncGenerator<T>): AsyncGenerator<T> {
  const begun = await first;
  if (begun.done) return;
  yield begun.value;
  yield* rest;
}

function sendStream(exchange: CompletionContext, pieces: AsyncIterable<string | CompletionResult>): RouteResponse {
  const {
    routeRequest: asked,
    completionRequest: talk,
    encoder: saying,
    stopFilter: cutter,
    headers,
    release,
  } = exchange;
  const { context: place, signal } = asked;
  async function* frames(): AsyncGenerator<string> {
    let said = '';
    const tell = (text: string): string => {
      said += text;
      return text === '' ? '' : formatSseEvents(saying.encodeDelta(text));
    };
    try {
      yield formatSseEvents(saying.encodeStart());
      for await (const each of pieces) {
        if (typeof each === 'string') {
          yield tell(each);
          continue;
        }
        yield tell(talk.format ? each.text : cutter.flush());
        yield formatSseEvents(saying.encodeEnd({ ...each, text: said }));
      }
    } catch (error) {
      yield formatSseEvents([saying.encodeError(toHttpError(error))]);
    } finally {
      release();
    }
  }
  const { pingMs, stallMs } = place.limits;
  return { stream: (outgoing) => sendSseFrames(outgoing, frames(), { signal, pingMs, stallMs }), headers };
}

const formatSseEvents = (events: readonly WireStreamEvent[]): string =>
  events
    .map(({ event, data }) => {
      const json = data === '[DONE]' ? data : JSON.stringify(data);
      return `${event === undefined ? '' : `event: ${event}\n`}data: ${json}\n\n`;
    })
    .join('');
