// One attempt at one model: delay, rate limiter, circuit breaker, stream, and usage accounting.
import { isValidUsage, type FairleadError, type Provider, type ModelRequest } from '../../core/index.ts';
import { openTimedStream, type TimedStream, type EndChunk, type StreamTimeouts } from './timed-stream.ts';
import type { CircuitBreaker } from './circuit-breaker.ts';
import { sleep, type Clock } from './clock.ts';
import type { RateLimiter } from './rate-limiter.ts';
import { estimateRequestTokens } from './estimate-tokens.ts';

/** A model and its shared state. */
export type GatewayEndpoint = {
  readonly provider: Provider;
  readonly key: string;
  readonly limiter: RateLimiter;
  readonly circuit: CircuitBreaker;
  readonly timeouts: StreamTimeouts;
  /** Max wait for the rate limiter. */
  readonly maxWaitMs: number;
  readonly clock: Clock;
};

/** An attempt in progress. */
export interface ProviderCall {
  readonly stream: TimedStream;
  succeed(end: EndChunk): void;
  fail(error: FairleadError): void;
  /** Releases everything; an attempt without a result counts as abandoned. */
  close(): void;
}

/** Starts an attempt when allowed. With `patient` it waits for an open circuit. */
export async function startProviderCall(
  lane: GatewayEndpoint,
  request: ModelRequest,
  signal: AbortSignal,
  { delayMs, patient }: { readonly delayMs: number; readonly patient: boolean },
): Promise<ProviderCall> {
  const { provider, limiter, clock, timeouts } = lane;
  signal.throwIfAborted();
  if (delayMs > 0) await sleep(clock, delayMs, signal);
  const passage = lane.circuit.acquire(patient);
  const taken = limiter.countsTokens ? estimateRequestTokens(request) : 0;
  try {
    await limiter.acquire(taken, lane.maxWaitMs, signal);
  } catch (error) {
    passage.abandon();
    throw error;
  }
  const who = { name: provider.family, model: provider.model };
  const heard = openTimedStream(provider, request, signal, { providerInfo: who, timeouts, clock });
  let used = 0;
  return {
    stream: heard,
    succeed({ usage }) {
      passage.succeed();
      used = isValidUsage(usage) ? (usage.input ?? 0) + (usage.output ?? 0) : taken;
    },
    fail(error) {
      passage.fail(error);
      if (error.code === 'provider/rate-limited' && (error.retry || error.afterMs !== undefined))
        limiter.block(error.afterMs ?? 1000);
    },
    close() {
      heard.close();
      passage.abandon();
      limiter.reconcile(taken, used);
    },
  };
}
