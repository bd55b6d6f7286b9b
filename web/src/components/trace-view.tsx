// The waterfall of a session: model calls, tool calls and waits for approval on one time axis, with the request of each turn.
import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { Event } from '../../../src/core/index.ts';
import { useNow } from '../hooks/use-poll.ts';
import { buildTrace, type TraceSpan } from '../state/trace.ts';
import { formatCompact, formatDuration, formatUsd } from '../text/format.ts';
import type { IconName } from '../text/icon-shapes.ts';
import { CacheLedgerView } from './cache-ledger.tsx';
import { EscapedText } from './escaped-text.tsx';
import { Icon } from './icon.tsx';
import { EmptyState } from './primitives.tsx';
import { RequestView, type RequestSource } from './request-view.tsx';

const spanIcons: Readonly<Record<TraceSpan['kind'], IconName>> = {
  model: 'model',
  tool: 'tool',
  approval: 'approvals',
};

type TraceViewProps = { readonly events: readonly Event[]; readonly isLive: boolean; readonly source: RequestSource };

/** The waterfall; a row of a model call opens to the request as it was sent. */
export function TraceView({ events, isLive, source }: TraceViewProps): JSX.Element {
  const now = useNow(isLive ? 1000 : 3_600_000);
  const trace = useMemo(() => buildTrace(events), [events]);
  const [open, setOpen] = useState<string | undefined>(undefined);
  if (trace.turns.length === 0)
    return (
      <EmptyState icon="clock" title="No turns yet.">
        <p>Each model call, tool call and wait for approval is shown here with its duration.</p>
      </EmptyState>
    );
  const end = isLive ? Math.max(trace.end, now) : trace.end;
  const total = Math.max(1, end - trace.start);
  return (
    <section class="trace" aria-label="Trace">
      <TraceSummary turns={trace.turns} total={total} end={end} />
      <div class="trace-axis" aria-hidden="true">
        {[0, 0.25, 0.5, 0.75, 1].map((share) => (
          <span key={share}>{formatDuration(total * share)}</span>
        ))}
      </div>
      <ol class="trace-rows">
        {trace.turns.map(({ turn, spans }) => (
          <li key={spans[0]?.id ?? turn}>
            <ol>
              {spans.map((span) => (
                <li key={span.id}>
                  <SpanRow
                    span={span}
                    from={trace.start}
                    total={total}
                    now={end}
                    isOpen={open === span.id}
                    toggle={span.kind === 'model' ? () => setOpen(open === span.id ? undefined : span.id) : undefined}
                  />
                  {open === span.id ? <RequestView source={source} turn={turn} /> : null}
                </li>
              ))}
            </ol>
          </li>
        ))}
      </ol>
      <CacheLedgerView source={source} turns={trace.turns.length} />
    </section>
  );
}

type Turns = ReturnType<typeof buildTrace>['turns'];

/** Where the time went, by kind of span. */
function TraceSummary({
  turns,
  total,
  end,
}: {
  readonly turns: Turns;
  readonly total: number;
  readonly end: number;
}): JSX.Element {
  const spans = turns.flatMap((turn) => turn.spans);
  const spent = (kind: TraceSpan['kind']): number =>
    spans.filter((span) => span.kind === kind).reduce((sum, span) => sum + (span.end ?? end) - span.start, 0);
  const count = (kind: TraceSpan['kind']): number => spans.filter((span) => span.kind === kind).length;
  const parts = [
    ['model', 'Model', count('model') === 1 ? '1 call' : `${count('model')} calls`],
    ['tool', 'Tools', count('tool') === 1 ? '1 call' : `${count('tool')} calls`],
    ['approval', 'Approvals', count('approval') === 1 ? '1 wait' : `${count('approval')} waits`],
  ] as const;
  return (
    <p class="trace-summary">
      <span>{formatDuration(total)} in total</span>
      {parts.map(([kind, name, note]) =>
        count(kind) === 0 ? null : (
          <span key={kind} class={`legend-${kind}`}>
            {name} {formatDuration(spent(kind))} <span class="hint">{note}</span>
          </span>
        ),
      )}
    </p>
  );
}

type SpanRowProps = {
  readonly span: TraceSpan;
  readonly from: number;
  readonly total: number;
  readonly now: number;
  readonly isOpen: boolean;
  readonly toggle: (() => void) | undefined;
};

function SpanRow({ span, from, total, now, isOpen, toggle }: SpanRowProps): JSX.Element {
  const ms = (span.end ?? now) - span.start;
  const [left, width] = [((span.start - from) / total) * 100, Math.max(0.4, (ms / total) * 100)];
  const name = span.kind === 'model' ? `Turn ${span.turn}` : span.name;
  const isBad = span.outcome !== undefined && !goodOutcomes.has(span.outcome);
  const content = (
    <>
      <span class={`span-name ${span.kind === 'model' ? '' : 'nested'}`}>
        <Icon name={spanIcons[span.kind]} size={14} />
        <span class="span-label" title={`${name}${span.target ? ` ${span.target}` : ''}`}>
          {span.kind === 'approval' ? 'approval: ' : ''}
          <EscapedText text={name} />
          {span.target ? (
            <span class="span-target">
              {' '}
              <EscapedText text={span.target} />
            </span>
          ) : null}
        </span>
        {toggle ? <Icon name={isOpen ? 'open' : 'next'} size={12} /> : null}
      </span>
      <span class="span-bar">
        <svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
          <rect class={`bar-${isBad ? 'bad' : span.kind}`} x={Math.min(99.6, left)} y="0" width={width} height="10" />
        </svg>
      </span>
      <span class="span-figures">
        {isBad || span.end === undefined ? (
          <span class={isBad ? 'bad' : ''}>{span.end === undefined ? 'running' : span.outcome}</span>
        ) : null}
        {span.tokens ? (
          <span class="hint">
            {formatTokens(span.tokens.input)} in, {formatTokens(span.tokens.output)} out
          </span>
        ) : null}
        {span.usd === undefined ? null : <span class="hint">{formatUsd(span.usd)}</span>}
        <span class="duration">{formatDuration(ms)}</span>
      </span>
    </>
  );
  return toggle ? (
    <button
      type="button"
      class="span-row"
      aria-expanded={isOpen}
      title={span.why ?? 'Show the request as it was sent'}
      onClick={toggle}
    >
      {content}
    </button>
  ) : (
    <div class="span-row">{content}</div>
  );
}

const goodOutcomes: ReadonlySet<string> = new Set(['ok', 'allowed']);
const formatTokens = (count: number | undefined): string => (count === undefined ? '?' : formatCompact(count));
