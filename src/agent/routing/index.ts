// Runs with routing: a separate entry point, so that its code is loaded only if a router is used.
export { noModelError, runWithRouting, type RunRouting } from './routed-run.ts';
