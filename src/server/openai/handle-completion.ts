// One request of a client of OpenAI's: its run is begun, waited for or watched, and told in the client's own way.
import { setTimeout as pause } from 'node:timers/promises';
import type { WireFormat } from '../../bridges/index.ts';
import type { WireStreamEvent } from '../../wire/index.ts';
import type { FleetRun, JsonObject } from '../../core/index.ts';
import { toHttpError } from '../http/errors.ts';
import type { RouteResponse, RouteRequest } from '../http/route.ts';
import { sendSseFrames } from '../http/sse.ts';
import { waitForRun } from '../http/runs.ts';
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
  { format, createEncoder }: CompletionEndpoint,
): Promise<RouteResponse> {
  const cutter = createStopFilter(parseStopSequences(request));
  const talk = parseCompletionRequest(
    await resolveItemReferences(request, (id) => findRunForCaller(asked, id)),
    format,
  );
  const begun = await startCompletionRun(asked, talk);
  const { run } = begun;
  const exchange: CompletionContext = {
    routeRequest: asked,
    started: begun,
    completionRequest: talk,
    encoder: createEncoder(request, run),
    stopFilter: cutter,
    // Clients that try again by themselves would have everything done twice.
    headers: { 'x-fairlead-run': run.id, 'x-request-id': run.id, 'x-should-retry': 'false' },
    release: cancelOnDisconnect(asked, run),
  };
  return request['stream'] === true ? respondStreamed(exchange) : respondWhole(exchange);
}

/** The client that asked is the only one who waits: where it goes, the run is called off. Where the server ends, the run goes on elsewhere. */
function cancelOnDisconnect({ context, signal }: RouteRequest, run: FleetRun): () => void {
  const gone = (): void => {
    if (!context.shutdownSignal.aborted)
      void context.store.queue.cancel(run.id, 'The client has gone.').catch(() => undefined);
  };
  signal.addEventListener('abort', gone, { once: true });
  return () => signal.removeEventListener('abort', gone);
}

async function respondWhole(exchange: CompletionContext): Promise<RouteResponse> {
  const { routeRequest, started, encoder, headers, release } = exchange;
  try {
    const run = await waitForRun(routeRequest.context, started.run, Number.POSITIVE_INFINITY, routeRequest.signal);
    return { json: encoder.encodeWhole(await createFilteredResult(exchange, run)), headers };
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
  { routeRequest, completionRequest, stopFilter }: CompletionContext,
  run: FleetRun,
): Promise<CompletionResult> =>
  createCompletionResult(
    routeRequest.context,
    run,
    completionRequest.format,
    (text) => stopFilter.push(text) + stopFilter.flush(),
  );

/** The same of a run whose words were told as they came. */
const createStreamedResult = (
  { routeRequest, completionRequest }: CompletionContext,
  run: FleetRun,
): Promise<CompletionResult> =>
  createCompletionResult(routeRequest.context, run, completionRequest.format, (text) => text);

async function respondStreamed(exchange: CompletionContext): Promise<RouteResponse> {
  const { routeRequest, started, headers, release } = exchange;
  const { context, signal } = routeRequest;
  const watched = context.broadcasters.subscribe(
    { session: started.run.session, run: started.run.id },
    started.from,
    signal,
  );
  const pieces = streamOutput(exchange, readRunOutput(watched));
  const first = pieces.next();
  try {
    await waitForFirst(first, context.limits.firstChunkMs, signal);
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
  const { completionRequest, stopFilter } = exchange;
  for await (const each of pieces)
    if (each.type === 'run')
      yield await (completionRequest.format ? createFilteredResult : createStreamedResult)(exchange, each.run);
    else if (!completionRequest.format) yield stopFilter.push(each.text);
}

async function* prependFirst<T>(first: Promise<IteratorResult<T>>, rest: AsyncGenerator<T>): AsyncGenerator<T> {
  const begun = await first;
  if (begun.done) return;
  yield begun.value;
  yield* rest;
}

function sendStream(exchange: CompletionContext, pieces: AsyncIterable<string | CompletionResult>): RouteResponse {
  const { routeRequest, completionRequest, encoder, stopFilter, headers, release } = exchange;
  const { context, signal } = routeRequest;
  async function* frames(): AsyncGenerator<string> {
    let said = '';
    const tell = (text: string): string => {
      said += text;
      return text === '' ? '' : formatSseEvents(encoder.encodeDelta(text));
    };
    try {
      yield formatSseEvents(encoder.encodeStart());
      for await (const each of pieces) {
        if (typeof each === 'string') {
          yield tell(each);
          continue;
        }
        yield tell(completionRequest.format ? each.text : stopFilter.flush());
        yield formatSseEvents(encoder.encodeEnd({ ...each, text: said }));
      }
    } catch (error) {
      yield formatSseEvents([encoder.encodeError(toHttpError(error))]);
    } finally {
      release();
    }
  }
  const { pingMs, stallMs } = context.limits;
  return { stream: (outgoing) => sendSseFrames(outgoing, frames(), { signal, pingMs, stallMs }), headers };
}

const formatSseEvents = (events: readonly WireStreamEvent[]): string =>
  events
    .map(({ event, data }) => {
      const json = data === '[DONE]' ? data : JSON.stringify(data);
      return `${event === undefined ? '' : `event: ${event}\n`}data: ${json}\n\n`;
    })
    .join('');
