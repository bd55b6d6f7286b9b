// Traces: a view of the log that gives spans for runs, turns and tool calls.
import {
  appendItem,
  toArray,
  createPersistentList,
  type Event,
  type Json,
  type PersistentList,
  type View,
} from '../core/index.ts';

/** A span. `parent` is the id of its run; an open span has no end. */
export type Span = {
  readonly name: string;
  readonly kind: 'run' | 'turn' | 'tool';
  readonly parent: string | undefined;
  readonly start: string;
  readonly end: string | undefined;
  readonly failed: boolean;
  readonly attributes: Readonly<Record<string, Json>>;
};

/** The ended spans in the order of their ends, and the open spans by key. */
export type Trace = { readonly done: PersistentList<Span>; readonly open: ReadonlyMap<string, Span> };

/** Folds a log to spans. */
export const traceView: View<Trace> = {
  initial: { done: createPersistentList<Span>(), open: new Map() },
  on(trace, event) {
    switch (event.type) {
      case 'run-started':
        return openSpan(trace, 'run', event, { name: 'run', kind: 'run', attributes: { run: event.run } });
      case 'turn-started':
        return openSpan(trace, 'turn', event, { name: `turn ${event.turn}`, kind: 'turn', attributes: {} });
      case 'turn-ended': {
        const { model, finishReason, usage, ms } = event;
        return closeSpan(trace, 'turn', event, false, {
          model,
          finish: finishReason,
          ms,
          ...usage,
          ...(event.usd === undefined ? {} : { usd: event.usd }),
        });
      }
      case 'turn-failed':
        return closeSpan(trace, 'turn', event, true, { error: event.error.code, ms: event.ms });
      case 'tool-started':
        return openSpan(trace, event.call, event, {
          name: event.tool,
          kind: 'tool',
          attributes: { call: event.call, key: event.key },
        });
      case 'tool-ended':
        return closeSpan(trace, event.call, event, event.outcome !== 'ok', { outcome: event.outcome, ms: event.ms });
      case 'run-ended':
        return closeSpan(trace, 'run', event, event.error !== undefined, { reason: event.reason });
      case 'session-started':
      case 'epoch-started':
      case 'compaction-failed':
      case 'branch-started':
      case 'input-received':
      case 'answer-rejected':
      case 'approval-requested':
      case 'approval-resolved':
      case 'check-ended':
      case 'annotation-added':
        return trace;
    }
  },
};

function openSpan(trace: Trace, key: string, event: Event, span: Pick<Span, 'name' | 'kind' | 'attributes'>): Trace {
  const run = span.kind === 'run' ? undefined : trace.open.get('run')?.attributes['run'];
  const opened: Span = {
    ...span,
    parent: run === undefined ? undefined : String(run),
    start: event.time,
    end: undefined,
    failed: false,
  };
  return { ...trace, open: new Map(trace.open).set(key, opened) };
}

function closeSpan(trace: Trace, key: string, event: Event, failed: boolean, attributes: Span['attributes']): Trace {
  const span = trace.open.get(key);
  if (!span) return trace;
  const open = new Map(trace.open);
  open.delete(key);
  const ended = { ...span, end: event.time, failed, attributes: { ...span.attributes, ...attributes } };
  return { done: appendItem(trace.done, ended), open };
}

/** All spans of a trace, the ended ones first. */
export const allSpans = (trace: Trace): readonly Span[] => [...toArray(trace.done), ...trace.open.values()];
