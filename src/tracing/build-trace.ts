// Builds the whole trace of recorded sessions: a session with the sessions of its sub-agents and of its plan steps as children.
import type { Event } from '../core/index.ts';
import { parseSubagentMetadata } from '../agent/subagents/index.ts';
import { toolSpanId, type SpanContext } from './ids.ts';
import type { Span } from './span.ts';
import { compareSpans } from './span-tree.ts';
import type { TraceBuilderOptions } from './builder-options.ts';
import { TraceBuilder } from './trace-builder.ts';

/** A recorded session: its id and all its events in the order written. */
export type RecordedSession = { readonly session: string; readonly events: readonly Event[] };

/** Options of a trace of recorded sessions. */
export type TraceOptions = Pick<TraceBuilderOptions, 'agent' | 'content'>;

/** Returns the spans of a session, and of the sessions below it: those of sub-agents become children of the tool calls that started them, those of plan steps of the steps. A span that has not ended has no end. */
export function buildTrace(
  { session, events }: RecordedSession,
  children: readonly RecordedSession[] = [],
  options: TraceOptions = {},
): readonly Span[] {
  const spans: Span[] = [];
  const contexts = new Map<string, SpanContext>();
  buildSession(session, events, spans, contexts, options);
  for (const child of children) {
    const key = child.events.map(parseSubagentMetadata).find((each) => each !== undefined)?.key;
    if (key !== undefined && !contexts.has(toolSpanId(key))) continue;
    buildSession(child.session, child.events, spans, contexts, options);
  }
  return spans.toSorted(compareSpans);
}

function buildSession(
  session: string,
  events: readonly Event[],
  spans: Span[],
  contexts: Map<string, SpanContext>,
  options: TraceOptions,
): void {
  const onSpan = (span: Span): void => {
    spans.push(span);
    if (span.kind === 'tool') contexts.set(span.spanId, toSpanContext(span));
  };
  const findParent = (key: string): SpanContext | undefined => contexts.get(toolSpanId(key));
  const builder = new TraceBuilder({ ...options, session, onSpan, findParent, sample: () => true });
  for (const event of events) builder.on(event);
  for (const span of builder.open) onSpan(span);
}

const toSpanContext = ({ traceId, spanId, tracestate }: Span): SpanContext => ({
  traceId,
  spanId,
  isSampled: true,
  ...(tracestate === undefined ? {} : { tracestate }),
});
