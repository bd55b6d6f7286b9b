// Screen of the scorecard: measured claims with counts and intervals, and claims that were not measured.
import type { JSX } from 'preact';
import { formatCount, formatDateTime, formatPercent } from '../text/format.ts';
import { EmptyState, ErrorMessage, PageTitle } from '../components/primitives.tsx';
import { usePoll } from '../hooks/use-poll.ts';
import { api } from '../api/client.ts';
import type { ScorecardRow } from '../api/types.ts';

/** The scorecard screen. */
export function ScorecardScreen(): JSX.Element {
  const { value, error } = usePoll((signal) => api.scorecard(signal), 60_000);
  const rows = value?.rows ?? [];
  const measured = rows.filter((row) => row.measured && row.total > 0);
  const open = rows.filter((row) => !row.measured || row.total === 0);
  return (
    <>
      <PageTitle
        beside={
          value ? (
            <span class="hint">
              {measured.length} of {rows.length} measured
            </span>
          ) : null
        }
      >
        Scorecard
      </PageTitle>
      <p class="lead">Claims that were measured on this machine, as counts with 95% intervals.</p>
      <ErrorMessage failed={error} />
      {value && measured.length === 0 ? (
        <EmptyState icon="scorecard" title="Nothing has been measured on this machine yet.">
          <p>
            Measure the claims with <code>fairlead scorecard run</code>.
          </p>
        </EmptyState>
      ) : null}
      <ul class="scores">
        {measured.map((row) => (
          <ScorecardItem key={row.id} row={row} />
        ))}
      </ul>
      {open.length > 0 ? (
        <details class="unmeasured">
          <summary>
            {open.length} {open.length === 1 ? 'claim is' : 'claims are'} not measured
          </summary>
          <ul class="scores">
            {open.map((row) => (
              <ScorecardItem key={row.id} row={row} />
            ))}
          </ul>
        </details>
      ) : null}
    </>
  );
}

function ScorecardItem({ row }: { readonly row: ScorecardRow }): JSX.Element {
  return (
    <li class={row.measured ? '' : 'unmeasured'}>
      <div>
        <h2>{row.title}</h2>
        <p>{row.description}</p>
        {row.measured ? (
          <p class="hint">
            <code>{row.how}</code>, {formatDateTime(row.when)}
            {row.about === undefined ? '' : `: ${row.about}`}
          </p>
        ) : row.command === undefined ? null : (
          <p class="hint">
            Measure it with <code>{row.command}</code>
            {row.needs === undefined ? '' : `: it needs ${row.needs}`}
          </p>
        )}
      </div>
      {row.measured ? <ScorecardValue row={row} /> : <p class="verdict">not measured</p>}
    </li>
  );
}

function ScorecardValue({ row }: { readonly row: Extract<ScorecardRow, { measured: true }> }): JSX.Element {
  const [low, high] = [row.interval[0] ?? 0, row.interval[1] ?? 1];
  if (row.total === 0) return <p class="verdict">not measured: 0 of 0</p>;
  const rate = row.good / row.total;
  return (
    <div class="score">
      <p class="value">
        {formatCount(row.good)} <span class="of">of {formatCount(row.total)}</span>
      </p>
      <svg
        class="interval"
        viewBox="0 0 100 8"
        preserveAspectRatio="none"
        role="img"
        aria-label={`${formatPercent(low)} to ${formatPercent(high)}`}
      >
        <rect class="range" x="0" y="3.5" width="100" height="1" />
        <rect class="span" x={low * 100} y="2" width={Math.max(0.6, (high - low) * 100)} height="4" />
        <rect class="point" x={Math.min(99, rate * 100)} y="0" width="1" height="8" />
      </svg>
      <p class="hint">
        {formatPercent(low)} to {formatPercent(high)}
      </p>
    </div>
  );
}
