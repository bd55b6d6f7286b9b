// The gateway around providers: timeouts, rate limits, retries, circuit breaker, fallback and cost. Implements Provider.
import { FairleadError, type Chunk, type Provider, type ModelRequest, type Usage } from '../../core/index.ts';
import type { EndChunk, StreamTimeouts } from './timed-stream.ts';
import { startProviderCall, type ProviderCall, type GatewayEndpoint } from './provider-call.ts';
import { systemClock, type Clock } from './clock.ts';
import { backoffDelay, type RetryOptions } from './backoff.ts';
import {
  finalError,
  shouldFallBack,
  normalizeProviderError,
  usageOfError,
  addUsages,
  type FailedModel,
} from './errors.ts';
import { createProviderRateLimiter, type RateLimits } from './rate-limiter.ts';
import type { CircuitBreakerOptions, createCircuitBreaker } from './circuit-breaker.ts';
import type { RetryPolicy } from './retry.ts';
import { getOrCreate, sharedState, type GatewayState } from './state.ts';
import { mergeStream, type AttemptGenerator } from './merge-stream.ts';
import { responseCost, maxPrice, type PriceBook } from '../prices.ts';

/** Options of a gateway. */
export type GatewayOptions = {
  /** Default: three retries after 1, 2 and 4 s plus up to 1 s jitter; delays a provider asks for are kept up to 60 s. */
  readonly retry?: Partial<RetryOptions>;
  /** Default: 5 minutes to the first chunk, 3 minutes between chunks. */
  readonly timeouts?: Partial<StreamTimeouts>;
  /** Default: 5 consecutive failures open the circuit for 30 s. */
  readonly circuit?: Partial<CircuitBreakerOptions>;
  /** Requests and tokens per minute, shared in the process by key (default: the model). */
  readonly limits?: RateLimits & { readonly key?: string };
  /** Prices that override the built-in ones. */
  readonly prices?: PriceBook;
  /** The shared state; default: that of the process. */
  readonly state?: GatewayState;
  readonly clock?: Clock;
};

type LoadedPolicies = {
  readonly retryPolicy: RetryPolicy;
  readonly createCircuitBreaker: typeof createCircuitBreaker;
};

type GatewaySettings = Required<Omit<GatewayOptions, 'retry' | 'timeouts' | 'circuit'>> & {
  readonly retry: RetryOptions;
  readonly timeouts: StreamTimeouts;
  readonly circuit: CircuitBreakerOptions;
  readonly policies: Promise<LoadedPolicies>;
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
  const retry: RetryOptions = { retries: 3, baseMs: 1000, jitterMs: 1000, maxMs: 60_000, ...options.retry };
  const settings: GatewaySettings = {
    retry,
    timeouts: { firstMs: 300_000, stallMs: 180_000, ...options.timeouts },
    circuit: { failures: 5, coolMs: 30_000, ...options.circuit },
    limits: options.limits ?? {},
    prices: options.prices ?? {},
    state: options.state ?? sharedState,
    clock: options.clock ?? systemClock,
    policies: loadPolicies(retry),
  };
  // A load failure is reported to the first request.
  settings.policies.catch(() => {});
  const price = maxPrice(chain);
  const windows = chain.flatMap(({ contextWindow }) => contextWindow ?? []);
  return {
    family: first.family,
    model: first.model,
    ...(price ? { price } : {}),
    ...(windows.length ? { contextWindow: Math.min(...windows) } : {}),
    ...(chain.some(({ supportsImages }) => supportsImages === undefined)
      ? {}
      : { supportsImages: chain.every(({ supportsImages }) => supportsImages) }),
    stream: (request, signal) => mergeStream(runAttempts(chain, request, signal, settings)),
  };
}

async function loadPolicies(retry: RetryOptions): Promise<LoadedPolicies> {
  const { createRetryPolicy, createCircuitBreaker } = await import('./policies.ts');
  return { retryPolicy: createRetryPolicy(retry), createCircuitBreaker };
}

/** The progress of one request. */
type RequestProgress = {
  attempts: number;
  failure: FairleadError | undefined;
  /** The cost of failed attempts, as far as known. */
  usd: number;
  usage: Usage | undefined;
  readonly failedModels: FailedModel[];
};

/** The retry loop: attempts and models one after the other; yields each attempt to the caller. */
async function* runAttempts(
  chain: readonly Provider[],
  request: ModelRequest,
  signal: AbortSignal,
  settings: GatewaySettings,
): AttemptGenerator {
  const policies = await settings.policies;
  const { retryPolicy } = policies;
  const course: RequestProgress = { attempts: 0, failure: undefined, usd: 0, usage: undefined, failedModels: [] };
  for (const [i, provider] of chain.entries()) {
    const lane = createEndpoint(provider, settings, policies);
    const last = i === chain.length - 1;
    const before = course.attempts;
    try {
      for await (const one of retryPolicy()) {
        const { failure } = course;
        if (failure) yield { type: 'restarted', attempt: course.attempts + 1, why: failure.message };
        const again = one.number > 0;
        const delayMs = failure && again ? backoffDelay(one.number - 1, failure, settings.retry, settings.clock) : 0;
        course.attempts++;
        let now: ProviderCall | undefined;
        try {
          now = await startProviderCall(lane, request, signal, { delayMs, patient: again && last });
          const end = (yield now) as EndChunk;
          now.succeed(end);
          one.succeed();
          yield withCost(end, provider, course, settings);
          return;
        } catch (error) {
          if (signal.aborted) throw error;
          course.failure = normalizeProviderError(error, lane.key, settings.retry.maxMs);
          const usage = usageOfError(error);
          if (usage) {
            course.usage = addUsages(course.usage ?? {}, usage);
            course.usd += course.failure.usd ?? responseCost(provider, provider.model, usage, settings.prices) ?? 0;
          }
          now?.fail(course.failure);
          one.fail(course.failure);
        } finally {
          now?.close();
        }
      }
    } catch (error) {
      if (signal.aborted || !(error instanceof FairleadError)) throw error;
      course.failedModels.push({ key: lane.key, error, attempts: course.attempts - before });
      if (last || !shouldFallBack(error)) throw finalError(course.failedModels, course);
    }
  }
}

function createEndpoint(
  provider: Provider,
  settings: GatewaySettings,
  { createCircuitBreaker }: LoadedPolicies,
): GatewayEndpoint {
  const { state, limits, clock, timeouts } = settings;
  const key = `${provider.family}/${provider.model}`;
  const limitKey = limits.key ?? key;
  const limiter = getOrCreate(state.limiters, limitKey, () => createProviderRateLimiter(limitKey, clock));
  const circuit = getOrCreate(state.circuits, key, () => createCircuitBreaker(key, settings.circuit, clock));
  limiter.setLimits(limits);
  return { provider, key, limiter, circuit, timeouts, maxWaitMs: settings.retry.maxMs, clock };
}

/** Adds the cost of the response and of failed attempts to the end chunk. */
function withCost(end: EndChunk, provider: Provider, { usd }: RequestProgress, { prices }: GatewaySettings): Chunk {
  const cost = end.usd ?? responseCost(provider, end.model, end.usage, prices);
  return cost === undefined ? end : { ...end, usd: cost + usd };
}
