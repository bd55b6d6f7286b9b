// Screen of fleet health: current state, history charts, objectives and drift.
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { formatCount, formatDuration, formatPercentInterval, formatUsd, formatPercent } from '../text/format.ts';
import { Chart } from '../components/chart.tsx';
import { DriftTable, ObjectiveTable } from '../components/health-tables.tsx';
import { ErrorMessage, Metric, DataTable, PageTitle } from '../components/primitives.tsx';
import { usePoll } from '../hooks/use-poll.ts';
import { linkTo, replaceQuery } from '../state/router.ts';
import { buildHealthSeries } from '../state/health-series.ts';
import { api } from '../api/client.ts';
import type { HealthReport, HealthPercentiles, HealthRate } from '../api/health-types.ts';

const timeRanges = [
  { name: '1 hour', ms: 3_600_000, bucketMs: 120_000 },
  { name: '24 hours', ms: 86_400_000, bucketMs: 3_600_000 },
  { name: '7 days', ms: 604_800_000, bucketMs: 21_600_000 },
] as const;

/** The health screen; the query sets the range of its charts. */
export function HealthScreen({ query }: { readonly query: string }): JSX.Element {
  const { value, error } = usePoll((signal) => api.health(signal), 3000);
  return (
    <>
      <PageTitle>Health</PageTitle>
      <ErrorMessage failed={error} />
      {value ? <CurrentHealth health={value} /> : null}
      <HealthHistory wanted={new URLSearchParams(query).get('over')} />
      {value ? (
        <>
          <h2>Objectives, over 24 hours</h2>
          <p class="hint">The targets of this fleet, and whether they were met.</p>
          <ObjectiveTable objectives={value.slo} />
          <h2>Drift</h2>
          <p class="hint">
            Whether a metric of 24 hours differs from the week before, or a model from its baseline, by more than chance
            explains.
          </p>
          <DriftTable drifts={value.drift} />
          <h2>Models</h2>
          <p class="hint">A circuit breaker stops requests to a failing model for a while. Each worker has its own.</p>
          <BreakerTable breakers={value.breakers} />
        </>
      ) : null}
    </>
  );
}

function CurrentHealth({ health }: { readonly health: HealthReport }): JSX.Element {
  const { depth, rates, workers } = health;
  const since = new Date(Date.parse(health.measuredAt) - 3_600_000).toISOString();
  const endedRuns = (outcome: string): string => linkTo('runs', undefined, { status: 'ended', outcome, since });
  const alive = workers.filter((worker) => worker.alive).length;
  return (
    <dl class="figures">
      <Metric
        name="Queued"
        value={formatCount(depth.queued)}
        href={linkTo('runs', undefined, { status: 'queued' })}
        note={health.oldestMs === null ? 'queue is empty' : `oldest ${formatDuration(health.oldestMs)}`}
      />
      <Metric
        name="Workers"
        value={formatCount(alive)}
        href={linkTo('fleet')}
        note={
          workers.length > alive
            ? `${workers.length - alive} silent`
            : depth.running === 1
              ? '1 active run'
              : `${formatCount(depth.running)} active runs`
        }
      />
      <Metric
        name="Errors, last hour"
        value={formatRateValue(rates.errors)}
        href={endedRuns('error')}
        note={formatRateCounts(rates.errors)}
      />
      <Metric
        name="Abstained, last hour"
        value={formatRateValue(rates.abstained)}
        href={endedRuns('abstained')}
        note={formatRateCounts(rates.abstained)}
      />
      <Metric
        name="Queue time, p95"
        value={formatP95(health.queueMs)}
        href={endedRuns('')}
        note={formatP95Interval(health.queueMs)}
      />
      <Metric
        name="Run duration with approvals, p95"
        value={formatP95(health.durationMs)}
        href={endedRuns('')}
        note={formatP95Interval(health.durationMs)}
      />
    </dl>
  );
}

const formatRateValue = (measured: HealthRate): string => (measured.rate === null ? '–' : formatPercent(measured.rate));

const formatRateCounts = (measured: HealthRate): string =>
  measured.rate === null
    ? 'no run ended'
    : `${formatCount(measured.good)} of ${formatCount(measured.total)}, ${formatPercentInterval(measured.interval)}`;

const formatP95 = (measured: HealthPercentiles | null): string => (measured ? formatDuration(measured.p95.value) : '–');

function formatP95Interval(measured: HealthPercentiles | null): string {
  if (!measured) return 'no run ended';
  const [low, high] = measured.p95.interval;
  const ends =
    low === null
      ? 'too few runs for an interval'
      : high === null
        ? `${formatDuration(low)} or more`
        : `${formatDuration(low)} to ${formatDuration(high)}`;
  return `p50 ${formatDuration(measured.p50.value)}; ${ends}`;
}

function HealthHistory({ wanted }: { readonly wanted: string | null }): JSX.Element {
  const span = timeRanges.find(({ name }) => name === wanted) ?? timeRanges[1];
  const { value, error } = usePoll(
    (signal) => {
      // Whole buckets, so that the last point is not a partial one.
      const to = Math.ceil(Date.now() / span.bucketMs) * span.bucketMs;
      return api.healthHistory(new Date(to - span.ms).toISOString(), new Date(to).toISOString(), span.bucketMs, signal);
    },
    15_000,
    span.name,
  );
  const columns = useMemo(() => buildHealthSeries(value?.stats ?? []), [value]);
  const lines = useMemo(
    () => ({
      ended: [{ name: 'ended', values: columns.ended }],
      queueMs: toPercentileSeries(columns.queueMs),
      durationMs: toPercentileSeries(columns.durationMs),
      errors: [
        {
          name: 'rate and interval',
          values: columns.errors.rate,
          band: [columns.errors.low, columns.errors.high] as const,
        },
      ],
      abstained: [
        {
          name: 'rate and interval',
          values: columns.abstained.rate,
          band: [columns.abstained.low, columns.abstained.high] as const,
        },
      ],
      usd: [{ name: 'US dollars', values: columns.usd }],
    }),
    [columns],
  );
  const { times } = columns;
  return (
    <section aria-label="Over time">
      <div class="title">
        <h2>Over time</h2>
        <div class="choices" role="group" aria-label="Time range">
          {timeRanges.map((each) => (
            <button
              key={each.name}
              type="button"
              aria-pressed={each === span}
              onClick={() => replaceQuery('health', { over: each.name })}
            >
              {each.name}
            </button>
          ))}
        </div>
      </div>
      <ErrorMessage failed={error} />
      <div class="charts">
        <Chart title="Runs ended" times={times} lines={lines.ended} write={formatCount} steps={countIncrements} />
        <Chart
          title="Queue time"
          times={times}
          lines={lines.queueMs}
          write={formatDuration}
          steps={durationIncrements}
        />
        <Chart
          title="Run duration with approvals"
          times={times}
          lines={lines.durationMs}
          write={formatDuration}
          steps={durationIncrements}
        />
        <Chart title="Errors" times={times} lines={lines.errors} write={formatPercent} least={0.05} />
        <Chart title="Abstained" times={times} lines={lines.abstained} write={formatPercent} least={0.05} />
        <Chart title="Cost, where the price is known" times={times} lines={lines.usd} write={formatUsd} />
      </div>
    </section>
  );
}

/** Grid distances of the charts: integers for counts, clock units for durations. */
const countIncrements = [1, 2, 5]
  .flatMap((each) => Array.from({ length: 8 }, (_, i) => each * 10 ** i))
  .toSorted((a, b) => a - b);
const durationIncrements = [
  ...countIncrements.filter((ms) => ms < 1000),
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * 1000),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * 60_000),
  ...[1, 2, 6, 12, 24, 48, 168].map((hours) => hours * 3_600_000),
];

const toPercentileSeries = ([p50, p95, p99]: ReturnType<typeof buildHealthSeries>['queueMs']): {
  name: string;
  values: typeof p50;
}[] => [
  { name: 'p50', values: p50 },
  { name: 'p95', values: p95 },
  { name: 'p99', values: p99 },
];

const breakerStateLabels: Readonly<Record<string, string>> = {
  closed: 'healthy',
  open: 'paused: too many failures',
  'half-open': 'recovering: one trial request',
};

function BreakerTable({ breakers }: Pick<HealthReport, 'breakers'>): JSX.Element {
  if (breakers.length === 0) return <p class="hint">No worker has sent a request to a model yet.</p>;
  return (
    <DataTable caption="Circuit breakers by model and worker" head={['Model', 'State', 'Worker']}>
      {breakers.map((each) => (
        <tr key={`${each.worker} ${each.model}`}>
          <td>{each.model}</td>
          <td class={each.state === 'closed' ? '' : 'bad'}>{breakerStateLabels[each.state] ?? each.state}</td>
          <td>
            <code>{each.worker}</code>
          </td>
        </tr>
      ))}
    </DataTable>
  );
}
