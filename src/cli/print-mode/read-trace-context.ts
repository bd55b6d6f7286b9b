// Reads the trace of the program that started this one, from the variables that OpenTelemetry proposes for it.
import { parseTraceContext, type TraceContext } from '../../core/index.ts';

/** Returns the trace of `TRACEPARENT` and `TRACESTATE` as an option of a run; empty if they are not valid. */
export function readTraceContext(env: NodeJS.ProcessEnv): { readonly trace?: TraceContext } {
  const trace = parseTraceContext(env['TRACEPARENT'], env['TRACESTATE']);
  return trace ? { trace } : {};
}
