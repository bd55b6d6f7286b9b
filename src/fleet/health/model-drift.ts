// Drift of models: the latest evaluation of each provider, model and dataset against its baseline, case by case, with one family-wise error rate for all.
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isObject } from '../../core/index.ts';
import type { Drift, DriftVerdict } from './drift.ts';
import { comparePairs, type PairedDifference } from './paired.ts';
import { computeRate, type RateCount } from './statistics.ts';

/** One evaluation of a model. */
export type ModelMeasurement = RateCount & {
  readonly when: string;
  /** The version of the model as the provider names it in its responses; empty if it names none. */
  readonly version: string;
  /** The share of right trials of each case, from 0 to 1. */
  readonly cases: Readonly<Record<string, number>>;
};

/** The measurements of one model on one dataset. */
export type ModelBaseline = {
  readonly provider: string;
  readonly model: string;
  /** The name of the dataset, and the hash of its cases: changed cases have a baseline of their own. */
  readonly dataset: string;
  readonly datasetId: string;
  readonly baseline: ModelMeasurement;
  /** The last evaluation after the baseline. */
  readonly latest?: ModelMeasurement;
};

const maxFileChars = 20_000_000;
/** With fewer cases in both, no verdict is given. */
const minPairs = 8;

/** Returns the directory of the baselines in the state directory. */
export const getBaselinesDir = (state: string): string => path.join(state, 'baselines');

const fileOf = (directory: string, { provider, model, datasetId }: Omit<ModelBaseline, 'baseline'>): string =>
  path.join(
    directory,
    `${createHash('sha256')
      .update(JSON.stringify([provider, model, datasetId]))
      .digest('hex')
      .slice(0, 32)}.json`,
  );

/** Saves an evaluation: as the baseline if there is none or if it is accepted as such, otherwise as the latest one. */
export function saveModelMeasurement(
  directory: string,
  about: Omit<ModelBaseline, 'baseline' | 'latest'>,
  measured: ModelMeasurement,
  { accept = false }: { readonly accept?: boolean } = {},
): ModelBaseline {
  const file = fileOf(directory, about);
  const known = accept ? undefined : readBaselineFile(file);
  const saved: ModelBaseline = known
    ? { ...about, baseline: known.baseline, latest: measured }
    : { ...about, baseline: measured };
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const tempFile = `${file}.${process.pid}.tmp`;
  try {
    writeFileSync(tempFile, `${JSON.stringify({ format: 1, ...saved })}\n`, { mode: 0o600 });
    renameSync(tempFile, file);
  } finally {
    rmSync(tempFile, { force: true });
  }
  return saved;
}

/** Reads the baselines of a directory; damaged files are ignored. */
export function readModelBaselines(directory: string): readonly ModelBaseline[] {
  let names: readonly string[];
  try {
    names = readdirSync(directory);
  } catch {
    return [];
  }
  return names
    .filter((name) => name.endsWith('.json'))
    .toSorted()
    .flatMap((name) => readBaselineFile(path.join(directory, name)) ?? []);
}

function readBaselineFile(file: string): ModelBaseline | undefined {
  try {
    const text = readFileSync(file, 'utf8');
    const value: unknown = text.length > maxFileChars ? undefined : JSON.parse(text);
    if (!isObject(value) || value['format'] !== 1 || !isMeasurement(value['baseline'])) return undefined;
    if (value['latest'] !== undefined && !isMeasurement(value['latest'])) return undefined;
    const names = [value['provider'], value['model'], value['dataset'], value['datasetId']];
    return names.every((name) => typeof name === 'string') ? (value as unknown as ModelBaseline) : undefined;
  } catch {
    return undefined;
  }
}

function isMeasurement(value: unknown): value is ModelMeasurement {
  if (!isObject(value)) return false;
  const { good, total, when, version, cases } = value;
  const isCount = Number.isSafeInteger(good) && Number.isSafeInteger(total) && Number(good) >= 0;
  return (
    isCount &&
    Number(total) >= Number(good) &&
    typeof when === 'string' &&
    typeof version === 'string' &&
    isObject(cases) &&
    Object.values(cases).every((rate) => typeof rate === 'number' && rate >= 0 && rate <= 1)
  );
}

/** Compares the cases that both measurements have. */
export function compareMeasurements(before: ModelMeasurement, after: ModelMeasurement): PairedDifference {
  const pairs = Object.entries(after.cases).flatMap(([id, rate]) => {
    const earlier = Object.hasOwn(before.cases, id) ? before.cases[id] : undefined;
    return earlier === undefined ? [] : [[earlier, rate] as const];
  });
  return comparePairs(pairs);
}

/** Returns the drift of each model. The alarms of all models together are false with a probability of at most `alpha`. */
export function computeModelDrift(baselines: readonly ModelBaseline[], alpha = 0.05): readonly Drift[] {
  const compared = baselines.map((each) => ({
    each,
    difference: each.latest && compareMeasurements(each.baseline, each.latest),
  }));
  const tested = compared
    .flatMap(({ each, difference }) => (difference && difference.pairs >= minPairs ? [{ each, difference }] : []))
    .toSorted((a, b) => a.difference.pValue - b.difference.pValue);
  const drifted = new Set<ModelBaseline>();
  for (const [rank, { each, difference }] of tested.entries()) {
    if (!(difference.pValue < alpha / (tested.length - rank))) break;
    drifted.add(each);
  }
  return compared.map(({ each, difference }) => {
    const verdict: DriftVerdict =
      difference && difference.pairs >= minPairs ? (drifted.has(each) ? 'drifted' : 'steady') : 'not enough data';
    return toDrift(each, difference, verdict);
  });
}

function toDrift(
  { provider, model, dataset, baseline, latest }: ModelBaseline,
  difference: PairedDifference | undefined,
  verdict: DriftVerdict,
): Drift {
  const isOther = latest !== undefined && latest.version !== baseline.version;
  const version = isOther
    ? `; the version was ${baseline.version || 'unknown'} and is ${latest.version || 'unknown'}`
    : '';
  return {
    id: `model:${provider}/${model}:${dataset}`,
    description: `right answers of ${provider}/${model} on ${dataset}, against the baseline of ${baseline.when.slice(0, 10)}${version}`,
    kind: 'difference',
    today: computeRate(latest ? { good: latest.good, total: latest.total } : { good: 0, total: 0 }),
    baseline: computeRate({ good: baseline.good, total: baseline.total }),
    ...(difference && verdict !== 'not enough data'
      ? { change: { value: difference.value, interval: difference.interval, confidence: 0.95 } }
      : {}),
    verdict,
  };
}
