// Builds the whole trace of recorded sessions: a session with the sessions of its sub-agents and of its plan steps as children.
import type { Event } from '../core/index.ts';
import { parseSubagentMetadata } from '../agent/subagents/index.ts';
import { toolSpanId, type SpanPlace } from './ids.ts';
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
  const places = new Map<string, SpanPlace>();
  buildSession(session, events, spans, places, options);
  for (const child of children) {
    const key = child.events.map(parseSubagentMetadata).find((each) => each !== undefined)?.key;
    if (key !== undefined && !places.has(toolSpanId(key))) continue;
    buildSession(child.session, child.events, spans, places, options);
  }
  return spans.toSorted(compareSpans);
}

function buildSession(
  session: string,
  events: readonly Event[],
  spans: Span[],
  places: Map<string, SpanPlace>,
  options: TraceOptions,
): void {
  const onSpan = (span: Span): void => {
    spans.push(span);
    if (span.kind === 'tool') places.set(span.spanId, toPlace(span));
  };
  const findParent = (key: string): SpanPlace | undefined => places.get(toolSpanId(key));
  const builder = new TraceBuilder({ ...options, session, onSpan, findParent, sample: () => true });
  for (const event of events) builder.on(event);
  for (const span of builder.open) onSpan(span);
}

const toPlace = ({ traceId, spanId, tracestate }: Span): SpanPlace => ({
  traceId,
  spanId,
  isSampled: true,
  ...(tracestate === undefined ? {} : { tracestate }),
});
