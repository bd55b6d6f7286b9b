// One try at one model: the wait before it, its turn at the limiter, its way through the circuit, its stream, and the reckoning after.
import { isValidUsage, type FairleadError, type Provider, type ModelRequest } from '../../core/index.ts';
import { attempt, type Attempt, type End, type Patience } from './attempt.ts';
import type { Circuit } from './circuit.ts';
import { pause, type Clock } from './clock.ts';
import type { Limiter } from './limiter.ts';
import { tokensIn } from './tokens.ts';

/** A model with what is shared by all who ask it. */
export type Lane = {
  readonly provider: Provider;
  readonly key: string;
  readonly limiter: Limiter;
  readonly circuit: Circuit;
  readonly patience: Patience;
  /** The longest hold that is waited for. */
  readonly mostMs: number;
  readonly clock: Clock;
};

/** A try under way. */
export interface Call {
  readonly heard: Attempt;
  passed(end: End): void;
  failed(error: FairleadError): void;
  /** Lets go of everything; a try that neither passed nor failed was abandoned. */
  close(): void;
}

/** Begins a try once it may begin. With `patient` an open circuit may be waited out. */
export async function call(
  lane: Lane,
  request: ModelRequest,
  signal: AbortSignal,
  { delayMs, patient }: { readonly delayMs: number; readonly patient: boolean },
): Promise<Call> {
  const { provider, limiter, clock, patience } = lane;
  signal.throwIfAborted();
  if (delayMs > 0) await pause(clock, delayMs, signal);
  const passage = lane.circuit.enter(patient);
  const taken = limiter.countsTokens ? tokensIn(request) : 0;
  try {
    await limiter.take(taken, lane.mostMs, signal);
  } catch (error) {
    passage.abandoned();
    throw error;
  }
  const who = { name: provider.family, model: provider.model };
  const heard = attempt(provider, request, signal, { who, patience, clock });
  let used = 0;
  return {
    heard,
    passed({ usage }) {
      passage.passed();
      used = isValidUsage(usage) ? (usage.input ?? 0) + (usage.output ?? 0) : taken;
    },
    failed(error) {
      passage.failed(error);
      if (error.code === 'provider/rate-limited' && (error.retry || error.afterMs !== undefined))
        limiter.hold(error.afterMs ?? 1000);
    },
    close() {
      heard.close();
      passage.abandoned();
      limiter.settle(taken, used);
    },
  };
}
