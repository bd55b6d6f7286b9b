// The part of the gateway that uses cockatiel, loaded lazily with the first gateway.
export { createCircuitBreaker } from './circuit-breaker.ts';
export { createRetryPolicy } from './retry.ts';
