// The gateway around every model: waits, limits, retries, circuit, fallback and price. Outside it looks like any provider.
import { FairleadError, type Chunk, type Provider, type ModelRequest } from '../../core/index.ts';
import type { End, Patience } from './attempt.ts';
import { call, type Call, type Lane } from './call.ts';
import { systemClock, type Clock } from './clock.ts';
import { delayBefore, type RetryOptions } from './delay.ts';
import { finalError, movesOn, understood, usageOf, type Failed } from './errors.ts';
import { makeLimiter, type RateLimits } from './limiter.ts';
import type { CircuitOptions, makeCircuit } from './circuit.ts';
import type { Tries } from './retry.ts';
import { shared, sharedState, type GatewayState } from './state.ts';
import { weave, type Road } from './weave.ts';
import { costOfAnswer, dearest, type PriceBook } from '../prices.ts';

/** How a gateway behaves; what is absent has a default. */
export type GatewayOptions = {
  /** Three retries after 1, 2 and 4 s, each and up to one second more; a wait the provider asks for is kept up to 60 s. */
  readonly retry?: Partial<RetryOptions>;
  /** Five minutes to the first chunk, three from one chunk to the next. */
  readonly patience?: Partial<Patience>;
  /** Five failures in a row open the circuit for 30 s. */
  readonly circuit?: Partial<CircuitOptions>;
  /** Requests and tokens in a minute, for everything in the process under the same key (the model, unless named). */
  readonly limits?: RateLimits & { readonly key?: string };
  /** Prices that come before the built-in ones. */
  readonly prices?: PriceBook;
  /** What is shared; the process's own unless given. */
  readonly state?: GatewayState;
  readonly clock?: Clock;
};

type Policies = {
  readonly tries: Tries;
  readonly makeCircuit: typeof makeCircuit;
};

type Settings = Required<Omit<GatewayOptions, 'retry' | 'patience' | 'circuit'>> & {
  readonly retry: RetryOptions;
  readonly patience: Patience;
  readonly circuit: CircuitOptions;
  readonly policies: Promise<Policies>;
};

/** A provider that tries the first of these until it gives up on it, then the next; each keeps its own limits and circuit. */
export function gateway(providers: Provider | readonly Provider[], options: GatewayOptions = {}): Provider {
  const chain: readonly Provider[] = 'stream' in providers ? [providers] : providers;
  const first = chain[0];
  if (!first)
    throw new FairleadError('provider/none', 'A gateway needs at least one provider.', {
      blame: 'user',
      hint: 'Name a model, such as "ollama/qwen3:8b".',
    });
  const retry: RetryOptions = { retries: 3, baseMs: 1000, jitterMs: 1000, mostMs: 60_000, ...options.retry };
  const settings: Settings = {
    retry,
    patience: { firstMs: 300_000, stallMs: 180_000, ...options.patience },
    circuit: { failures: 5, coolMs: 30_000, ...options.circuit },
    limits: options.limits ?? {},
    prices: options.prices ?? {},
    state: options.state ?? sharedState,
    clock: options.clock ?? systemClock,
    policies: load(retry),
  };
  // A failure to load is told to the first who asks, not to nobody.
  settings.policies.catch(() => {});
  const price = dearest(chain);
  const windows = chain.flatMap(({ contextWindow }) => contextWindow ?? []);
  return {
    family: first.family,
    model: first.model,
    ...(price ? { price } : {}),
    ...(windows.length ? { contextWindow: Math.min(...windows) } : {}),
    ...(chain.some(({ supportsImages }) => supportsImages === undefined)
      ? {}
      : { supportsImages: chain.every(({ supportsImages }) => supportsImages) }),
    stream: (request, signal) => weave(answer(chain, request, signal, settings)),
  };
}

async function load(retry: RetryOptions): Promise<Policies> {
  const { makeTries, makeCircuit } = await import('./policies.ts');
  return { tries: makeTries(retry), makeCircuit };
}

/** What one request has been through. */
type Course = {
  tried: number;
  failure: FairleadError | undefined;
  /** What failed tries have cost, where they said so. */
  usd: number;
  readonly left: Failed[];
};

/** The slow road: one try after the other, one model after the other; each try is handed over to be heard. */
async function* answer(
  chain: readonly Provider[],
  request: ModelRequest,
  signal: AbortSignal,
  settings: Settings,
): Road {
  const policies = await settings.policies;
  const { tries } = policies;
  const course: Course = { tried: 0, failure: undefined, usd: 0, left: [] };
  for (const [i, provider] of chain.entries()) {
    const lane = laneOf(provider, settings, policies);
    const last = i === chain.length - 1;
    const before = course.tried;
    try {
      for await (const one of tries()) {
        const { failure } = course;
        if (failure) yield { type: 'restarted', attempt: course.tried + 1, why: failure.message };
        const again = one.number > 0;
        const delayMs = failure && again ? delayBefore(one.number - 1, failure, settings.retry, settings.clock) : 0;
        course.tried++;
        let now: Call | undefined;
        try {
          now = await call(lane, request, signal, { delayMs, patient: again && last });
          const end = (yield now) as End;
          now.passed(end);
          one.passed();
          yield priced(end, provider, course, settings);
          return;
        } catch (error) {
          if (signal.aborted) throw error;
          course.failure = understood(error, lane.key, settings.retry.mostMs);
          course.usd += costOfAnswer(provider, provider.model, usageOf(error) ?? {}, settings.prices) ?? 0;
          now?.failed(course.failure);
          one.failed(course.failure);
        } finally {
          now?.close();
        }
      }
    } catch (error) {
      if (signal.aborted || !(error instanceof FairleadError)) throw error;
      course.left.push({ key: lane.key, error, tried: course.tried - before });
      if (last || !movesOn(error)) throw finalError(course.left);
    }
  }
}

function laneOf(provider: Provider, settings: Settings, { makeCircuit }: Policies): Lane {
  const { state, limits, clock, patience } = settings;
  const key = `${provider.family}/${provider.model}`;
  const limitKey = limits.key ?? key;
  const limiter = shared(state.limiters, limitKey, () => makeLimiter(limitKey, clock));
  const circuit = shared(state.circuits, key, () => makeCircuit(key, settings.circuit, clock));
  limiter.limit(limits);
  return { provider, key, limiter, circuit, patience, mostMs: settings.retry.mostMs, clock };
}

/** The end with what the whole request cost: by the model that answered, and with the tries before it. */
function priced(end: End, provider: Provider, { usd }: Course, { prices }: Settings): Chunk {
  const cost = end.usd ?? costOfAnswer(provider, end.model, end.usage, prices);
  return cost === undefined ? end : { ...end, usd: cost + usd };
}
