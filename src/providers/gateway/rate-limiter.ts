// Rate limiter: token buckets for requests and tokens, shared in the process by model, in the order of arrival.
import { FairleadError, estimateTokens, modelText, type Message, type ModelRequest } from '../../core/index.ts';
import type { Clock } from './clock.ts';

/** Limits per minute; an absent limit does not apply. */
export type RateLimits = { readonly requestsPerMinute?: number; readonly tokensPerMinute?: number };

/** The rate limiter of one model. */
export interface RateLimiter {
  /** Sets the limits; the latest call applies to all users of this limiter. */
  setLimits(limits: RateLimits): void;
  /** Estimates how long `acquire` would wait, in milliseconds; 0 if it would throw. */
  estimateWaitMs(request: ModelRequest, maxWaitMs: number): number;
  /** Waits until the request may start and returns its reserved tokens. Throws at once if the block is longer than `maxWaitMs`. */
  acquire(request: ModelRequest, maxWaitMs: number, signal: AbortSignal): Promise<number>;
  /** Replaces the reserved tokens by the used ones. */
  reconcile(reserved: number, used: number): void;
  /** Blocks all requests for a while after a rate limit error of the provider. */
  block(ms: number): void;
}

/** After a block, waiting requests start one by one with this gap, so that they do not exceed the next limit together. */
const minGapMs = 250;
const rampMs = 10_000;

/** Seconds of the request rate that may be used in one burst. */
const burstSeconds = 10;

type Waiter = {
  readonly tokens: number;
  readonly maxWaitMs: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
};

/** Creates a limiter for one model. */
export function createProviderRateLimiter(name: string, clock: Clock): RateLimiter {
  const requestBucket = createTokenBucket(clock);
  const tokenBucket = createTokenBucket(clock);
  const queue: Waiter[] = [];
  let blockedUntil = Number.NEGATIVE_INFINITY;
  let nextStartAt = Number.NEGATIVE_INFINITY;
  let isRamping = false;
  let cancelTimer: (() => void) | undefined;

  function waitMs(tokens: number): number {
    const now = clock.now();
    return Math.max(blockedUntil - now, nextStartAt - now, requestBucket.waitMs(1), tokenBucket.waitMs(tokens));
  }

  function consume(tokens: number): void {
    requestBucket.consume(1);
    tokenBucket.consume(tokens);
    isRamping &&= queue.length > 0 || clock.now() < blockedUntil + rampMs;
    nextStartAt = isRamping ? clock.now() + minGapMs : Number.NEGATIVE_INFINITY;
  }

  function startWaiting(): void {
    cancelTimer?.();
    cancelTimer = undefined;
    for (let first = queue[0]; first; first = queue[0]) {
      const ms = waitMs(first.tokens);
      if (ms > 0) {
        cancelTimer = clock.timer(ms, startWaiting, true);
        return;
      }
      queue.shift();
      consume(first.tokens);
      first.resolve();
    }
  }

  function remove(waiter: Waiter, reason: unknown): void {
    const index = queue.indexOf(waiter);
    if (index < 0) return;
    queue.splice(index, 1);
    waiter.reject(reason);
    startWaiting();
  }

  async function enqueue(tokens: number, maxWaitMs: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter: Waiter = { tokens, maxWaitMs, resolve, reject };
    const onAbort = (): void => remove(waiter, signal.reason);
    queue.push(waiter);
    signal.addEventListener('abort', onAbort, { once: true });
    if (queue.length === 1) startWaiting();
    try {
      await promise;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  return {
    setLimits({ requestsPerMinute, tokensPerMinute }) {
      if (requestsPerMinute !== undefined)
        requestBucket.setRate(requestsPerMinute, (requestsPerMinute * burstSeconds) / 60);
      if (tokensPerMinute !== undefined) tokenBucket.setRate(tokensPerMinute, tokensPerMinute);
      startWaiting();
    },
    estimateWaitMs(request, maxWaitMs) {
      const now = clock.now();
      if (blockedUntil - now > maxWaitMs) return 0;
      const tokens = tokenBucket.isLimited ? estimateRequestTokens(request) : 0;
      return Math.max(
        0,
        blockedUntil - now + (isRamping ? queue.length * minGapMs : 0),
        nextStartAt - now,
        requestBucket.waitMs(1, queue.length),
        tokenBucket.waitMs(tokens, tokenBucket.isLimited ? sumTokens(queue) : 0),
      );
    },
    async acquire(request, maxWaitMs, signal) {
      const blockedMs = blockedUntil - clock.now();
      if (blockedMs > maxWaitMs) throw rateLimitedError(name, blockedMs);
      const tokens = tokenBucket.isLimited ? estimateRequestTokens(request) : 0;
      if (queue.length > 0 || waitMs(tokens) > 0) await enqueue(tokens, maxWaitMs, signal);
      else consume(tokens);
      return tokens;
    },
    reconcile: (reserved, used) => tokenBucket.consume(used - reserved),
    block(ms) {
      blockedUntil = Math.max(blockedUntil, clock.now() + ms);
      isRamping = true;
      const blockedMs = blockedUntil - clock.now();
      for (const waiter of queue.filter((each) => each.maxWaitMs < blockedMs))
        remove(waiter, rateLimitedError(name, blockedMs));
      startWaiting();
    },
  };
}

const sumTokens = (waiters: readonly Waiter[]): number => waiters.reduce((sum, { tokens }) => sum + tokens, 0);

type TokenCount = { readonly length: number; readonly tokens: number };

/** Token counts by history. Versions of a history share their items, and each is at least as long as the previous one. */
const countsByHistory = new WeakMap<readonly Message[], TokenCount>();

/** Estimates the tokens of a request; each message is counted once. */
function estimateRequestTokens({ system, tools, messages, settings }: ModelRequest): number {
  const known = countsByHistory.get(messages.items);
  let { length, tokens } = known && known.length <= messages.length ? known : { length: 0, tokens: 0 };
  for (; length < messages.length; length++) tokens += estimateTokens(modelText(messages.items[length] as Message));
  countsByHistory.set(messages.items, { length, tokens });
  return tokens + estimateTokens(system) + estimateTokens(JSON.stringify(tools)) + (settings.maxOutputTokens ?? 0);
}

/** Formats limits: `60 requests and 1000 tokens per minute`; undefined if there are none. */
export function formatRateLimits({ requestsPerMinute, tokensPerMinute }: RateLimits): string | undefined {
  const parts = [
    ...(requestsPerMinute === undefined ? [] : [`${requestsPerMinute} requests`]),
    ...(tokensPerMinute === undefined ? [] : [`${tokensPerMinute} tokens`]),
  ];
  return parts.length === 0 ? undefined : `${parts.join(' and ')} per minute`;
}

/** The error for a limit that is too long to wait for. */
export const rateLimitedError = (name: string, ms: number, cause?: FairleadError): FairleadError =>
  new FairleadError(
    'provider/rate-limited',
    `${name} is rate limited and accepts no request before ${formatTimeAfter(ms)} (in ${formatDelay(ms)}).`,
    {
      blame: 'provider',
      afterMs: ms,
      hint: 'Retry after that time, or configure a fallback model.',
      ...(cause ? { cause } : {}),
    },
  );

const formatTimeAfter = (ms: number): string => new Date(Date.now() + ms).toISOString().slice(0, 19).replace('T', ' ');

const formatDelay = (ms: number): string =>
  ms < 120_000 ? `${Math.ceil(ms / 1000)} s` : `${Math.ceil(ms / 60_000)} min`;

type TokenBucket = {
  setRate(perMinute: number, capacity: number): void;
  /** The wait until `need` is available, after what was requested `before` it. */
  waitMs(need: number, before?: number): number;
  consume(amount: number): void;
  readonly isLimited: boolean;
};

/** Creates a token bucket. A request larger than the capacity waits until it is full; then the level is negative. */
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
    waitMs(need, before = 0) {
      if (perMs === Number.POSITIVE_INFINITY) return 0;
      fill();
      return (Math.min(need, capacity) + before - level) / perMs;
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
