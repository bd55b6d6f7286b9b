// Fleet health from the store: queue depth, workers, breakers, rates and durations with intervals, objectives and drift.
import {
  isObject,
  errorMessage,
  type FleetRun,
  type KillSwitch,
  type RunQueue,
  type WorkerRegistry,
  type QueueDepth,
  type KillSwitchState,
  type RunStats,
  type WorkerInfo,
  type JsonObject,
} from '../../core/index.ts';
import { breakerStates } from '../../providers/index.ts';
import { computeDrift, type Drift, type DriftOptions } from './drift.ts';
import {
  evaluateObjectives,
  type Durations,
  type Objective,
  type Objectives,
  defaultObjectives,
} from './objectives.ts';
import { computeModelDrift, readModelBaselines } from './model-drift.ts';
import { countOutcomes, computeRates, type Rates } from './outcomes.ts';
import { computePercentiles } from './statistics.ts';

/** A worker, and whether its last heartbeat is recent. */
export type WorkerHealth = WorkerInfo & { readonly alive: boolean; readonly silentMs: number };

/** A circuit breaker that a worker reports. */
export type BreakerHealth = { readonly worker: string; readonly model: string; readonly state: string };

/** The health of a fleet. */
export type Health = {
  readonly measuredAt: string;
  readonly depth: QueueDepth;
  /** How long the oldest queued run waits; null if none is queued. */
  readonly oldestMs: number | null;
  readonly workers: readonly WorkerHealth[];
  readonly breakers: readonly BreakerHealth[];
  /** Rates of the runs that ended in the last hour. */
  readonly rates: Rates;
  /** Percentiles of the runs that ended in the last hour, of at most `maxRuns`; null if there were none. */
  readonly queueMs: ReturnType<typeof computePercentiles> | null;
  readonly durationMs: ReturnType<typeof computePercentiles> | null;
  readonly killSwitch: KillSwitchState;
  /** Over the last 24 hours. */
  readonly slo: readonly Objective[];
  /** The last 24 hours against the seven days before them, and models against their baselines. */
  readonly drift: readonly Drift[];
};

/** The options of health. */
export type HealthOptions = {
  readonly objectives?: Partial<Objectives>;
  readonly drift?: DriftOptions;
  /** The directory of the baselines of models; without it their drift is not read. */
  readonly baselinesDir?: string;
  /** A worker without a heartbeat for so many milliseconds is not alive; 15,000 by default. */
  readonly silentMs?: number;
  /** The maximum number of runs that are read for percentiles; 2,000 by default. */
  readonly maxRuns?: number;
};

/** The parts of a store that health is read from: of a whole fleet, or of what one tenant may see. */
export type HealthStore = {
  readonly queue: Pick<RunQueue, 'depth' | 'stats' | 'list'>;
  readonly workers: Pick<WorkerRegistry, 'list'>;
  readonly killSwitch: Pick<KillSwitch, 'status'>;
};

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** Reads the health of a fleet. */
export async function readHealth(store: HealthStore, now: Date, options: HealthOptions = {}): Promise<Health> {
  const [current, historical] = await Promise.all([
    readCurrentHealth(store, now, options),
    readHistoricalHealth(store, now, options),
  ]);
  return { ...current, ...historical };
}

/** Creates a cached reader: the current part is read at most once a second, the historical part once a minute, because it is expensive and changes little. */
export function createHealthReader(store: HealthStore, options: HealthOptions = {}): (now?: Date) => Promise<Health> {
  const readCurrent = cacheFor(1000, (now) => readCurrentHealth(store, now, options));
  const readHistorical = cacheFor(60_000, (now) => readHistoricalHealth(store, now, options));
  return async (now = new Date()) => {
    const [current, historical] = await Promise.all([readCurrent(now), readHistorical(now)]);
    return { ...current, ...historical };
  };
}

/** Caches a read for so many milliseconds; failures are not cached. */
function cacheFor<T>(forMs: number, read: (now: Date) => Promise<T>): (now: Date) => Promise<T> {
  let cached: { readonly value: Promise<T>; readonly until: number } | undefined;
  return (now) => {
    if (cached !== undefined && now.getTime() < cached.until) return cached.value;
    const entry = { value: read(now), until: now.getTime() + forMs };
    cached = entry;
    entry.value.catch(() => {
      if (cached === entry) cached = undefined;
    });
    return entry.value;
  };
}

type HistoricalHealth = Pick<Health, 'slo' | 'drift'>;

async function readCurrentHealth(
  store: HealthStore,
  now: Date,
  options: HealthOptions,
): Promise<Omit<Health, keyof HistoricalHealth>> {
  const from = new Date(now.getTime() - hourMs);
  const [depth, workerInfos, killSwitch, stats] = await Promise.all([
    store.queue.depth(),
    store.workers.list(),
    readKillSwitch(store),
    store.queue.stats(from.toISOString(), now.toISOString(), hourMs),
  ]);
  const { queueMs, durationMs } = await readDurations(store, from, stats, options);
  const workers = workerInfos.map((entry) => toWorkerHealth(entry, now, options.silentMs ?? 15_000));
  return {
    measuredAt: now.toISOString(),
    depth,
    oldestMs: depth.oldest === undefined ? null : Math.max(0, now.getTime() - Date.parse(depth.oldest)),
    workers,
    breakers: workers.filter(({ alive }) => alive).flatMap(parseBreakers),
    rates: computeRates(countOutcomes(stats)),
    queueMs: computePercentiles(queueMs) ?? null,
    durationMs: computePercentiles(durationMs) ?? null,
    killSwitch,
  };
}

async function readHistoricalHealth(store: HealthStore, now: Date, options: HealthOptions): Promise<HistoricalHealth> {
  const from = new Date(now.getTime() - dayMs);
  const week = new Date(from.getTime() - 7 * dayMs);
  const [today, baseline] = await Promise.all([
    store.queue.stats(from.toISOString(), now.toISOString(), hourMs),
    store.queue.stats(week.toISOString(), from.toISOString(), hourMs),
  ]);
  const durations = await readDurations(store, from, today, options);
  return {
    slo: evaluateObjectives(countOutcomes(today), durations, { ...defaultObjectives, ...options.objectives }),
    drift: [
      ...computeDrift(today, baseline, options.drift),
      ...(options.baselinesDir === undefined ? [] : computeModelDrift(readModelBaselines(options.baselinesDir))),
    ],
  };
}

/** Reads the kill switch; it counts as stopped if it cannot be read. */
async function readKillSwitch({ killSwitch }: HealthStore): Promise<KillSwitchState> {
  try {
    return await killSwitch.status();
  } catch (error) {
    return { stopped: true, reason: `The kill switch cannot be read: ${errorMessage(error)}` };
  }
}

function toWorkerHealth(entry: WorkerInfo, now: Date, maxSilentMs: number): WorkerHealth {
  const silentMs = Math.max(0, now.getTime() - Date.parse(entry.lastSeenAt));
  return { ...entry, silentMs, alive: silentMs <= maxSilentMs };
}

/** Parses the breakers in a heartbeat; invalid entries are ignored. */
function parseBreakers({ worker, info: { breakers } }: WorkerInfo): readonly BreakerHealth[] {
  return (Array.isArray(breakers) ? breakers : []).flatMap((each) => {
    const { model, state } = isObject(each) ? each : {};
    return typeof model === 'string' && typeof state === 'string' ? [{ worker, model, state }] : [];
  });
}

const pageSize = 500;

/** Reads the queue times and run times of the runs that ended since `from`, at most `maxRuns`. */
async function readDurations(
  store: HealthStore,
  from: Date,
  stats: readonly RunStats[],
  { maxRuns = 2000 }: HealthOptions,
): Promise<Durations> {
  const maxCount = Math.min(
    maxRuns,
    stats.reduce((sum, { ended }) => sum + ended, 0),
  );
  const queueMs: number[] = [];
  const durationMs: number[] = [];
  let count = 0;
  let before: string | undefined;
  // Runs are listed by queue time, so a run that ended late may be far back: the number of pages is limited.
  for (let pages = 0; count < maxCount && pages < 2 * Math.ceil(maxRuns / pageSize); pages++) {
    const runs = await store.queue.list({
      status: 'ended',
      limit: pageSize,
      ...(before === undefined ? {} : { before }),
    });
    for (const run of runs) {
      if (count >= maxCount || run.ended === undefined || Date.parse(run.ended) < from.getTime()) continue;
      count++;
      if (run.started === undefined) continue;
      queueMs.push(Math.max(0, Date.parse(run.started) - getReadyTime(run)));
      durationMs.push(Math.max(0, Date.parse(run.ended) - Date.parse(run.started)));
    }
    if (runs.length < pageSize) break;
    before = runs.at(-1)?.id;
  }
  return { queueMs, durationMs };
}

/** The time from which a run could start: the wait until `notBefore` does not count. */
const getReadyTime = ({ queued, notBefore }: FleetRun): number =>
  Math.max(Date.parse(queued), notBefore === undefined ? 0 : Date.parse(notBefore));

/** Returns the data that a worker adds to its heartbeat. */
export const getWorkerInfo = (): JsonObject => ({
  breakers: breakerStates().map(({ model, state, forMs }) => ({ model, state, forMs })),
  memory: process.memoryUsage.rss(),
});
