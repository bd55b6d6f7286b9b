// Formats fleet health as Prometheus metrics, text format 0.0.4.
import type { RunStats } from '../../core/index.ts';
import type { Health } from './health.ts';
import { outcomeClasses } from './outcomes.ts';
import type { Quantile, Rate } from './statistics.ts';

type Sample = readonly [value: number, labels?: Readonly<Record<string, string>>];

/** A gauge with its samples; a gauge without samples is omitted. */
type Family = { readonly name: string; readonly help: string; readonly samples: readonly Sample[] };

/** Returns the metrics of a fleet; `stats` are the buckets of the window that is summed. */
export function formatMetrics(health: Health, stats: readonly RunStats[]): string {
  return [...fleetFamilies(health), ...rateFamilies(health), ...objectiveFamilies(health), ...windowFamilies(stats)]
    .filter(({ samples }) => samples.length > 0)
    .map(formatFamily)
    .join('');
}

function formatFamily({ name, help, samples }: Family): string {
  const lines = samples.map(
    ([value, labels = {}]) => `fairlead_${name}${formatLabels(labels)} ${formatMetricNumber(value)}\n`,
  );
  return `# HELP fairlead_${name} ${escapeText(help)}\n# TYPE fairlead_${name} gauge\n${lines.join('')}`;
}

function formatLabels(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeText(value).replaceAll('"', '\\"')}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

/** Escapes line breaks: a worker name must not be able to add samples. */
const escapeText = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');

function formatMetricNumber(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  return Number.isFinite(value) ? String(value) : value > 0 ? '+Inf' : '-Inf';
}

function fleetFamilies({ depth, oldestMs, workers, breakers, killSwitch }: Health): readonly Family[] {
  const count = (alive: boolean): number => workers.filter((worker) => worker.alive === alive).length;
  return [
    { name: 'stopped', help: 'Whether the kill switch is on.', samples: [[Number(killSwitch.stopped)]] },
    {
      name: 'queue_runs',
      help: 'Runs that have not ended, by status.',
      samples: (['queued', 'running', 'waiting'] as const).map((status) => [depth[status], { status }]),
    },
    { name: 'queue_oldest_seconds', help: 'Age of the oldest queued run.', samples: [[toSeconds(oldestMs ?? 0)]] },
    {
      name: 'workers',
      help: 'Workers, by whether their last heartbeat is recent.',
      samples: [
        [count(true), { state: 'alive' }],
        [count(false), { state: 'silent' }],
      ],
    },
    {
      name: 'worker_running',
      help: 'Active runs of a worker.',
      samples: workers.map(({ worker, host, running }) => [running, { worker, host }]),
    },
    {
      name: 'worker_blocked_seconds',
      help: 'How long the main thread of a worker has not answered; 0 if it answers.',
      samples: workers.map(({ worker, host, blockedMs = 0 }) => [toSeconds(blockedMs), { worker, host }]),
    },
    {
      name: 'breaker_open',
      help: 'Circuit breaker of a model: 1 open, 0.5 half open, 0 closed.',
      samples: breakers.map(({ worker, model, state }) => [breakerValues[state] ?? 1, { worker, model }]),
    },
  ];
}

const breakerValues: Readonly<Record<string, number>> = { open: 1, 'half-open': 0.5, closed: 0 };

const toSeconds = (ms: number): number => ms / 1000;

/** Returns a value and the ends of its interval as three samples. */
const createIntervalSamples = (
  value: number,
  [low, high]: readonly [number, number],
  labels: Record<string, string>,
): Sample[] => [
  [value, { ...labels, bound: 'value' }],
  [low, { ...labels, bound: 'low' }],
  [high, { ...labels, bound: 'high' }],
];

const createRateSamples = (of: string, { rate, interval }: Rate): Sample[] =>
  createIntervalSamples(rate ?? Number.NaN, interval, { of });

function createQuantileSamples(quantile: string, { value, interval: [low, high] }: Quantile): Sample[] {
  const ends = [low === null ? 0 : toSeconds(low), high === null ? Number.POSITIVE_INFINITY : toSeconds(high)] as const;
  return createIntervalSamples(toSeconds(value), ends, { quantile });
}

function rateFamilies({ rates, queueMs, durationMs }: Health): readonly Family[] {
  const { answered, errors, abstained, limited } = rates;
  const spread = (of: Health['queueMs']): Sample[] =>
    of
      ? [
          ...createQuantileSamples('0.5', of.p50),
          ...createQuantileSamples('0.95', of.p95),
          ...createQuantileSamples('0.99', of.p99),
        ]
      : [];
  return [
    { name: 'hour_runs', help: 'Runs that ended in the last hour.', samples: [[rates.ended]] },
    {
      name: 'hour_rate',
      help: 'Rates of the runs of the last hour that were not cancelled, with 95 % intervals.',
      samples: Object.entries({ answered, errors, abstained, limited }).flatMap(([of, rate]) =>
        createRateSamples(of, rate),
      ),
    },
    { name: 'hour_queue_seconds', help: 'Time in the queue of the runs of the last hour.', samples: spread(queueMs) },
    { name: 'hour_run_seconds', help: 'Run time of the runs of the last hour.', samples: spread(durationMs) },
  ];
}

function objectiveFamilies({ slo, drift }: Health): readonly Family[] {
  const verdicts: Readonly<Record<string, number>> = { met: 1, missed: 0, drifted: 1, steady: 0 };
  return [
    {
      name: 'objective_met',
      help: 'Whether an objective of the last 24 hours is met; NaN if there is not enough data.',
      samples: slo.map(({ id, verdict }) => [verdicts[verdict] ?? Number.NaN, { objective: id }]),
    },
    {
      name: 'objective_budget_left',
      help: 'The remaining error budget.',
      samples: slo.flatMap(({ id, budgetLeft }) => (budgetLeft === null ? [] : [[budgetLeft, { objective: id }]])),
    },
    {
      name: 'drifted',
      help: 'Whether the last 24 hours differ from the week before, or a model from its baseline; NaN if there is not enough data.',
      samples: drift.map(({ id, verdict }) => [verdicts[verdict] ?? Number.NaN, { of: id }]),
    },
    {
      name: 'model_right_ratio',
      help: 'Right answers of the last evaluation of a model, of 1.',
      samples: drift.flatMap(({ id, today }) =>
        id.startsWith('model:') && 'rate' in today && today.rate !== null ? [[today.rate, { of: id }]] : [],
      ),
    },
  ];
}

function windowFamilies(stats: readonly RunStats[]): readonly Family[] {
  const sum = (pick: (bucket: RunStats) => number): number => stats.reduce((total, bucket) => total + pick(bucket), 0);
  const reasons = Object.keys(outcomeClasses) as (keyof typeof outcomeClasses)[];
  return [
    {
      name: 'window_runs',
      help: 'Runs that ended in the window, by reason.',
      samples: reasons.map((reason) => [sum((bucket) => bucket.reasons[reason] ?? 0), { reason }]),
    },
    { name: 'window_usd', help: 'Cost of the runs of the window in US dollars.', samples: [[sum(({ usd }) => usd)]] },
    { name: 'window_tokens', help: 'Tokens of the runs of the window.', samples: [[sum(({ tokens }) => tokens)]] },
  ];
}
