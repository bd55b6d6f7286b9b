// How a fleet is: what waits, who works, what broke and how long things took, with intervals; read from its store alone.
import {
  isObject,
  errorMessage,
  type FleetRun,
  type FleetStore,
  type QueueDepth,
  type KillSwitchState,
  type RunStats,
  type WorkerInfo,
} from '../../core/index.ts';
import { computeDrift, type Drift, type DriftOptions } from './drift.ts';
import {
  evaluateObjectives,
  type Durations,
  type Objective,
  type Objectives,
  defaultObjectives,
} from './objectives.ts';
import { countOutcomes, computeRates, type Rates } from './outcomes.ts';
import { computePercentiles } from './quantiles.ts';

/** A worker, and whether it has been heard of lately. */
export type WorkerHealth = WorkerInfo & { readonly alive: boolean; readonly silentMs: number };

/** The circuit breaker of a model as a worker told it. */
export type BreakerHealth = { readonly worker: string; readonly model: string; readonly state: string };

/** How a fleet is. */
export type Health = {
  readonly measuredAt: string;
  readonly depth: QueueDepth;
  /** How long the oldest queued run has waited; null where none waits. */
  readonly oldestMs: number | null;
  readonly workers: readonly WorkerHealth[];
  readonly breakers: readonly BreakerHealth[];
  /** Of the runs that ended in the last hour. */
  readonly rates: Rates;
  /** Percentiles over the runs that ended in the last hour, or the latest of them where they are many; null where none did. */
  readonly queueMs: ReturnType<typeof computePercentiles> | null;
  readonly durationMs: ReturnType<typeof computePercentiles> | null;
  readonly killSwitch: KillSwitchState;
  /** Over the last 24 hours. */
  readonly slo: readonly Objective[];
  /** The last 24 hours against the seven days before them. */
  readonly drift: readonly Drift[];
};

/** How health is judged. */
export type HealthOptions = {
  readonly objectives?: Partial<Objectives>;
  readonly drift?: DriftOptions;
  /** A worker not heard of for so long counts as silent: 15 s unless given. */
  readonly silentMs?: number;
  /** Runs that are looked at one by one, for percentiles: 2,000 unless given. */
  readonly maxRuns?: number;
};

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** How a fleet is now. */
export async function readHealth(store: FleetStore, now: Date, options: HealthOptions = {}): Promise<Health> {
  const [present, past] = await Promise.all([
    readCurrentHealth(store, now, options),
    readHistoricalHealth(store, now, options),
  ]);
  return { ...present, ...past };
}

/** Reads health again and again for many who ask: once a second, and what looks far back once a minute, for it costs more and changes little. */
export function createHealthReader(store: FleetStore, options: HealthOptions = {}): (now?: Date) => Promise<Health> {
  const present = cacheFor(1000, (now) => readCurrentHealth(store, now, options));
  const past = cacheFor(60_000, (now) => readHistoricalHealth(store, now, options));
  return async (now = new Date()) => {
    const [here, back] = await Promise.all([present(now), past(now)]);
    return { ...here, ...back };
  };
}

/** What was read stays for so long; a failure is told to who asked, and not kept. */
function cacheFor<T>(forMs: number, read: (now: Date) => Promise<T>): (now: Date) => Promise<T> {
  let kept: { readonly value: Promise<T>; readonly until: number } | undefined;
  return (now) => {
    if (kept !== undefined && now.getTime() < kept.until) return kept.value;
    const made = { value: read(now), until: now.getTime() + forMs };
    kept = made;
    made.value.catch(() => {
      if (kept === made) kept = undefined;
    });
    return made.value;
  };
}

type HistoricalHealth = Pick<Health, 'slo' | 'drift'>;

async function readCurrentHealth(
  store: FleetStore,
  now: Date,
  options: HealthOptions,
): Promise<Omit<Health, keyof HistoricalHealth>> {
  const from = new Date(now.getTime() - hourMs);
  const [depth, roster, killSwitch, tallies] = await Promise.all([
    store.queue.depth(),
    store.workers.list(),
    readKillSwitch(store),
    store.queue.stats(from.toISOString(), now.toISOString(), hourMs),
  ]);
  const { queueMs, durationMs } = await readDurations(store, from, tallies, options);
  const workers = roster.map((entry) => toWorkerHealth(entry, now, options.silentMs ?? 15_000));
  return {
    measuredAt: now.toISOString(),
    depth,
    oldestMs: depth.oldest === undefined ? null : Math.max(0, now.getTime() - Date.parse(depth.oldest)),
    workers,
    breakers: workers.filter(({ alive }) => alive).flatMap(parseBreakers),
    rates: computeRates(countOutcomes(tallies)),
    queueMs: computePercentiles(queueMs) ?? null,
    durationMs: computePercentiles(durationMs) ?? null,
    killSwitch,
  };
}

async function readHistoricalHealth(store: FleetStore, now: Date, options: HealthOptions): Promise<HistoricalHealth> {
  const from = new Date(now.getTime() - dayMs);
  const week = new Date(from.getTime() - 7 * dayMs);
  const [today, baseline] = await Promise.all([
    store.queue.stats(from.toISOString(), now.toISOString(), hourMs),
    store.queue.stats(week.toISOString(), from.toISOString(), hourMs),
  ]);
  const durations = await readDurations(store, from, today, options);
  return {
    slo: evaluateObjectives(countOutcomes(today), durations, { ...defaultObjectives, ...options.objectives }),
    drift: computeDrift(today, baseline, options.drift),
  };
}

/** Whether work may go on. What cannot be read is stopped, also here. */
async function readKillSwitch({ killSwitch }: FleetStore): Promise<KillSwitchState> {
  try {
    return await killSwitch.status();
  } catch (error) {
    return { stopped: true, reason: `The kill-switch cannot be read: ${errorMessage(error)}` };
  }
}

function toWorkerHealth(entry: WorkerInfo, now: Date, mostMs: number): WorkerHealth {
  const silentMs = Math.max(0, now.getTime() - Date.parse(entry.lastSeenAt));
  return { ...entry, silentMs, alive: silentMs <= mostMs };
}

/** What a worker tells of its breakers; whatever else stands there is no breaker. */
function parseBreakers({ worker, info: about }: WorkerInfo): readonly BreakerHealth[] {
  const told = about['breakers'];
  return (Array.isArray(told) ? told : []).flatMap((each) => {
    const { model, state } = isObject(each) ? each : {};
    return typeof model === 'string' && typeof state === 'string' ? [{ worker, model, state }] : [];
  });
}

const pageSize = 500;

/** How long the latest runs waited and took that ended since then: as many as the tallies say, and no more than is bearable. */
async function readDurations(
  store: FleetStore,
  from: Date,
  tallies: readonly RunStats[],
  { maxRuns = 2000 }: HealthOptions,
): Promise<Durations> {
  const wanted = Math.min(
    maxRuns,
    tallies.reduce((sum, { ended }) => sum + ended, 0),
  );
  const waited: number[] = [];
  const took: number[] = [];
  let seen = 0;
  let before: string | undefined;
  // Runs are listed by when they were queued, so one that ended late may stand far back: not for ever.
  for (let pages = 0; seen < wanted && pages < 2 * Math.ceil(maxRuns / pageSize); pages++) {
    const runs = await store.queue.list({
      status: 'ended',
      limit: pageSize,
      ...(before === undefined ? {} : { before }),
    });
    for (const run of runs) {
      if (seen >= wanted || run.ended === undefined || Date.parse(run.ended) < from.getTime()) continue;
      seen++;
      if (run.started === undefined) continue;
      waited.push(Math.max(0, Date.parse(run.started) - getReadyTime(run)));
      took.push(Math.max(0, Date.parse(run.ended) - Date.parse(run.started)));
    }
    if (runs.length < pageSize) break;
    before = runs.at(-1)?.id;
  }
  return { queueMs: waited, durationMs: took };
}

/** Since when a run could have been begun: who asks for a later time does not wait until then. */
const getReadyTime = ({ queued, notBefore }: FleetRun): number =>
  Math.max(Date.parse(queued), notBefore === undefined ? 0 : Date.parse(notBefore));
