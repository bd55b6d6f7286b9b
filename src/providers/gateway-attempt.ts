// One attempt at one model, watched: a first chunk that does not come and a stream that stands still end it, whatever the provider does.
import type { Chunk, Provider, Request } from '../core/index.ts';
import { cutFault, stalledFault, timeoutFault, type Who } from './faults.ts';
import type { Clock } from './gateway-clock.ts';

/** How long to wait for the first chunk, and for each that follows. */
export type Patience = { readonly firstMs: number; readonly stallMs: number };

/** What an attempt is given beside its request. */
export type AttemptOptions = { readonly who: Who; readonly patience: Patience; readonly clock: Clock };

/** An answer being heard: its chunks one by one, up to the `end`. */
export interface Attempt {
  /** The next chunk; throws if the stream ends without an `end`, stands still, or is aborted. */
  next(): Promise<Chunk>;
  /** Ends it: the provider's signal is aborted. */
  close(): void;
}

/** A watch that fires this much too late was itself held up: what came meanwhile gets the chance to be read. */
const graceMs = 1000;

type Watch = {
  /** The wait for a chunk begins. */
  begin(): void;
  /** A chunk is here: whoever takes it may take their time. */
  end(): void;
  stop(): void;
};

/** Watches with one timer, set again only when it fires: a chunk costs a look at the clock. */
function watch(patience: Patience, clock: Clock, expired: (first: boolean) => void): Watch {
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
    begin() {
      since = clock.now();
      waiting = true;
    },
    end() {
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
export function attempt(provider: Provider, request: Request, signal: AbortSignal, options: AttemptOptions): Attempt {
  const { who, patience, clock } = options;
  const own = new AbortController();
  let fail: (reason: unknown) => void = () => {};
  const give = (reason: unknown): void => {
    fail(reason);
    own.abort(reason);
  };
  const quit = (): void => give(signal.reason);
  const eye = watch(patience, clock, (first) =>
    give(first ? timeoutFault(who, patience.firstMs) : stalledFault(who, patience.stallMs)),
  );
  signal.addEventListener('abort', quit, { once: true });
  const chunks = provider.stream(request, own.signal)[Symbol.asyncIterator]();
  return {
    next() {
      eye.begin();
      return new Promise<Chunk>((resolve, reject) => {
        fail = reject;
        const take = (next: IteratorResult<Chunk, unknown>): void => {
          eye.end();
          if (next.done) reject(cutFault(who));
          else resolve(next.value);
        };
        chunks.next().then(take, reject);
      });
    },
    close() {
      eye.stop();
      signal.removeEventListener('abort', quit);
      own.abort();
      // Not awaited: a provider that hangs would hang us too.
      chunks.return?.()?.catch(() => {});
    },
  };
}
