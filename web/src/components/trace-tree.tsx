// The rows of the waterfall as a tree for the keyboard and for screen readers. Only the visible rows are in the page.
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { describeSpan } from '../../../src/tracing/span-tree.ts';
import type { Span } from '../../../src/tracing/index.ts';
import { findMove, type TraceAxis, type TraceRow } from '../state/trace-rows.ts';
import { summarizeCall } from '../text/call-summary.ts';
import { formatCompact, formatDuration, formatTime, formatUsd } from '../text/format.ts';
import type { IconName } from '../text/icon-shapes.ts';
import { EscapedText } from './escaped-text.tsx';
import { Icon } from './icon.tsx';

/** The icon of each kind of span. */
export const spanIcons: Readonly<Record<Span['kind'], IconName>> = {
  workflow: 'fleet',
  step: 'runs',
  run: 'play',
  turn: 'refresh',
  model: 'model',
  tool: 'tool',
  gate: 'approvals',
  check: 'verification',
  compaction: 'auto',
  request: 'message',
};

/** The rows, the axis, the selected span, and what the keys do. */
export type TraceTreeProps = {
  readonly rows: readonly TraceRow[];
  readonly axis: TraceAxis;
  readonly now: number;
  readonly selected: string | undefined;
  readonly select: (spanId: string) => void;
  readonly toggle: (spanId: string, isOpen: boolean) => void;
};

/** Rows above and below the visible ones that are in the page. */
const overscan = 8;

/** The tree. The arrow keys move, open and close; a click selects. */
export function TraceTree({ rows, axis, now, selected, select, toggle }: TraceTreeProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 600 });
  const rowHeight = useRowHeight();
  const measure = (): void => {
    if (box.current) setView({ top: box.current.scrollTop, height: box.current.clientHeight });
  };
  useEffect(() => {
    measure();
    addEventListener('resize', measure);
    return () => removeEventListener('resize', measure);
  }, [rows.length, rowHeight]);
  const at = rows.findIndex(({ span }) => span.spanId === selected);
  const first = Math.max(0, Math.floor(view.top / rowHeight) - overscan);
  const last = Math.min(rows.length, Math.ceil((view.top + view.height) / rowHeight) + overscan);

  function moveTo(index: number): void {
    const row = rows[Math.max(0, Math.min(rows.length - 1, index))];
    if (!row || !box.current) return;
    select(row.span.spanId);
    const top = rows.indexOf(row) * rowHeight;
    const { scrollTop, clientHeight } = box.current;
    if (top < scrollTop) box.current.scrollTop = top;
    else if (top + rowHeight > scrollTop + clientHeight) box.current.scrollTop = top + rowHeight - clientHeight;
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const row = rows[at];
    const move = findMove(event.key, at, row, Math.max(1, Math.floor(view.height / rowHeight) - 1), rows.length);
    if (move === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    if (typeof move === 'number') moveTo(move);
    else if (row) toggle(row.span.spanId, move === 'open');
  }

  return (
    <div
      ref={box}
      class="trace-tree"
      role="tree"
      aria-label="Spans"
      tabIndex={0}
      aria-activedescendant={at >= first && at < last ? `span-${selected}` : undefined}
      onScroll={measure}
      onKeyDown={onKeyDown}
      onFocus={() => at < 0 && moveTo(0)}
    >
      <div class="trace-rows" role="presentation" style={{ height: `${rows.length * rowHeight}px` }}>
        {rows.slice(first, last).map((row, i) => (
          <SpanRow
            key={row.span.spanId}
            row={row}
            top={(first + i) * rowHeight}
            axis={axis}
            now={now}
            isSelected={row.span.spanId === selected}
            select={select}
            toggle={toggle}
          />
        ))}
      </div>
    </div>
  );
}

/** On a narrow screen the bar is below the name. The heights are those of trace.css. */
function useRowHeight(): number {
  const [isNarrow, setNarrow] = useState(() => matchMedia('(max-width: 820px)').matches);
  useEffect(() => {
    const query = matchMedia('(max-width: 820px)');
    const onChange = (): void => setNarrow(query.matches);
    query.addEventListener('change', onChange);
    return () => query.removeEventListener('change', onChange);
  }, []);
  return isNarrow ? 48 : 28;
}

type SpanRowProps = {
  readonly row: TraceRow;
  readonly top: number;
  readonly axis: TraceAxis;
  readonly now: number;
  readonly isSelected: boolean;
  readonly select: (spanId: string) => void;
  readonly toggle: (spanId: string, isOpen: boolean) => void;
};

function SpanRow({ row, top, axis, now, isSelected, select, toggle }: SpanRowProps): JSX.Element {
  const { span, depth, status, isOpen, place, hidden } = row;
  const from = axis.position(span.start);
  const width = Math.max(0.4, ((axis.position(span.end ?? now) - from) / axis.total) * 100);
  const { name, target } = formatSpanLabel(span, now);
  return (
    <div
      id={`span-${span.spanId}`}
      class={`span-row ${isSelected ? 'selected' : ''}`}
      role="treeitem"
      aria-level={depth + 1}
      aria-setsize={place[1]}
      aria-posinset={place[0]}
      aria-selected={isSelected}
      aria-expanded={isOpen}
      style={{ transform: `translateY(${top}px)` }}
      onClick={() => select(span.spanId)}
    >
      <span class="span-name" style={{ '--depth': String(Math.min(depth, 12)) }}>
        <span
          class="span-toggle"
          onClick={(event) => {
            if (isOpen === undefined) return;
            event.stopPropagation();
            toggle(span.spanId, !isOpen);
          }}
        >
          {isOpen === undefined ? null : <Icon name={isOpen ? 'open' : 'next'} size={12} />}
        </span>
        <Icon name={spanIcons[span.kind]} size={14} />
        <span class="span-label" title={target === '' ? name : `${name} ${target}`}>
          <EscapedText text={name} />
          {target === '' ? null : (
            <span class="span-target">
              {' '}
              <EscapedText text={target} />
            </span>
          )}
        </span>
        <StatusMark row={row} />
        {hidden.failed > 0 ? <span class="span-mark mark-failed">{hidden.failed} failed below</span> : null}
        {hidden.denied > 0 ? <span class="span-mark mark-denied">{hidden.denied} denied below</span> : null}
      </span>
      <span class="span-bar">
        <svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
          <rect
            class={`bar-${status === 'failed' || status === 'denied' ? status : span.kind}`}
            x={Math.min(99.6, (from / axis.total) * 100)}
            y="0"
            width={width}
            height="10"
          />
        </svg>
      </span>
      <SpanFigures row={row} now={now} />
    </div>
  );
}

/** An error or a denial in words: the colour of the bar alone does not say it. */
function StatusMark({ row: { span, status } }: { readonly row: TraceRow }): JSX.Element | null {
  if (status === 'open') return <span class="span-mark">running</span>;
  if (status === 'ok') return null;
  // The label of a gate or a check says how it ended.
  const text =
    span.kind === 'gate' || span.kind === 'check' ? '' : status === 'denied' ? 'denied' : (span.error ?? 'failed');
  return text === '' ? (
    <span class={`span-mark mark-${status}`}>
      <Icon name="alert" size={12} /> <span class="unseen">{status}</span>
    </span>
  ) : (
    <span class={`span-mark mark-${status}`}>
      <EscapedText text={text} />
    </span>
  );
}

function SpanFigures({ row: { span, cost }, now }: { readonly row: TraceRow; readonly now: number }): JSX.Element {
  const hasTokens = cost.input + cost.output > 0;
  return (
    <span class="span-figures">
      <span class="figure-tokens">
        {hasTokens ? `${formatCompact(cost.input)} in, ${formatCompact(cost.output)} out` : ''}
      </span>
      <span class="figure-cost">{cost.usd === undefined ? '' : formatUsd(cost.usd)}</span>
      <span class="figure-time">{formatDuration((span.end ?? now) - span.start)}</span>
    </span>
  );
}

/** The name of a span, and what a tool call acts on. */
export function formatSpanLabel(span: Span, now: number): { readonly name: string; readonly target: string } {
  if (span.kind === 'tool') {
    const { name, target } = summarizeCall(span.name, span.content?.arguments ?? {});
    return { name, target };
  }
  const name = describeSpan(span, (time) => formatTime(new Date(time).toISOString(), now));
  return { name, target: '' };
}
