// Folds the events of a session into the spans of a waterfall: model calls, tool calls and waits for approval, with their times.
import type { Event } from '../../../src/core/index.ts';
import { summarizeCall } from '../text/call-summary.ts';

/** What a span measures. */
export type SpanKind = 'model' | 'tool' | 'approval';

/** A span of the waterfall; `end` is absent while it lasts. */
export type TraceSpan = {
  readonly id: string;
  readonly kind: SpanKind;
  readonly name: string;
  /** What a tool call acts on. */
  readonly target?: string;
  /** The turn that it belongs to. */
  readonly turn: number;
  readonly start: number;
  readonly end?: number;
  /** How it ended: `ok`, `failed`, `denied` and others. */
  readonly outcome?: string;
  readonly usd?: number;
  readonly tokens?: { readonly input?: number; readonly output?: number };
  readonly model?: string;
  /** Why it failed. */
  readonly why?: string;
};

/** A turn with its spans, in the order in which they started. */
export type TraceTurn = { readonly turn: number; readonly spans: readonly TraceSpan[] };

/** The spans of a session, and the time that they cover. */
export type Trace = { readonly turns: readonly TraceTurn[]; readonly start: number; readonly end: number };

type Draft = {
  readonly spans: Map<string, TraceSpan>;
  /** The turn and the tool of each call. */
  readonly calls: Map<string, { readonly turn: number; readonly tool: string; readonly target: string }>;
  turn: number;
  model: string;
};

/** Builds the trace of events in log order. */
export function buildTrace(events: readonly Event[]): Trace {
  const draft: Draft = { spans: new Map(), calls: new Map(), turn: 0, model: '' };
  for (const event of events) applyEvent(draft, event);
  const spans = [...draft.spans.values()];
  const byTurn = new Map<number, TraceSpan[]>();
  for (const span of spans) byTurn.set(span.turn, [...(byTurn.get(span.turn) ?? []), span]);
  const turns = [...byTurn].map(([turn, list]) => ({ turn, spans: list.toSorted((a, b) => a.start - b.start) }));
  const last = Date.parse(events.at(-1)?.time ?? '');
  return {
    turns: turns.toSorted((a, b) => (a.spans[0]?.start ?? 0) - (b.spans[0]?.start ?? 0)),
    start: Math.min(...spans.map(({ start }) => start)),
    end: Math.max(Number.isNaN(last) ? 0 : last, ...spans.map(({ start, end }) => end ?? start)),
  };
}

// Only some events start or end a span.
function applyEvent(draft: Draft, event: Event): void {
  const { spans, calls } = draft;
  const time = Date.parse(event.time);
  switch (event.type) {
    case 'epoch-started':
      draft.model = event.model;
      return;
    case 'turn-started':
      draft.turn = event.turn;
      return void spans.set(`turn ${event.id}`, {
        id: `turn ${event.id}`,
        kind: 'model',
        name: draft.model,
        turn: event.turn,
        start: time,
      });
    case 'turn-ended':
      for (const part of event.message.parts)
        if (part.type === 'tool-call') {
          const { name, target } = summarizeCall(part.tool, part.input);
          calls.set(part.id, { turn: event.turn, tool: name, target });
        }
      return endModelSpan(draft, {
        end: time,
        name: event.model,
        outcome: 'ok',
        tokens: pickTokens(event.usage),
        ...(event.usd === undefined ? {} : { usd: event.usd }),
      });
    case 'turn-failed':
      return endModelSpan(draft, {
        end: time,
        outcome: 'failed',
        why: event.error.message,
        ...(event.usd === undefined ? {} : { usd: event.usd }),
      });
    case 'approval-requested':
      return startSpan(draft, 'approval', event.call, event.id, time);
    case 'approval-resolved':
      return endSpan(draft, 'approval', event.call, time, event.allowed ? 'allowed' : 'denied');
    case 'tool-started':
      return startSpan(draft, 'tool', event.call, event.id, time);
    case 'tool-ended':
      endSpan(draft, 'approval', event.call, time, event.outcome);
      return endSpan(draft, 'tool', event.call, time, event.outcome, time - event.ms);
    case 'run-ended':
      for (const span of spans.values())
        if (span.end === undefined) spans.set(span.id, { ...span, end: time, outcome: 'interrupted' });
      break;
    case 'session-started':
    case 'branch-started':
    case 'compaction-failed':
    case 'run-started':
    case 'answer-rejected':
    case 'check-ended':
    case 'input-received':
    case 'annotation-added':
    default:
      break;
  }
}

const pickTokens = ({
  input,
  output,
}: {
  readonly input?: number;
  readonly output?: number;
}): NonNullable<TraceSpan['tokens']> => ({
  ...(input === undefined ? {} : { input }),
  ...(output === undefined ? {} : { output }),
});

function endModelSpan({ spans }: Draft, patch: Partial<TraceSpan>): void {
  const open = [...spans.values()].findLast(({ kind, end }) => kind === 'model' && end === undefined);
  if (open) spans.set(open.id, { ...open, ...patch });
}

const findOpen = ({ spans }: Draft, kind: SpanKind, call: string): TraceSpan | undefined =>
  [...spans.values()].findLast((span) => span.end === undefined && span.id.startsWith(`${kind} ${call} `));

function startSpan(draft: Draft, kind: SpanKind, call: string, event: string, start: number): void {
  const { turn, tool, target } = draft.calls.get(call) ?? { turn: draft.turn, tool: call, target: '' };
  const id = `${kind} ${call} ${event}`;
  draft.spans.set(id, { id, kind, name: tool, target, turn, start });
}

/** Ends the open span of a call; a call that never started, such as a denied one, gets a span of its own. */
function endSpan(draft: Draft, kind: SpanKind, call: string, end: number, outcome: string, start = end): void {
  const open = findOpen(draft, kind, call);
  if (open) draft.spans.set(open.id, { ...open, end, outcome });
  else if (kind === 'tool') {
    const { turn, tool, target } = draft.calls.get(call) ?? { turn: draft.turn, tool: call, target: '' };
    const id = `${kind} ${call} ${end}`;
    draft.spans.set(id, { id, kind, name: tool, target, turn, start, end, outcome });
  }
}
