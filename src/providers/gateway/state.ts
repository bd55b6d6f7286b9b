// What all gateways of a process share, by model: its limiter and its circuit.
import type { CircuitBreaker, CircuitStatus } from './circuit-breaker.ts';
import type { RateLimiter } from './rate-limiter.ts';

/** The shared state of one process, or of one test. */
export type GatewayState = {
  readonly limiters: Map<string, RateLimiter>;
  readonly circuits: Map<string, CircuitBreaker>;
};

/** A state of its own, apart from that of the process. */
export const createGatewayState = (): GatewayState => ({ limiters: new Map(), circuits: new Map() });

/** What everything in this process shares. */
export const sharedState: GatewayState = createGatewayState();

/** The value of a key, made by whoever asks for it first. */
export function getOrCreate<T>(map: Map<string, T>, key: string, make: () => T): T {
  const found = map.get(key);
  if (found !== undefined) return found;
  const made = make();
  map.set(key, made);
  return made;
}

/** Where the circuit of a model stands; `forMs` is how long nobody may ask it. */
export type BreakerState = { readonly model: string; readonly state: CircuitStatus; readonly forMs: number };

/** Where the circuits of this process stand: of each model that was asked, by its name. */
export const breakerStates = ({ circuits }: GatewayState = sharedState): readonly BreakerState[] =>
  [...circuits].map(([model, circuit]) => ({ model, ...circuit.status() }));
