// The part of the gateway that stands on cockatiel, in one piece so that it is loaded only when a gateway is made.
export { createCircuitBreaker } from './circuit-breaker.ts';
export { createRetryPolicy } from './retry.ts';
