// Health: how the fleet is now, how it was over time, what it is held to, and whether it drifts.
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { count, duration, interval, money, percent } from '../text/format.ts';
import { Chart } from '../view/chart.tsx';
import { DriftTable, ObjectiveTable } from '../view/health-tables.tsx';
import { Failed, Figure, Table, Title } from '../view/parts.tsx';
import { usePoll } from '../view/poll.ts';
import { stayWith } from '../view/route.ts';
import { stretchesOf } from '../view/stretches.ts';
import { api } from '../wire/api.ts';
import type { HealthShape, PercentilesShape, RateShape } from '../wire/health-shape.ts';

const spans = [
  { name: '1 hour', ms: 3_600_000, stretch: 120_000 },
  { name: '24 hours', ms: 86_400_000, stretch: 3_600_000 },
  { name: '7 days', ms: 604_800_000, stretch: 21_600_000 },
] as const;

/** The screen of how the fleet is; the query of the address says how far back its charts go. */
export function HealthScreen({ query }: { readonly query: string }): JSX.Element {
  const { value, failed } = usePoll((signal) => api.health(signal), 3000);
  return (
    <>
      <Title>Health</Title>
      <Failed failed={failed} />
      {value ? <Now health={value} /> : null}
      <OverTime wanted={new URLSearchParams(query).get('over')} />
      {value ? (
        <>
          <h2>Objectives, over 24 hours</h2>
          <p class="hint">What this fleet is held to, and whether that was met.</p>
          <ObjectiveTable objectives={value.slo} />
          <h2>Drift, 24 hours against the week before</h2>
          <p class="hint">Whether something changed by more than chance would.</p>
          <DriftTable drifts={value.drift} />
          <h2>Models</h2>
          <p class="hint">A model that keeps failing is left alone for a while, by each worker for itself.</p>
          <Breakers breakers={value.breakers} />
        </>
      ) : null}
    </>
  );
}

function Now({ health }: { readonly health: HealthShape }): JSX.Element {
  const { depth, rates, workers } = health;
  const alive = workers.filter((worker) => worker.alive).length;
  return (
    <dl class="figures">
      <Figure
        name="Queued"
        value={count(depth.queued)}
        note={health.oldestMs === null ? 'none waits' : `oldest ${duration(health.oldestMs)}`}
      />
      <Figure
        name="Workers"
        value={count(alive)}
        note={workers.length > alive ? `${workers.length - alive} silent` : `${count(depth.running)} runs under way`}
      />
      <Figure name="Errors, last hour" value={rate(rates.errors)} note={counted(rates.errors)} />
      <Figure name="Gave no answer" value={rate(rates.abstained)} note={counted(rates.abstained)} />
      <Figure name="95 of 100 begin within" value={ninetyFifth(health.waited)} note={bounds(health.waited)} />
      <Figure name="95 of 100 then end within" value={ninetyFifth(health.took)} note={bounds(health.took)} />
    </dl>
  );
}

const rate = (measured: RateShape): string => (measured.rate === null ? 'not measured' : percent(measured.rate));

const counted = (measured: RateShape): string =>
  measured.rate === null
    ? 'no run ended'
    : `${count(measured.good)} of ${count(measured.total)}, ${interval(measured.interval)}`;

const ninetyFifth = (measured: PercentilesShape | null): string =>
  measured ? duration(measured.p95.value) : 'not measured';

function bounds(measured: PercentilesShape | null): string {
  if (!measured) return 'no run ended';
  const [low, high] = measured.p95.interval;
  const ends =
    low === null
      ? 'too few to bound it'
      : high === null
        ? `${duration(low)} or more`
        : `${duration(low)} to ${duration(high)}`;
  return `half within ${duration(measured.p50.value)}; ${ends}`;
}

function OverTime({ wanted }: { readonly wanted: string | null }): JSX.Element {
  const span = spans.find(({ name }) => name === wanted) ?? spans[1];
  const { value, failed } = usePoll(
    (signal) => {
      // Whole stretches, so that the last point is not a sliver of one.
      const to = Math.ceil(Date.now() / span.stretch) * span.stretch;
      return api.history(new Date(to - span.ms).toISOString(), new Date(to).toISOString(), span.stretch, signal);
    },
    15_000,
    span.name,
  );
  const columns = useMemo(() => stretchesOf(value?.tallies ?? []), [value]);
  const lines = useMemo(
    () => ({
      ended: [{ name: 'ended', values: columns.ended }],
      waited: percentiles(columns.waited),
      took: percentiles(columns.took),
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
        <div class="choices" role="group" aria-label="How far back">
          {spans.map((each) => (
            <button
              key={each.name}
              type="button"
              aria-pressed={each === span}
              onClick={() => stayWith('health', { over: each.name })}
            >
              {each.name}
            </button>
          ))}
        </div>
      </div>
      <Failed failed={failed} />
      <div class="charts">
        <Chart title="Runs ended" times={times} lines={lines.ended} write={count} steps={counts} />
        <Chart title="Wait before a run begins" times={times} lines={lines.waited} write={duration} steps={clockwise} />
        <Chart title="From begun to ended" times={times} lines={lines.took} write={duration} steps={clockwise} />
        <Chart title="Errors" times={times} lines={lines.errors} write={percent} least={0.05} />
        <Chart title="Gave no answer" times={times} lines={lines.abstained} write={percent} least={0.05} />
        <Chart title="Spent, where a price is known" times={times} lines={lines.usd} write={money} />
      </div>
    </section>
  );
}

/** Things are counted in whole numbers, durations in the units of a clock. */
const counts = [1, 2, 5]
  .flatMap((each) => Array.from({ length: 8 }, (_, i) => each * 10 ** i))
  .toSorted((a, b) => a - b);
const clockwise = [
  ...counts.filter((ms) => ms < 1000),
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * 1000),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * 60_000),
  ...[1, 2, 6, 12, 24, 48, 168].map((hours) => hours * 3_600_000),
];

const percentiles = ([p50, p95, p99]: ReturnType<typeof stretchesOf>['waited']): {
  name: string;
  values: typeof p50;
}[] => [
  { name: 'half', values: p50 },
  { name: '95 of 100', values: p95 },
  { name: '99 of 100', values: p99 },
];

const states: Readonly<Record<string, string>> = {
  closed: 'asked as usual',
  open: 'left alone for now',
  'half-open': 'tried again',
};

function Breakers({ breakers }: Pick<HealthShape, 'breakers'>): JSX.Element {
  if (breakers.length === 0) return <p class="hint">No worker has asked one yet.</p>;
  return (
    <Table caption="Models, as workers find them" head={['Model', 'State', 'Worker']}>
      {breakers.map((each) => (
        <tr key={`${each.worker} ${each.model}`}>
          <td>{each.model}</td>
          <td class={each.state === 'closed' ? '' : 'bad'}>{states[each.state] ?? each.state}</td>
          <td>
            <code>{each.worker}</code>
          </td>
        </tr>
      ))}
    </Table>
  );
}
