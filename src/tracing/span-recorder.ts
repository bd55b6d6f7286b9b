// Starts and ends the spans of one session: their span contexts, their texts, and whether they are recorded at all.
import type { UsageTotals } from '../core/index.ts';
import { ContentCollector } from './content.ts';
import { createTraceId, NameHash, type SpanContext } from './ids.ts';
import type { Span, SpanDetails, SpanEvent } from './span.ts';

/** What a recorder needs to know of its session. */
export type SpanRecorderOptions = {
  readonly session: string;
  /** Receives each span when it ends. */
  readonly onSpan: (span: Span) => void;
  /** Whether texts are kept with the spans. */
  readonly content?: boolean;
};

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** A span that has not ended; it is changed until it ends, and then handed on. */
export type SpanDraft = {
  readonly context: SpanContext;
  readonly span: Mutable<Span>;
  readonly details: Mutable<SpanDetails>;
  readonly events: SpanEvent[];
};

/** What a new span is. */
export type NewSpan = {
  readonly kind: Span['kind'];
  readonly name: string;
  readonly context: SpanContext;
  readonly parentId: string | undefined;
  readonly start: number;
  /** Taken over by the span. */
  readonly details?: SpanDetails;
};

/** How a span failed. */
export type SpanFailure = Pick<Span, 'error' | 'errorMessage'>;

/** The recorder of one session. */
export class SpanRecorder {
  readonly session: string;
  readonly content: ContentCollector | undefined;
  /** The name of the agent that the spans belong to. */
  agent = 'fairlead';
  readonly #onSpan: (span: Span) => void;
  readonly #hash: NameHash;

  constructor({ session, onSpan, content }: SpanRecorderOptions) {
    this.session = session;
    this.#hash = NameHash.of(session);
    this.#onSpan = onSpan;
    this.content = content ? new ContentCollector() : undefined;
  }

  /** Starts a span. */
  start({ kind, name, context, parentId, start, details }: NewSpan): SpanDraft {
    const { traceId, spanId, tracestate } = context;
    const all: Mutable<SpanDetails> = details ?? {};
    all.agent = this.agent;
    const span: Mutable<Span> = { traceId, spanId, session: this.session, kind, name, start, details: all };
    if (parentId !== undefined) span.parentId = parentId;
    if (tracestate !== undefined) span.tracestate = tracestate;
    return { context, span, details: all, events: [] };
  }

  /** Ends a span and hands it on, if it is recorded. */
  end(draft: SpanDraft | undefined, time: number, failure: SpanFailure = {}, details: SpanDetails = {}): void {
    if (!draft) return;
    const { span, context, events } = draft;
    const content = this.content?.take(span.kind, context.spanId, draft.details.call);
    Object.assign(draft.details, details);
    Object.assign(span, failure);
    span.end = Math.max(span.start, time);
    if (content) span.content = content;
    if (events.length > 0) span.events = events;
    if (context.isSampled) this.#onSpan(span);
  }

  /** The id of a span of this kind that an event names. */
  createId(kind: Span['kind'], event: string): string {
    return this.#hash.add(kind).add(event).toSpanId();
  }

  /** The context of a span in the trace of another; without one, in a trace of the session. */
  contextIn(owner: SpanDraft | undefined, spanId: string): SpanContext {
    return owner
      ? { ...owner.context, spanId }
      : { traceId: createTraceId(this.session, 'session'), spanId, isSampled: true };
  }
}

/** A copy of the span of a draft as it is now. */
export const toSpan = ({ span, details, events }: SpanDraft): Span => ({
  ...span,
  details: { ...details },
  ...(events.length > 0 ? { events: [...events] } : {}),
});

/** The usage and the cost of requests that are no turns. */
export function toCostDetails(spent: Partial<UsageTotals> | undefined): SpanDetails {
  if (!spent) return {};
  const { input, output, cacheRead, cacheWrite, usd } = spent;
  const counts = Object.entries({ input, output, cacheRead, cacheWrite }).filter(([, count]) => count !== undefined);
  return { usage: Object.fromEntries(counts), ...(usd === undefined ? {} : { usd }) };
}
