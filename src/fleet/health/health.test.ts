// Tests of health, objectives and drift, with runs of known times and outcomes.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import type {
  FleetRun,
  FleetStore,
  DurationPercentiles,
  RunQueue,
  RunFilter,
  KillSwitchState,
  StopReason,
  RunStats,
} from '../../core/index.ts';
import { computeDrift } from './drift.ts';
import { readHealth, createHealthReader } from './health.ts';
import { evaluateObjectives, defaultObjectives } from './objectives.ts';
import { outcomeClasses, countOutcomes, computeRates } from './outcomes.ts';

const now = new Date('2030-05-20T12:00:00.000Z');
const hour = 3_600_000;
const timeAgo = (ms: number): string => new Date(now.getTime() - ms).toISOString();

/** Creates an ended run with this age, queue time and duration. */
const createEndedRun = (id: string, ago: number, reason: StopReason, waited = 1000, took = 5000): FleetRun => ({
  id,
  prompt: 'go',
  kind: 'run',
  settings: {},
  session: id,
  tenant: 'default',
  priority: 0,
  status: 'ended',
  attempts: 1,
  queued: timeAgo(ago + took + waited),
  started: timeAgo(ago + took),
  ended: timeAgo(ago),
  pendingApprovals: [],
  outcome: {
    reason,
    text: '',
    spent: {
      turns: 1,
      calls: 0,
      input: 1,
      output: 1,
      cacheRead: 0,
      cacheWrite: 0,
      usd: 0,
      turnsWithoutPrice: 0,
      ms: 1,
    },
  },
});

const nearestRankPercentiles = (numbers: readonly number[]): DurationPercentiles => {
  const sorted = numbers.toSorted((a, b) => a - b);
  const at = (p: number): number => sorted[Math.ceil(p * sorted.length) - 1] as number;
  return sorted.length === 0 ? undefined : [at(0.5), at(0.95), at(0.99)];
};

function countRuns(runs: readonly FleetRun[], from: string, to: string, stretchMs: number): readonly RunStats[] {
  const tallies: RunStats[] = [];
  for (let start = Date.parse(from); start < Date.parse(to); start += stretchMs) {
    const end = Math.min(start + stretchMs, Date.parse(to));
    const some = runs.filter(({ ended: at = '' }) => Date.parse(at) >= start && Date.parse(at) < end);
    const reasons: Partial<Record<StopReason, number>> = {};
    for (const { outcome } of some) if (outcome) reasons[outcome.reason] = (reasons[outcome.reason] ?? 0) + 1;
    const times = (first: 'queued' | 'started', second: 'started' | 'ended'): DurationPercentiles =>
      nearestRankPercentiles(some.map((run) => Date.parse(run[second] ?? '') - Date.parse(run[first] ?? '')));
    tallies.push({
      from: new Date(start).toISOString(),
      ended: some.length,
      reasons,
      usd: 0,
      tokens: 0,
      queueMs: times('queued', 'started'),
      durationMs: times('started', 'ended'),
    });
  }
  return tallies;
}

type StoreContents = {
  readonly runs?: readonly FleetRun[];
  readonly workers?: readonly { readonly worker: string; readonly lastSeenAt: string; readonly info?: object }[];
  readonly standing?: () => Promise<KillSwitchState>;
};

/** Creates a store with ended runs that counts its reads. */
function createStore({ runs = [], workers = [], standing }: StoreContents): {
  readonly store: FleetStore;
  asked: number;
} {
  const made = { asked: 0, store: {} as FleetStore };
  const newest = runs.toSorted((a, b) => b.queued.localeCompare(a.queued));
  const list = async ({ status, limit: most = 50, before }: RunFilter = {}): Promise<readonly FleetRun[]> => {
    const some = newest.filter((run) => status === undefined || run.status === status);
    return some.slice(before === undefined ? 0 : some.findIndex(({ id }) => id === before) + 1).slice(0, most);
  };
  const queue = {
    depth: async () => ({ queued: 2, running: 1, waiting: 3, oldest: timeAgo(90_000) }),
    list,
    stats: async (from: string, to: string, ms: number) => (made.asked++, countRuns(runs, from, to, ms)),
  };
  const roster = {
    list: async () =>
      workers.map((each) => ({ host: 'h', pid: 1, version: '1', startedAt: '', running: 0, info: {}, ...each })),
  };
  const killSwitch = { status: standing ?? (async () => ({ stopped: false })) };
  made.store = { queue, workers: roster, killSwitch } as unknown as FleetStore;
  return made;
}

test('[A94] health contains depth, age, alive and silent workers, circuit breakers, rates with intervals, percentiles and the kill switch', async () => {
  const breakers = [{ model: 'groq/m', state: 'open', forMs: 9 }, { nonsense: true }];
  const { store } = createStore({
    runs: [
      ...Array.from({ length: 80 }, (_, i) => createEndedRun(`a${i}`, (i + 1) * 1000, 'answered', 1000 + i, 5000 + i)),
      ...Array.from({ length: 15 }, (_, i) => createEndedRun(`e${i}`, (i + 1) * 1000, 'provider-error')),
      ...Array.from({ length: 5 }, (_, i) => createEndedRun(`q${i}`, (i + 1) * 1000, 'abstained')),
      ...Array.from({ length: 7 }, (_, i) => createEndedRun(`c${i}`, (i + 1) * 1000, 'cancelled')),
      createEndedRun('old', 2 * hour, 'stuck'),
    ],
    workers: [
      { worker: 'well', lastSeenAt: timeAgo(2000), info: { breakers } },
      { worker: 'gone', lastSeenAt: timeAgo(60_000), info: { breakers } },
    ],
    standing: async () => ({ stopped: true, reason: 'a drill' }),
  });
  const health = await readHealth(store, now);
  assert.equal(health.oldestMs, 90_000);
  assert.deepEqual(
    health.workers.map(({ worker, alive, silentMs }) => [worker, alive, silentMs]),
    [
      ['well', true, 2000],
      ['gone', false, 60_000],
    ],
  );
  assert.deepEqual(
    health.breakers,
    [{ worker: 'well', model: 'groq/m', state: 'open' }],
    'circuit breakers of dead workers are not listed',
  );
  assert.deepEqual([health.rates.ended, health.rates.cancelled], [107, 7]);
  assert.deepEqual([health.rates.errors.good, health.rates.errors.total, health.rates.errors.rate], [15, 100, 0.15]);
  assert.deepEqual(
    health.rates.errors.interval.map((end) => end.toFixed(4)),
    ['0.0931', '0.2328'],
  );
  assert.equal(health.rates.abstained.good, 5);
  assert.equal(health.queueMs?.p95.count, 107);
  assert.ok(health.durationMs && health.durationMs.p95.value >= 5000 && health.durationMs.p95.value < 5080);
  assert.deepEqual(health.killSwitch, { stopped: true, reason: 'a drill' });
  assert.deepEqual(
    health.slo.map(({ id }) => id),
    ['answered', 'waitedMs', 'tookMs'],
  );
  assert.ok(health.drift.every(({ verdict }) => verdict === 'not enough data'));
});

test('[A94] an empty fleet has no rates, percentiles or verdicts; an unreadable kill switch is shown as stopped', async () => {
  const { store } = createStore({ standing: () => Promise.reject(new Error('the disk is gone')) });
  const { rates, queueMs: waited, durationMs: took, slo, drift, killSwitch: standing } = await readHealth(store, now);
  assert.deepEqual(
    [rates.ended, rates.errors.rate, rates.errors.interval, waited, took],
    [0, null, [0, 1], null, null],
  );
  assert.ok([...slo, ...drift].every(({ verdict }) => verdict === 'not enough data'));
  assert.ok(slo.every(({ measured, budgetLeft }) => measured === null && budgetLeft === null));
  assert.equal(standing.stopped, true);
  assert.match(standing.reason ?? '', /the disk is gone/);
});

test('[A94] many runs are read page by page, the latest first, up to the limit', async () => {
  const runs = Array.from({ length: 1300 }, (_, i) =>
    createEndedRun(`r${i}`, (i + 1) * 1000, 'answered', 1000, 5000 + i),
  );
  const { store } = createStore({ runs });
  const { durationMs: took } = await readHealth(store, now);
  assert.deepEqual([took?.p50.count, took?.p50.value], [1300, 5649], 'each run is counted once');
  assert.equal((await readHealth(store, now, { maxRuns: 700 })).queueMs?.p50.count, 700);
});

test('[A94] a run that ended before the last hour is not counted, even if it was queued after one that is', async () => {
  const slow = createEndedRun('slow', hour / 2, 'answered', 1000, 3 * hour);
  const quick = createEndedRun('quick', 2 * hour, 'answered', 1000, 10);
  const { durationMs: took } = await readHealth(createStore({ runs: [slow, quick] }).store, now);
  assert.deepEqual([took?.p50.count, took?.p50.value], [1, 3 * hour]);
});

test('[A94] the queue time of a delayed run counts from its start time', async () => {
  const late = { ...createEndedRun('late', 1000, 'answered', hour / 2), notBefore: timeAgo(6500) };
  assert.equal((await readHealth(createStore({ runs: [late] }).store, now)).queueMs?.p50.value, 500);
});

test('[A94] concurrent requests share one read; a failed read is repeated', async () => {
  let fail = true;
  const made = createStore({ runs: [createEndedRun('a', 1000, 'answered')] });
  const { queue } = made.store;
  const tally: RunQueue['stats'] = (...given) => (fail ? Promise.reject(new Error('away')) : queue.stats(...given));
  const read = createHealthReader({ ...made.store, queue: { ...queue, stats: tally } });
  await assert.rejects(read(now), /away/);
  fail = false;
  await Promise.all(Array.from({ length: 20 }, () => read(now)));
  assert.equal(made.asked, 3, 'the hour, the day and the week are read once each');
  await read(new Date(now.getTime() + 5000));
  assert.equal(made.asked, 4, 'only the hour is read again');
});

test('[A65] every stop reason has a class, and cancelled runs count for no rate', () => {
  const reasons = { answered: 6, 'task-complete': 2, stuck: 1, 'max-turns': 1, cancelled: 5, 'kill-switch': 5 };
  const rates = computeRates(countOutcomes([{ reasons }, { reasons: { abstained: 10 } }]));
  assert.deepEqual(
    [rates.ended, rates.cancelled, rates.answered.good, rates.errors.good, rates.limited.good, rates.abstained.good],
    [30, 10, 8, 1, 1, 10],
  );
  assert.equal(rates.answered.total, 20);
});

test('[A65] the table of stop reasons equals the one in the documentation', () => {
  const paper = readFileSync(path.resolve(import.meta.dirname, '../../../docs/operations.md'), 'utf8');
  const documented: Record<string, string> = {};
  for (const [, outcome = '', reasons = ''] of paper.matchAll(/^\| ([a-z-]+) \| (`[^|]*`) \|$/gm))
    for (const [, reason = ''] of reasons.matchAll(/`([^`]+)`/g)) documented[reason] = outcome;
  assert.deepEqual(documented, { ...outcomeClasses });
});

const createOutcomes = (answered: number, error: number) => countOutcomes([{ reasons: { answered, stuck: error } }]);
const createDurations = (slow: number, total: number, ms: number) =>
  Array.from({ length: total }, (_, i) => (i < slow ? 10 * ms : ms / 2));

test('[A65] an objective is met or missed only if its whole interval is; its budget shows what is left', () => {
  const verdicts = (answered: number, error: number) =>
    evaluateObjectives(createOutcomes(answered, error), { queueMs: [], durationMs: [] }).map(
      ({ verdict }) => verdict,
    )[0];
  assert.equal(verdicts(970, 30), 'met');
  assert.equal(verdicts(700, 300), 'missed');
  assert.equal(verdicts(10, 0), 'not enough data', 'the interval of 10 of 10 starts at 72 %');
  assert.equal(verdicts(91, 9), 'not enough data', 'the target is within the interval');
  const [answered] = evaluateObjectives(createOutcomes(950, 50), { queueMs: [], durationMs: [] });
  assert.ok(Math.abs((answered?.budgetLeft ?? 0) - 0.5) < 1e-9);

  const targets = { ...defaultObjectives, waitedMs: 1000 };
  const wait = (slow: number, total: number) =>
    evaluateObjectives(
      createOutcomes(1, 0),
      { queueMs: createDurations(slow, total, 1000), durationMs: [] },
      targets,
    )[1];
  assert.equal(wait(2, 200)?.verdict, 'met');
  assert.equal(wait(30, 200)?.verdict, 'missed');
  assert.equal(wait(10, 200)?.verdict, 'not enough data');
  assert.equal(wait(0, 60)?.verdict, 'not enough data', '60 runs are too few for an interval of the 95th percentile');
  assert.ok(Math.abs((wait(20, 200)?.budgetLeft ?? 0) + 1) < 1e-9, 'twice the allowed errors: overdrawn by 100 %');
});

/** Creates hours with this many runs each, this many of them failed, and this 95th percentile of their duration. */
const createHourlyStats = (
  count: number,
  runs: number,
  failed: number,
  took: (i: number) => number,
): readonly RunStats[] =>
  Array.from({ length: count }, (_, i) => ({
    from: timeAgo((count - i) * hour),
    ended: runs,
    reasons: { answered: runs - failed, stuck: failed },
    usd: 0,
    tokens: 0,
    queueMs: [10, 20, 30] as const,
    durationMs: [took(i) / 2, took(i), took(i) * 2] as const,
  }));
const createWave = (base: number) => (i: number) => base * (1 + 0.2 * Math.sin(i * 1.7));

test('[A65] drift is reported with the interval of the difference, and a stable figure as steady', () => {
  const before = createHourlyStats(168, 20, 1, createWave(4000));
  const verdict = (today: readonly RunStats[]) =>
    Object.fromEntries(computeDrift(today, before).map(({ id, verdict: v }) => [id, v]));
  const steady = { errors: 'steady', abstained: 'steady', limited: 'steady', queueMs: 'steady', durationMs: 'steady' };
  assert.deepEqual(verdict(createHourlyStats(24, 20, 1, createWave(4000))), steady);
  assert.deepEqual(verdict(createHourlyStats(24, 20, 4, createWave(4000))), { ...steady, errors: 'drifted' });
  assert.deepEqual(verdict(createHourlyStats(24, 20, 1, createWave(8000))), { ...steady, durationMs: 'drifted' });
  assert.deepEqual(verdict(createHourlyStats(24, 20, 1, createWave(4200))), steady, '5 % more is within the margin');

  const [errors, , , , took] = computeDrift(createHourlyStats(24, 20, 4, createWave(8000)), before);
  assert.ok(Math.abs((errors?.change?.value ?? 0) - 0.15) < 1e-9);
  assert.ok((errors?.change?.interval[0] ?? 0) > 0.01 && (errors?.change?.interval[1] ?? 1) < 0.3);
  assert.ok((errors?.change?.confidence ?? 0) > 0.95, 'several comparisons are tested more strictly than one');
  assert.ok((took?.change?.interval[0] ?? 0) > 1.5 && (took?.change?.interval[1] ?? 9) < 2.6);
});

test('[A65] a few runs are never drift, whatever their outcome', () => {
  const before = createHourlyStats(168, 20, 1, createWave(4000));
  const all = (today: readonly RunStats[], past: readonly RunStats[]) =>
    new Set(computeDrift(today, past).map(({ verdict, change }) => `${verdict} ${change === undefined}`));
  assert.deepEqual(all(createHourlyStats(1, 20, 20, createWave(90_000)), before), new Set(['not enough data true']));
  const thin = computeDrift(
    createHourlyStats(24, 4, 0, createWave(90_000)),
    createHourlyStats(168, 4, 0, createWave(1)),
  );
  assert.deepEqual(
    thin.flatMap(({ kind: as, verdict }) => (as === 'ratio' ? [verdict] : [])),
    ['not enough data', 'not enough data'],
    'hours with four runs each have no 95th percentile',
  );
  assert.deepEqual(
    all(createHourlyStats(24, 20, 20, createWave(90_000)), createHourlyStats(2, 20, 0, createWave(1))),
    new Set(['not enough data true']),
  );
});
