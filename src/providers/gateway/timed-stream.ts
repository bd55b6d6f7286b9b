// One attempt with timeouts: ends it if the first chunk or a later chunk does not arrive in time, even if the provider ignores its signal.
import { FairleadError, type Chunk, type Provider, type ModelRequest } from '../../core/index.ts';
import { truncatedResponseError, stalledResponseError, responseTimeoutError } from '../http/errors.ts';
import type { Clock } from './clock.ts';

/** Timeouts for the first chunk, between chunks, and for a response that is not streamed. */
export type StreamTimeouts = { readonly firstMs: number; readonly stallMs: number; readonly completeMs: number };

/** Options of an attempt. */
export type TimedStreamOptions = { readonly timeouts: StreamTimeouts; readonly clock: Clock };

/** The last chunk of a response. */
export type EndChunk = Chunk & { readonly type: 'end' };

/** A response being streamed: yields the chunks before the end and returns the end. */
export type TimedStream = AsyncIterableIterator<Chunk, EndChunk, undefined>;

/** A timer that fires this late was delayed itself: chunks that arrived in the meantime are read first. */
const graceMs = 1000;

/** Created once: an error object costs more than the rest of the attempt. */
const abandonedError = new FairleadError('run/cancelled', 'The response is no longer needed.', { blame: 'harness' });

/**
 * Starts the stream. It releases the provider and its own timer at the end, at an error and at `return`.
 * Written without a generator, because every chunk takes this path.
 */
export function openTimedStream(
  provider: Provider,
  request: ModelRequest,
  signal: AbortSignal,
  { timeouts: limits, clock }: TimedStreamOptions,
): TimedStream {
  const timeouts = request.settings.stream === false ? { ...limits, firstMs: limits.completeMs } : limits;
  signal.throwIfAborted();
  const providerInfo = { name: provider.family, model: provider.model };
  const streamController = new AbortController();
  const chunks = provider.stream(request, streamController.signal)[Symbol.asyncIterator]();
  let resolve: (result: IteratorResult<Chunk, EndChunk>) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  let isClosed = false;

  function close(): void {
    isClosed = true;
    watchdog.stop();
    signal.removeEventListener('abort', onAbort);
    // Not awaited: a hanging provider would block here.
    chunks.return?.()?.catch(() => {});
  }

  function fail(error: unknown): void {
    if (isClosed) return;
    reject(error);
    streamController.abort(error);
    close();
  }

  function readNext(onResult: typeof resolve, onError: typeof reject): void {
    resolve = onResult;
    reject = onError;
    chunks.next().then(onNext, fail);
  }

  function onNext(next: IteratorResult<Chunk, unknown>): void {
    if (isClosed) return;
    watchdog.endWait();
    if (next.done) fail(truncatedResponseError(providerInfo));
    else if (next.value.type !== 'end') resolve(next);
    else {
      close();
      resolve({ done: true, value: next.value });
    }
  }

  const onAbort = (): void => fail(signal.reason);
  const watchdog = createWatchdog(timeouts, clock, (isFirst) =>
    fail(
      isFirst
        ? responseTimeoutError(providerInfo, timeouts.firstMs)
        : stalledResponseError(providerInfo, timeouts.stallMs),
    ),
  );
  signal.addEventListener('abort', onAbort, { once: true });
  return {
    next() {
      if (isClosed) return Promise.reject(streamController.signal.reason);
      watchdog.startWait();
      return new Promise(readNext);
    },
    return() {
      fail(abandonedError);
      return Promise.resolve({ done: true, value: undefined as never });
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

type Watchdog = {
  /** Starts waiting for a chunk. */
  startWait(): void;
  /** A chunk arrived: the time until the consumer asks for the next one does not count. */
  endWait(): void;
  stop(): void;
};

/** Creates a watchdog with one timer, set again only when it fires: a chunk costs one clock read. */
function createWatchdog(timeouts: StreamTimeouts, clock: Clock, onExpired: (isFirst: boolean) => void): Watchdog {
  let waitingSince = clock.now();
  let isWaiting = false;
  let isFirst = true;
  let dueAt = 0;
  let cancel = setTimer(timeouts.firstMs);

  function setTimer(ms: number): () => void {
    dueAt = clock.now() + ms;
    return clock.timer(ms, onTimer, false);
  }

  function onTimer(): void {
    const now = clock.now();
    const limit = isFirst ? timeouts.firstMs : timeouts.stallMs;
    const remainingMs = isWaiting ? waitingSince + limit - now : limit;
    if (remainingMs > 0) cancel = setTimer(remainingMs);
    else if (now - dueAt > graceMs) cancel = setTimer(graceMs);
    else onExpired(isFirst);
  }

  return {
    startWait() {
      waitingSince = clock.now();
      isWaiting = true;
    },
    endWait() {
      isWaiting = false;
      if (!isFirst) return;
      isFirst = false;
      cancel();
      cancel = setTimer(timeouts.stallMs);
    },
    stop: () => cancel(),
  };
}
