// Handles an OpenAI request: starts its run, waits for it or streams it, and writes the result in the form of the endpoint.
import { setTimeout as sleep } from 'node:timers/promises';
import { isObject, type FleetRun, type JsonObject } from '../../core/index.ts';
import { formatStreamEvent, formatStreamEvents, type WireFormat } from '../../wire/index.ts';
import { createHttpError, toHttpError, formatOpenAiError } from '../http/errors.ts';
import type { RouteRequest, RouteResponse } from '../http/route.ts';
import { waitForRun } from '../http/runs.ts';
import { sendSse } from '../http/sse.ts';
import { createCompletionResult, type CompletionResult, type ResponseEncoder } from './completion-result.ts';
import { createResponseFormat } from './parse-params.ts';
import { parseCompletionRequest, type CompletionRequest } from './parse-request.ts';
import { describeResponse, resolveItemReferences } from './encoders.ts';
import { startCompletionRun, type StartedRun } from './start-run.ts';
import { createStopFilter, parseStopSequences, type StopFilter, readRunOutput, type RunOutput } from './text-deltas.ts';

/** The wire format and the encoder of an endpoint. */
export type CompletionEndpoint = {
  readonly format: WireFormat;
  readonly createEncoder: (request: JsonObject, run: FleetRun) => ResponseEncoder;
};

type CompletionContext = {
  readonly route: RouteRequest;
  readonly request: CompletionRequest;
  readonly started: StartedRun;
  readonly encoder: ResponseEncoder;
  readonly stopFilter: StopFilter;
  readonly headers: Readonly<Record<string, string>>;
  /** Stops cancelling the run when the client disconnects. */
  readonly release: () => void;
};

/** Handles a request. */
export async function handleCompletion(
  route: RouteRequest,
  body: JsonObject,
  { format, createEncoder }: CompletionEndpoint,
): Promise<RouteResponse> {
  const stopFilter = createStopFilter(parseStopSequences(body));
  const { store, limits } = route.context;
  const resolved = await resolveItemReferences(body, {
    findRun: (id) => store.queue.run(id),
    maxChars: limits.bodyBytes,
  });
  const request = parseCompletionRequest(resolved, format);
  const started = await startCompletionRun(route, request);
  const { run } = started;
  const context: CompletionContext = {
    route,
    request,
    started,
    encoder: createEncoder(body, run),
    stopFilter,
    // A client that retries by itself would run everything twice.
    headers: { 'x-fairlead-run': run.id, 'x-request-id': run.id, 'x-should-retry': 'false' },
    release: cancelOnDisconnect(route, run),
  };
  return body['stream'] === true ? respondStreamed(context) : respondWhole(context);
}

/** Cancels the run when the client disconnects; not when the server closes, because a worker may continue it. */
function cancelOnDisconnect({ context, signal }: RouteRequest, run: FleetRun): () => void {
  const cancel = (): void => {
    if (!context.shutdownSignal.aborted)
      void context.store.queue.cancel(run.id, 'The client disconnected.').catch(() => undefined);
  };
  signal.addEventListener('abort', cancel, { once: true });
  return () => signal.removeEventListener('abort', cancel);
}

async function respondWhole(context: CompletionContext): Promise<RouteResponse> {
  const { route, started, encoder, headers, release } = context;
  try {
    const run = await waitForRun(route.context, started.run, Number.POSITIVE_INFINITY, route.signal);
    return { json: encoder.encodeWhole(await createResult(context, run, true)), headers };
  } catch (error) {
    return respondWithError(error, headers);
  } finally {
    release();
  }
}

function respondWithError(error: unknown, headers: CompletionContext['headers']): RouteResponse {
  const response = toHttpError(error);
  return { status: response.status, json: { error: formatOpenAiError(response) }, headers };
}

/** Creates the result; text that was streamed has passed the stop filter already. */
const createResult = (
  { route, request, stopFilter }: CompletionContext,
  run: FleetRun,
  applyStop: boolean,
): Promise<CompletionResult> =>
  createCompletionResult(route.context, run, request.format, (text) =>
    applyStop ? stopFilter.push(text) + stopFilter.flush() : text,
  );

async function respondStreamed(context: CompletionContext): Promise<RouteResponse> {
  const { route, started, headers, release } = context;
  const { broadcasters, limits } = route.context;
  const target = { session: started.run.session, run: started.run.id };
  const messages = broadcasters.subscribe(target, started.from, route.signal);
  const outputs = streamOutput(context, readRunOutput(messages, started.run.settings['verify'] === true));
  const first = outputs.next();
  try {
    await waitForFirst(first, limits.firstChunkMs, route.signal);
  } catch (error) {
    // An error before the first output is an HTTP error, as without a stream.
    release();
    return respondWithError(error, headers);
  }
  first.catch(() => undefined);
  return sendStream(context, prependFirst(first, outputs));
}

/** Waits for the first output, at most `ms` milliseconds. */
async function waitForFirst(first: Promise<unknown>, ms: number, signal: AbortSignal): Promise<void> {
  const done = new AbortController();
  const stop = AbortSignal.any([done.signal, signal]);
  try {
    await Promise.race([first, sleep(ms, undefined, { signal: stop }).catch(() => undefined)]);
  } finally {
    done.abort();
  }
}

/** Yields text deltas and the result. A response with a schema is yielded as the result only, because it is validated as a whole; a verified answer is one delta at its end. */
async function* streamOutput(
  context: CompletionContext,
  outputs: AsyncIterable<RunOutput>,
): AsyncGenerator<string | CompletionResult> {
  const { request, stopFilter } = context;
  for await (const output of outputs) {
    if (output.type === 'run') {
      const result = await createResult(context, output.run, output.isHeld || request.format !== undefined);
      if (output.isHeld && !request.format) yield result.text;
      yield result;
    } else if (!request.format) yield stopFilter.push(output.text);
  }
}

async function* prependFirst<T>(first: Promise<IteratorResult<T>>, rest: AsyncGenerator<T>): AsyncGenerator<T> {
  const result = await first;
  if (result.done) return;
  yield result.value;
  yield* rest;
}

function sendStream(context: CompletionContext, outputs: AsyncIterable<string | CompletionResult>): RouteResponse {
  const { route, request, encoder, stopFilter, headers, release } = context;
  async function* frames(): AsyncGenerator<string> {
    let sent = '';
    const encodeDelta = (text: string): string => {
      sent += text;
      return text === '' ? '' : formatStreamEvents(encoder.encodeDelta(text));
    };
    try {
      yield formatStreamEvents(encoder.encodeStart());
      for await (const output of outputs) {
        if (typeof output === 'string') {
          yield encodeDelta(output);
          continue;
        }
        yield encodeDelta(request.format ? output.text : stopFilter.flush());
        yield formatStreamEvents(encoder.encodeEnd({ ...output, text: sent }));
      }
    } catch (error) {
      yield formatStreamEvent(encoder.encodeError(toHttpError(error)));
    } finally {
      release();
    }
  }
  const { pingMs, stallMs } = route.context.limits;
  return {
    stream: (outgoing) => sendSse(outgoing, frames(), { signal: route.signal, pingMs, stallMs }),
    headers,
  };
}

/** Returns the response with this id in its current state; throws 404 if there is none. */
export async function retrieveResponse(route: RouteRequest, id: string): Promise<JsonObject> {
  const run = await route.context.store.queue.run(id.replace(/^resp_/, ''));
  if (!run) throw createHttpError('server/not-found', `Response not found: ${id}.`, { param: 'response_id' });
  return describeResponse(run, () => {
    const { answer } = run.settings;
    const format = isObject(answer) ? createResponseFormat(answer) : undefined;
    return createCompletionResult(route.context, run, format, (text) => text);
  });
}
