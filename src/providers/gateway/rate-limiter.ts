// Rate limiter: token buckets for requests and tokens, shared in the process by model, first come, first served.
import { FairleadError } from '../../core/index.ts';
import type { Clock } from './clock.ts';

/** Limits per minute; an absent limit does not apply. */
export type RateLimits = { readonly requestsPerMinute?: number; readonly tokensPerMinute?: number };

/** The rate limiter of one model. */
export interface RateLimiter {
  /** Sets the limits; the latest call applies to all users of this limiter. */
  setLimits(limits: RateLimits): void;
  /** Waits for the turn of a request and takes its tokens. Throws at once if the hold is longer than `most`. */
  acquire(tokens: number, most: number, signal: AbortSignal): Promise<void>;
  /** Corrects the estimate with the actual count. */
  reconcile(taken: number, used: number): void;
  /** Holds all requests for a while after a rate limit error of the provider. */
  block(ms: number): void;
  /** True if tokens are limited; otherwise no estimate is needed. */
  readonly countsTokens: boolean;
}

/** After a hold, waiting requests start one by one with this gap, so that they do not hit the next limit together. */
const minGapMs = 250;
const rampMs = 10_000;

/** Seconds of the request rate that may be used in one burst. */
const burstSeconds = 10;

type Waiter = {
  readonly tokens: number;
  readonly maxWaitMs: number;
  readonly admit: () => void;
  readonly fail: (error: unknown) => void;
};

/** Creates a limiter for one model. */
export function createProviderRateLimiter(name: string, clock: Clock): RateLimiter {
  const requests = createTokenBucket(clock);
  const tokens = createTokenBucket(clock);
  const queue: Waiter[] = [];
  let heldUntil = Number.NEGATIVE_INFINITY;
  let nextAt = Number.NEGATIVE_INFINITY;
  let careful = false;
  let cancel: (() => void) | undefined;

  const wait = (need: number): number =>
    Math.max(heldUntil - clock.now(), nextAt - clock.now(), requests.waitMs(1), tokens.waitMs(need));

  function spend(need: number): void {
    requests.consume(1);
    tokens.consume(need);
    careful &&= queue.length > 0 || clock.now() < heldUntil + rampMs;
    nextAt = careful ? clock.now() + minGapMs : Number.NEGATIVE_INFINITY;
  }

  function serve(): void {
    cancel?.();
    cancel = undefined;
    for (let head = queue[0]; head; head = queue[0]) {
      const ms = wait(head.tokens);
      if (ms > 0) {
        cancel = clock.timer(ms, serve, true);
        return;
      }
      queue.shift();
      spend(head.tokens);
      head.admit();
    }
  }

  function drop(waiter: Waiter, reason: unknown): void {
    const place = queue.indexOf(waiter);
    if (place < 0) return;
    queue.splice(place, 1);
    waiter.fail(reason);
    serve();
  }

  async function stand(need: number, most: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter: Waiter = { tokens: need, maxWaitMs: most, admit: resolve, fail: reject };
    const leave = (): void => drop(waiter, signal.reason);
    queue.push(waiter);
    signal.addEventListener('abort', leave, { once: true });
    if (queue.length === 1) serve();
    try {
      await promise;
    } finally {
      signal.removeEventListener('abort', leave);
    }
  }

  return {
    setLimits({ requestsPerMinute, tokensPerMinute }) {
      if (requestsPerMinute !== undefined) requests.setRate(requestsPerMinute, (requestsPerMinute * burstSeconds) / 60);
      if (tokensPerMinute !== undefined) tokens.setRate(tokensPerMinute, tokensPerMinute);
      serve();
    },
    async acquire(need, most, signal) {
      if (heldUntil - clock.now() > most) throw rateLimitedError(name, heldUntil - clock.now());
      if (queue.length > 0 || wait(need) > 0) return stand(need, most, signal);
      spend(need);
    },
    reconcile: (taken, used) => tokens.consume(used - taken),
    block(ms) {
      heldUntil = Math.max(heldUntil, clock.now() + ms);
      careful = true;
      const left = heldUntil - clock.now();
      for (const waiter of queue.filter((each) => each.maxWaitMs < left)) drop(waiter, rateLimitedError(name, left));
      serve();
    },
    get countsTokens() {
      return tokens.isLimited;
    },
  };
}

/** The error for a limit that is too long to wait for. */
export const rateLimitedError = (name: string, ms: number, cause?: FairleadError): FairleadError =>
  new FairleadError(
    'provider/rate-limited',
    `${name} is limiting how much may be asked and wants no request before ${formatTimeAfter(ms)} (in ${formatDelay(ms)}).`,
    {
      blame: 'provider',
      afterMs: ms,
      hint: 'Go on after that time, or name another model to fall back on.',
      ...(cause ? { cause } : {}),
    },
  );

const formatTimeAfter = (ms: number): string => new Date(Date.now() + ms).toISOString().slice(0, 19).replace('T', ' ');

const formatDelay = (ms: number): string =>
  ms < 120_000 ? `${Math.ceil(ms / 1000)} s` : `${Math.ceil(ms / 60_000)} min`;

type TokenBucket = {
  setRate(perMinute: number, capacity: number): void;
  waitMs(need: number): number;
  consume(amount: number): void;
  readonly isLimited: boolean;
};

/** A token bucket. A request larger than the capacity waits until it is full, and the rest is owed. */
function createTokenBucket(clock: Clock): TokenBucket {
  let perMs = Number.POSITIVE_INFINITY;
  let capacity = Number.POSITIVE_INFINITY;
  let level = Number.POSITIVE_INFINITY;
  let since = clock.now();

  function fill(): void {
    const now = clock.now();
    if (perMs !== Number.POSITIVE_INFINITY) level = Math.min(capacity, level + (now - since) * perMs);
    since = now;
  }

  return {
    setRate(perMinute, size) {
      fill();
      perMs = perMinute / 60_000;
      capacity = Math.max(1, size);
      level = Math.min(level, capacity);
    },
    waitMs(need) {
      if (perMs === Number.POSITIVE_INFINITY) return 0;
      fill();
      return (Math.min(need, capacity) - level) / perMs;
    },
    consume(amount) {
      if (perMs === Number.POSITIVE_INFINITY) return;
      fill();
      level = Math.min(capacity, level - amount);
    },
    get isLimited() {
      return perMs !== Number.POSITIVE_INFINITY;
    },
  };
}
