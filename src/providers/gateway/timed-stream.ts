// One attempt with timeouts: ends it if the first chunk or a later chunk does not arrive in time, even if the provider ignores its signal.
import { FairleadError, type Chunk, type Provider, type ModelRequest } from '../../core/index.ts';
import {
  truncatedResponseError,
  stalledResponseError,
  responseTimeoutError,
  type ProviderInfo,
} from '../http/errors.ts';
import type { Clock } from './clock.ts';

/** Timeouts for the first chunk and between chunks. */
export type StreamTimeouts = { readonly firstMs: number; readonly stallMs: number };

/** Options of an attempt. */
export type TimedStreamOptions = {
  readonly providerInfo: ProviderInfo;
  readonly timeouts: StreamTimeouts;
  readonly clock: Clock;
};

/** The last chunk of a response. */
export type EndChunk = Chunk & { readonly type: 'end' };

/** Callbacks for the next chunk; exactly one is called. */
export type ChunkListener = {
  /** A chunk before the end. */
  readonly onChunk: (next: IteratorYieldResult<Chunk>) => void;
  readonly onEnd: (end: EndChunk) => void;
  /** The stream ended early, failed, stalled or was aborted. */
  readonly onError: (error: unknown) => void;
};

/** A response being streamed. */
export interface TimedStream {
  /** Waits for the next chunk. Uses callbacks instead of promises, because every chunk takes this path. */
  readNext(listener: ChunkListener): void;
  /** Releases the provider; aborts its signal if it has not ended. */
  close(): void;
}

/** A timer that fires this late was delayed itself: chunks that arrived in the meantime are read first. */
const graceMs = 1000;

/** Created once: an error object costs more than the rest of the attempt. */
const abandonedError = new FairleadError('run/cancelled', 'Nobody listens to this answer any more.', {
  blame: 'harness',
});

const noop = (): void => {};

type Watchdog = {
  /** Starts waiting for a chunk. */
  startWait(): void;
  /** A chunk arrived: the consumer may take its time. */
  endWait(): void;
  stop(): void;
};

/** Uses one timer, re-armed only when it fires: a chunk costs one clock read. */
function createWatchdog(patience: StreamTimeouts, clock: Clock, expired: (first: boolean) => void): Watchdog {
  let since = clock.now();
  let waiting = false;
  let first = true;
  let due = 0;
  let cancel = arm(patience.firstMs);

  function arm(ms: number): () => void {
    due = clock.now() + ms;
    return clock.timer(ms, look, false);
  }

  function look(): void {
    const now = clock.now();
    const limit = first ? patience.firstMs : patience.stallMs;
    const left = waiting ? since + limit - now : limit;
    if (left > 0) cancel = arm(left);
    else if (now - due > graceMs) cancel = arm(graceMs);
    else expired(first);
  }

  return {
    startWait() {
      since = clock.now();
      waiting = true;
    },
    endWait() {
      waiting = false;
      if (!first) return;
      first = false;
      cancel();
      cancel = arm(patience.stallMs);
    },
    stop: () => cancel(),
  };
}

/** Starts the stream. The consumer is released even if the provider ignores its signal. */
export function openTimedStream(
  provider: Provider,
  request: ModelRequest,
  signal: AbortSignal,
  options: TimedStreamOptions,
): TimedStream {
  const { providerInfo, timeouts, clock } = options;
  const own = new AbortController();
  let fail: (reason: unknown) => void = noop;
  let ended = false;
  const give = (reason: unknown): void => {
    fail(reason);
    own.abort(reason);
  };
  const quit = (): void => give(signal.reason);
  const eye = createWatchdog(timeouts, clock, (first) =>
    give(
      first
        ? responseTimeoutError(providerInfo, timeouts.firstMs)
        : stalledResponseError(providerInfo, timeouts.stallMs),
    ),
  );
  signal.addEventListener('abort', quit, { once: true });
  const chunks = provider.stream(request, own.signal)[Symbol.asyncIterator]();
  return {
    readNext(listener) {
      fail = listener.onError;
      eye.startWait();
      // Errors after the abort are already reported or have no consumer.
      const took = (next: IteratorResult<Chunk, unknown>): void => {
        eye.endWait();
        if (own.signal.aborted) return;
        fail = noop;
        if (next.done) listener.onError(truncatedResponseError(providerInfo));
        else if (next.value.type !== 'end') listener.onChunk(next);
        else {
          ended = true;
          listener.onEnd(next.value);
        }
      };
      const broke = (error: unknown): void => {
        if (own.signal.aborted) return;
        fail = noop;
        listener.onError(error);
      };
      chunks.next().then(took, broke);
    },
    close() {
      eye.stop();
      signal.removeEventListener('abort', quit);
      if (!ended) own.abort(abandonedError);
      // Not awaited: a hanging provider would block here.
      chunks.return?.()?.catch(() => {});
    },
  };
}
