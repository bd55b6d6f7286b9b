// Shared state of all gateways in a process: rate limiter and circuit by model.
import type { CircuitBreaker, CircuitStatus } from './circuit-breaker.ts';
import type { RateLimiter } from './rate-limiter.ts';

/** The shared state of one process, or of one test. */
export type GatewayState = {
  readonly limiters: Map<string, RateLimiter>;
  readonly circuits: Map<string, CircuitBreaker>;
};

/** Creates a separate state. */
export const createGatewayState = (): GatewayState => ({ limiters: new Map(), circuits: new Map() });

/** The shared state of the process. */
export const sharedState: GatewayState = createGatewayState();

/** Returns the value of a key; creates it on first use. */
export function getOrCreate<T>(map: Map<string, T>, key: string, make: () => T): T {
  const found = map.get(key);
  if (found !== undefined) return found;
  const made = make();
  map.set(key, made);
  return made;
}

/** The circuit state of a model; `forMs` is how long it stays open. */
export type BreakerState = { readonly model: string; readonly state: CircuitStatus; readonly forMs: number };

/** Returns the circuit states of this process by model. */
export const breakerStates = ({ circuits }: GatewayState = sharedState): readonly BreakerState[] =>
  [...circuits].map(([model, circuit]) => ({ model, ...circuit.status() }));
