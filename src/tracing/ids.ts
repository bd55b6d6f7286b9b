// Derives the ids of traces and spans from the ids in a log, so that every export of a session has the same ids.
import { hash } from 'node:crypto';
import type { TraceContext, TraceParent } from '../core/index.ts';
import { parseTraceparent } from '../core/index.ts';

/** The place of a span: its trace, its own id, and whether it is recorded. */
export type SpanPlace = TraceParent & { readonly tracestate?: string };

/** Returns the 16 hex digits of a span id. `parts` name the span in its session. A fast hash is enough: an id must be unique in its trace only. */
export function createSpanId(...parts: readonly (string | number)[]): string {
  const text = parts.join('\n');
  let [a, b] = [0xdeadbeef, 0x41c6ce57];
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    a = Math.imul(a ^ code, 2654435761);
    b = Math.imul(b ^ code, 1597334677);
  }
  const low = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
  const high = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  // An id of zeros is not valid.
  return `${toHex(high)}${toHex(low === 0 && high === 0 ? 1 : low)}`;
}

const toHex = (value: number): string => (value >>> 0).toString(16).padStart(8, '0');

/** Returns the 32 hex digits of the trace id of a run that no other program started. */
export const createTraceId = (session: string, run: string): string =>
  hash('sha256', `fairlead\ntrace\n${session}\n${run}`).slice(0, 32);

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
