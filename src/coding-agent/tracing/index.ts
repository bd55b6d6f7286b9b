// Tracing of the agents of this process.
export { getTracingVariables, openTracer } from './open-tracer.ts';
