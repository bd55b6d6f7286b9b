// The gateway around providers: timeouts, rate limits, retries, circuit breaker, fallback and cost. Implements Provider.
import {
  defaultTenant,
  FairleadError,
  isValidUsage,
  type Chunk,
  type Provider,
  type ModelRequest,
  type RetryNotice,
  type Usage,
  minOf,
} from '../../core/index.ts';
import { responseCost, maxPrice, type PriceBook } from '../prices.ts';
import {
  createCircuitBreaker,
  type CircuitBreaker,
  type CircuitBreakerOptions,
  type CircuitState,
} from './circuit-breaker.ts';
import { sleep, systemClock, type Clock } from './clock.ts';
import {
  addUsages,
  backoffDelay,
  finalError,
  isRetryable,
  normalizeProviderError,
  shouldFallBack,
  usageOfError,
  type FailedModel,
  type RetryOptions,
} from './retry.ts';
import { selectRateLimits, type RateLimitRule } from './rate-limit-rules.ts';
import { createProviderRateLimiter, formatRateLimits, type RateLimiter, type RateLimits } from './rate-limiter.ts';
import { openTimedStream, type EndChunk, type StreamTimeouts } from './timed-stream.ts';

/** Options of a gateway. */
export type GatewayOptions = {
  /** Default: three retries after 1, 2 and 4 s plus up to 1 s jitter; delays a provider asks for are respected up to 60 s. */
  readonly retry?: Partial<RetryOptions>;
  /** Default: 5 minutes to the first chunk, 3 minutes between chunks, 30 minutes for a response that is not streamed. */
  readonly timeouts?: Partial<StreamTimeouts>;
  /** Default: 5 consecutive failures open the circuit for 30 s. */
  readonly circuit?: Partial<CircuitBreakerOptions>;
  /** Requests and tokens per minute, shared in the process by key (default: the model). */
  readonly limits?: RateLimits & { readonly key?: string };
  /** Requests and tokens per minute by provider, model and tenant, shared in the process; in addition to `limits`. */
  readonly rateLimits?: readonly RateLimitRule[];
  /** The tenant that the requests are for; `default` by default. */
  readonly tenant?: string;
  /** Prices that override the built-in ones. */
  readonly prices?: PriceBook;
  /** The shared state; default: that of the process. */
  readonly state?: GatewayState;
  /** The clock of waits and timeouts; for tests. */
  readonly clock?: Clock;
};

type GatewaySettings = Required<Omit<GatewayOptions, 'retry' | 'timeouts' | 'circuit'>> & {
  readonly retry: RetryOptions;
  readonly timeouts: StreamTimeouts;
  readonly circuit: CircuitBreakerOptions;
};

/** Creates a provider that tries the first model, then falls back to the next; each has its own limits and circuit. */
export function gateway(providers: Provider | readonly Provider[], options: GatewayOptions = {}): Provider {
  const chain: readonly Provider[] = 'stream' in providers ? [providers] : providers;
  const first = chain[0];
  if (!first)
    throw new FairleadError('provider/none', 'A gateway needs at least one provider.', {
      blame: 'user',
      hint: 'Name a model, such as "ollama/qwen3:8b".',
    });
  const settings: GatewaySettings = {
    retry: { retries: 3, baseMs: 1000, jitterMs: 1000, maxMs: 60_000, ...options.retry },
    timeouts: { firstMs: 300_000, stallMs: 180_000, completeMs: 1_800_000, ...options.timeouts },
    circuit: { failures: 5, coolMs: 30_000, ...options.circuit },
    limits: options.limits ?? {},
    rateLimits: options.rateLimits ?? [],
    tenant: options.tenant ?? defaultTenant,
    prices: options.prices ?? {},
    state: options.state ?? sharedGatewayState,
    clock: options.clock ?? systemClock,
  };
  const price = maxPrice(chain);
  const windows = chain.flatMap(({ contextWindow }) => contextWindow ?? []);
  return {
    family: first.family,
    model: first.model,
    ...(price ? { price } : {}),
    ...(windows.length ? { contextWindow: minOf(windows) } : {}),
    ...(chain.some(({ usesChatTemplate }) => usesChatTemplate) ? { usesChatTemplate: true } : {}),
    ...(chain.some(({ supportsImages }) => supportsImages === undefined)
      ? {}
      : { supportsImages: chain.every(({ supportsImages }) => supportsImages) }),
    stream: (request, signal) => streamWithFallback(chain, request, signal, settings),
  };
}

/** The retry loop: attempts at each model until one succeeds or its error is final, then the next model. */
async function* streamWithFallback(
  chain: readonly Provider[],
  request: ModelRequest,
  signal: AbortSignal,
  settings: GatewaySettings,
): AsyncGenerator<Chunk, void, undefined> {
  const { retry, clock, prices } = settings;
  const failedModels: FailedModel[] = [];
  let failure: FairleadError | undefined;
  let failedAt = '';
  let failedUsage: Usage | undefined;
  let failedUsd = 0;
  let attempts = 0;
  for (const [index, provider] of chain.entries()) {
    const isLastModel = index === chain.length - 1;
    const model = getModelState(provider, settings);
    let retries = 0;
    for (;;) {
      const waitMs = failure && retries > 0 ? backoffDelay(retries - 1, failure, retry, clock) : 0;
      if (failure)
        yield restartedChunk(failure, {
          attempt: attempts + 1,
          waitMs,
          failedAt,
          ...(retries > 0 ? { maxAttempts: attempts + 1 + retry.retries - retries } : {}),
        });
      attempts++;
      let admission: Admission | undefined;
      try {
        signal.throwIfAborted();
        if (waitMs > 0) await sleep(clock, waitMs, signal);
        const held = findHeldLimiter(model, request, retry.maxMs);
        if (held) yield heldChunk(held, provider, attempts);
        // Without another model, a retry waits for an open circuit instead of failing.
        admission = await admit(model, request, signal, { canRetry: retries > 0 && isLastModel, maxMs: retry.maxMs });
        const end = yield* openTimedStream(provider, request, signal, settings);
        admission.succeed(end);
        const usd = end.usd ?? responseCost(provider, end.model, end.usage, prices);
        yield usd === undefined ? end : { ...end, usd: usd + failedUsd };
        return;
      } catch (error) {
        if (signal.aborted) throw error;
        failure = normalizeProviderError(error, model.key, retry.maxMs);
        failedAt = provider.family;
        admission?.fail(failure);
        const usage = usageOfError(error);
        if (usage) {
          failedUsage = addUsages(failedUsage ?? {}, usage);
          failedUsd += failure.usd ?? responseCost(provider, provider.model, usage, prices) ?? 0;
        }
      } finally {
        admission?.abandon();
      }
      if (retries >= retry.retries || !isRetryable(failure, retry)) break;
      retries++;
    }
    failedModels.push({ key: model.key, error: failure, attempts: retries + 1 });
    if (isLastModel || !shouldFallBack(failure)) throw finalError(failedModels, { usage: failedUsage, usd: failedUsd });
  }
}

/** The chunk that announces another attempt: it withdraws the text so far, and says what failed and how long the wait is. */
function restartedChunk(
  { message, code }: FairleadError,
  { failedAt, ...next }: Pick<RetryNotice, 'attempt' | 'waitMs' | 'maxAttempts'> & { readonly failedAt: string },
): Chunk {
  return { type: 'restarted', ...next, code, provider: failedAt, why: message };
}

/** A shorter wait is not told. */
const minToldWaitMs = 1000;

type HeldLimiter = { readonly waitMs: number; readonly limits: RateLimits };

/** Returns the rate limit that delays a request the longest, if the user should be told about the wait. */
function findHeldLimiter({ limiters }: ModelState, request: ModelRequest, maxMs: number): HeldLimiter | undefined {
  const [first] = limiters
    .map(({ limiter, limits }) => ({ waitMs: limiter.estimateWaitMs(request, maxMs), limits }))
    .toSorted((a, b) => b.waitMs - a.waitMs);
  return first && first.waitMs >= minToldWaitMs ? first : undefined;
}

/** The chunk that announces that a rate limit delays a request; nothing failed. */
function heldChunk({ waitMs, limits }: HeldLimiter, { family }: Provider, attempt: number): Chunk {
  const why = formatRateLimits(limits) ?? 'an earlier request reached its limit';
  return { type: 'restarted', attempt, held: true, waitMs, code: 'provider/rate-limited', provider: family, why };
}

/** A limiter of a model: its own, which a rate limit error blocks, is the first. */
type ModelLimiter = { readonly limiter: RateLimiter; readonly limits: RateLimits };

type ModelState = {
  readonly key: string;
  readonly limiters: readonly [ModelLimiter, ...ModelLimiter[]];
  readonly circuit: CircuitBreaker;
};

function getModelState(provider: Provider, settings: GatewaySettings): ModelState {
  const { state, limits, rateLimits, tenant, circuit, clock } = settings;
  const { family, model } = provider;
  const key = `${family}/${model}`;
  const getLimiter = (name: string, own: RateLimits): ModelLimiter => {
    const limiter = getOrCreate(state.limiters, name, () => createProviderRateLimiter(key, clock));
    limiter.setLimits(own);
    return { limiter, limits: own };
  };
  const rules = rateLimits.length === 0 ? [] : selectRateLimits(rateLimits, { provider: family, model, tenant });
  return {
    key,
    limiters: [getLimiter(limits.key ?? key, limits), ...rules.map((rule) => getLimiter(rule.key, rule.limits))],
    circuit: getOrCreate(state.circuits, key, () => createCircuitBreaker(key, circuit, clock)),
  };
}

/** A request that circuit and rate limiter have admitted; only the first reported result counts. */
type Admission = {
  succeed(end: EndChunk): void;
  fail(error: FairleadError): void;
  /** The caller stopped reading: nothing is known about the model. */
  abandon(): void;
};

/** Waits until circuit and rate limiter admit a request. */
async function admit(
  { circuit, limiters }: ModelState,
  request: ModelRequest,
  signal: AbortSignal,
  { canRetry, maxMs }: { readonly canRetry: boolean; readonly maxMs: number },
): Promise<Admission> {
  const permit = circuit.acquire(canRetry);
  // The rate limiter can throw; that says nothing about the model.
  const reserved: number[] = [];
  let isSettled = false;
  const releaseTokens = (used?: number): void => {
    if (!isSettled)
      for (const [i, tokens] of reserved.entries()) limiters[i]?.limiter.reconcile(tokens, used ?? tokens);
    isSettled = true;
  };
  try {
    for (const { limiter } of limiters) reserved.push(await limiter.acquire(request, maxMs, signal));
  } catch (error) {
    permit.abandon();
    releaseTokens(0);
    throw error;
  }
  return {
    succeed({ usage }) {
      permit.succeed();
      releaseTokens(isValidUsage(usage) ? (usage.input ?? 0) + (usage.output ?? 0) : undefined);
    },
    fail(error) {
      permit.fail(error);
      if (error.code === 'provider/rate-limited' && (error.retry || error.afterMs !== undefined))
        limiters[0].limiter.block(error.afterMs ?? 1000);
      releaseTokens(0);
    },
    abandon() {
      permit.abandon();
      releaseTokens(0);
    },
  };
}

/** The rate limiters and circuits by model; shared by all gateways of a process, or of one test. */
export type GatewayState = {
  readonly limiters: Map<string, RateLimiter>;
  readonly circuits: Map<string, CircuitBreaker>;
};

/** Creates a separate state. */
export const createGatewayState = (): GatewayState => ({ limiters: new Map(), circuits: new Map() });

/** The state of the gateways that are given none: one for the process. */
export const sharedGatewayState: GatewayState = createGatewayState();

function getOrCreate<T>(map: Map<string, T>, key: string, create: () => T): T {
  const found = map.get(key);
  if (found !== undefined) return found;
  const created = create();
  map.set(key, created);
  return created;
}

/** The state of the circuit breaker of a model; `forMs` is how many milliseconds it stays open. */
export type BreakerState = { readonly model: string; readonly state: CircuitState; readonly forMs: number };

/** Returns the circuit states of this process by model. */
export const breakerStates = ({ circuits }: GatewayState = sharedGatewayState): readonly BreakerState[] =>
  [...circuits].map(([model, circuit]) => {
    const { state, remainingOpenMs } = circuit.status();
    return { model, state, forMs: remainingOpenMs };
  });
