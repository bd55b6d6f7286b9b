// One attempt at one model, watched: a first chunk that does not come and a stream that stands still end it, whatever the provider does.
import { FairleadError, type Chunk, type Provider, type ModelRequest } from '../../core/index.ts';
import {
  truncatedResponseError,
  stalledResponseError,
  responseTimeoutError,
  type ProviderInfo,
} from '../http/errors.ts';
import type { Clock } from './clock.ts';

/** How long to wait for the first chunk, and for each that follows. */
export type StreamTimeouts = { readonly firstMs: number; readonly stallMs: number };

/** What an attempt is given beside its request. */
export type TimedStreamOptions = {
  readonly providerInfo: ProviderInfo;
  readonly timeouts: StreamTimeouts;
  readonly clock: Clock;
};

/** The last chunk of an answer. */
export type EndChunk = Chunk & { readonly type: 'end' };

/** Who hears the next chunk of an attempt: exactly one of these is called. */
export type ChunkListener = {
  /** A chunk as the provider gave it, before the end. */
  readonly onChunk: (next: IteratorYieldResult<Chunk>) => void;
  readonly onEnd: (end: EndChunk) => void;
  /** The stream ended without an end, failed, stood still or was aborted. */
  readonly onError: (error: unknown) => void;
};

/** An answer being heard. */
export interface TimedStream {
  /** Waits for the next chunk. Called back rather than promised: this is the one path that every chunk of every answer takes. */
  readNext(listener: ChunkListener): void;
  /** Lets go of the provider; if it has not come to its end, its signal is aborted. */
  close(): void;
}

/** A watch that fires this much too late was itself held up: what came meanwhile gets the chance to be read. */
const graceMs = 1000;

/** Made once: an error costs more than all the rest of an attempt. */
const abandonedError = new FairleadError('run/cancelled', 'Nobody listens to this answer any more.', {
  blame: 'harness',
});

const noop = (): void => {};

type Watchdog = {
  /** The wait for a chunk begins. */
  startWait(): void;
  /** A chunk is here: whoever takes it may take their time. */
  endWait(): void;
  stop(): void;
};

/** Watches with one timer, set again only when it fires: a chunk costs a look at the clock. */
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

/** Asks a provider. It may ignore its signal: the one who listens is let go all the same. */
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
      // What comes after the abort has been told already, or nobody listens to it.
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
      // Not awaited: a provider that hangs would hang us too.
      chunks.return?.()?.catch(() => {});
    },
  };
}
