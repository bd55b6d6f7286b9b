// Derives the ids of traces and spans from the ids in a log, so that every export of a session has the same ids.
import { hash } from 'node:crypto';
import type { TraceContext, TraceParent } from '../core/index.ts';
import { parseTraceparent } from '../core/index.ts';

/** The place of a span: its trace, its own id, and whether it is recorded. */
export type SpanPlace = TraceParent & { readonly tracestate?: string };

/** Returns the 16 hex digits of a span id. `parts` name the span in its session. */
export const createSpanId = (...parts: readonly (string | number)[]): string => nonZero(digest(parts), 16);

/** Returns the 32 hex digits of the trace id of a run that no other program started. */
export const createTraceId = (session: string, run: string): string => nonZero(digest(['trace', session, run]), 32);

const digest = (parts: readonly (string | number)[]): string => hash('sha256', JSON.stringify(['fairlead', ...parts]));

/** An id of zeros is not valid. */
const nonZero = (digits: string, length: number): string =>
  /^0+$/.test(digits.slice(0, length)) ? '1'.padStart(length, '0') : digits.slice(0, length);

/** Returns the parent that a request named. */
export function getRemoteParent(trace: TraceContext | undefined): SpanPlace | undefined {
  const parent = parseTraceparent(trace?.traceparent);
  return parent && { ...parent, ...(trace?.tracestate === undefined ? {} : { tracestate: trace.tracestate }) };
}

/** The parent of the run of a plan step: `plan/step-a-1` belongs to the step `a` of the run `plan`. Undefined for a run that no other run started. */
export function getPlanParent(run: string): { readonly root: string; readonly spanId: string } | undefined {
  const at = run.lastIndexOf('/');
  if (at <= 0) return undefined;
  const [root, name] = [run.slice(0, at), run.slice(at + 1)];
  const step = /^step-(.{1,200})-\d+$/.exec(name)?.[1];
  return { root, spanId: step === undefined ? workflowSpanId(root) : stepSpanId(root, step) };
}

/** The id of the span of a whole plan. */
export const workflowSpanId = (session: string): string => createSpanId(session, 'workflow');

/** The id of the span of one step of a plan. */
export const stepSpanId = (session: string, step: string): string => createSpanId(session, 'step', step);

/** The id of the span of a run. */
export const runSpanId = (session: string, run: string): string => createSpanId(session, 'run', run);

/** The id of the span of a tool call, from its idempotency key, which is unique. */
export const toolSpanId = (key: string): string => createSpanId('tool', key);
