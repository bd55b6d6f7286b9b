// The trace of a session: the waterfall of its spans on one time axis, the detail of the selected span, and the cache ledger.
import type { JSX } from 'preact';
import { useCallback, useMemo, useState } from 'preact/hooks';
import type { Span } from '../../../src/tracing/index.ts';
import { useNow } from '../hooks/use-poll.ts';
import { useTrace } from '../hooks/use-trace.ts';
import {
  createTraceAxis,
  createTraceRows,
  createTraceTrees,
  findLastTime,
  listParents,
  type TraceAxis,
} from '../state/trace-rows.ts';
import { formatCount, formatDuration } from '../text/format.ts';
import { CacheLedgerView } from './cache-ledger.tsx';
import { EmptyState, ErrorMessage } from './primitives.tsx';
import type { RequestSource } from './request-view.tsx';
import { SpanDetail } from './span-detail.tsx';
import { TraceTree } from './trace-tree.tsx';

type TraceViewProps = {
  readonly source: RequestSource;
  /** The run of the screen, if it shows one run only. */
  readonly run: string | undefined;
  /** The number of the last event of the session. */
  readonly seq: number;
  readonly turns: number;
  readonly isLive: boolean;
};

/** The trace; it is loaded again while the session continues. */
export function TraceView({ source, run, seq, turns, isLive }: TraceViewProps): JSX.Element {
  const { spans, totalSpans, error, isLoaded } = useTrace(source, seq, isLive);
  const clock = useNow(isLive ? 1000 : 3_600_000);
  const trees = useMemo(() => createTraceTrees(spans, run), [spans, run]);
  const lastTime = useMemo(() => findLastTime(spans), [spans]);
  const now = isLive ? Math.max(lastTime, clock) : lastTime;
  const axis = useMemo(() => createTraceAxis(trees, now), [trees, now]);
  const [toggled, setToggled] = useState<ReadonlyMap<string, boolean>>(new Map());
  const [selected, setSelected] = useState<string | undefined>(undefined);
  const rows = useMemo(() => createTraceRows(trees, toggled), [trees, toggled]);
  const toggle = useCallback(
    (id: string, isOpen: boolean): void => setToggled((before) => new Map(before).set(id, isOpen)),
    [],
  );
  const toggleAll = (isOpen: boolean): void => setToggled(new Map(listParents(trees).map((id) => [id, isOpen])));
  const row = rows.find(({ span }) => span.spanId === selected);
  if (trees.length === 0)
    return (
      <>
        <ErrorMessage failed={error} />
        {isLoaded && !error ? (
          <EmptyState icon="clock" title="No turns yet.">
            <p>Each run, turn, model call, tool call, gate decision and check is shown here with its duration.</p>
          </EmptyState>
        ) : null}
      </>
    );
  return (
    <section class="trace" aria-label="Trace">
      <ErrorMessage failed={error} />
      <TraceSummary spans={spans} axis={axis} now={now} />
      <div class="trace-tools">
        <button type="button" class="quiet small" onClick={() => toggleAll(true)}>
          Expand all
        </button>
        <button type="button" class="quiet small" onClick={() => toggleAll(false)}>
          Collapse all
        </button>
        <span class="hint">
          {spans.length < totalSpans
            ? `The latest ${formatCount(spans.length)} of ${formatCount(totalSpans)} spans.`
            : `${formatCount(totalSpans)} ${totalSpans === 1 ? 'span' : 'spans'}.`}
          {axis.hasGaps ? ' Time between runs is left out.' : ''}
        </span>
      </div>
      <div class="trace-axis" aria-hidden="true">
        {[0, 0.25, 0.5, 0.75, 1].map((share) => (
          <span key={share}>{formatDuration(axis.total * share)}</span>
        ))}
      </div>
      <TraceTree rows={rows} axis={axis} now={now} selected={selected} select={setSelected} toggle={toggle} />
      {row ? (
        <SpanDetail row={row} source={source} close={() => setSelected(undefined)} />
      ) : (
        <p class="hint">Select a span for its attributes. The arrow keys move, open and close.</p>
      )}
      <CacheLedgerView source={source} turns={turns} />
    </section>
  );
}

const summarized: readonly (readonly [kind: Span['kind'], name: string, one: string, many: string])[] = [
  ['model', 'Model', 'call', 'calls'],
  ['tool', 'Tools', 'call', 'calls'],
  ['gate', 'Gates', 'decision', 'decisions'],
  ['check', 'Checks', 'check', 'checks'],
];

/** Where the time went, by kind of span. */
function TraceSummary({
  spans,
  axis,
  now,
}: {
  readonly spans: readonly Span[];
  readonly axis: TraceAxis;
  readonly now: number;
}): JSX.Element {
  return (
    <p class="trace-summary">
      <span>{formatDuration(axis.total)} in total</span>
      {summarized.map(([kind, name, one, many]) => {
        const all = spans.filter((span) => span.kind === kind);
        if (all.length === 0) return null;
        const spent = all.reduce((sum, { start, end = now }) => sum + end - start, 0);
        return (
          <span key={kind} class={`legend-${kind}`}>
            {name} {formatDuration(spent)}{' '}
            <span class="hint">
              {formatCount(all.length)} {all.length === 1 ? one : many}
            </span>
          </span>
        );
      })}
    </p>
  );
}
