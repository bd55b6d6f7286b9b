// A stored calibration: what it is for, when and from which labels it was made, its threshold and its curve.
import { isObject } from '../../core/index.ts';
import { binomialUpperBound } from '../binomial.ts';
import type { Calibration } from './calibrate.ts';
import { maxCurvePoints, type CurvePoint, type RiskCoverage } from './curve.ts';

/** What a calibration is for. A calibration of another model, task or verifier does not count. */
export type CalibrationKey = {
  readonly model: string;
  /** The kind of task, such as `questions`. */
  readonly task: string;
  /** The name and version of what gives the confidence. */
  readonly verifier: string;
};

/** A calibration as it is stored. */
export type StoredCalibration = CalibrationKey &
  Calibration & {
    readonly version: 1;
    /** When it was made, as an ISO 8601 time. */
    readonly when: string;
    /** The sha256 of the labels. */
    readonly dataset: string;
    readonly curve: RiskCoverage;
  };

/** The task kind if none is named. */
export const defaultTask = 'questions';

const isShare = (value: unknown): value is number => typeof value === 'number' && value >= 0 && value <= 1;
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
const isName = (value: unknown): value is string =>
  typeof value === 'string' && value.length > 0 && value.length <= 300;

/** Parses a stored calibration; undefined if any part of it is invalid, or if its threshold does not hold its target. */
export function parseStoredCalibration(text: string): StoredCalibration | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(value) || value['version'] !== 1) return undefined;
  const { model, task, verifier, when, dataset, labels, errors, maxErrorRate, probability, why } = value;
  if (!isName(model) || !isName(task) || !isName(verifier)) return undefined;
  if (typeof when !== 'string' || when.length > 40 || Number.isNaN(Date.parse(when))) return undefined;
  if (typeof dataset !== 'string' || !/^[0-9a-f]{64}$/.test(dataset)) return undefined;
  if (!isCount(labels) || !isCount(errors) || errors > labels) return undefined;
  if (!isShare(maxErrorRate) || !isShare(probability) || probability < 0.5 || probability === 1) return undefined;
  if (typeof why !== 'string' || why.length > 1_000) return undefined;
  const curve = parseCurve(value['curve']);
  const found = parseThreshold(value, { labels, maxErrorRate, probability });
  if (!curve || !found) return undefined;
  const facts = { labels, errors, maxErrorRate, probability, why };
  return { version: 1, model, task, verifier, when, dataset, ...facts, ...found, curve };
}

/** The threshold and what it accepts; empty if there is none, undefined if it is invalid. */
function parseThreshold(
  { threshold, accepted }: { readonly [key: string]: unknown },
  { labels, maxErrorRate, probability }: Pick<Calibration, 'labels' | 'maxErrorRate' | 'probability'>,
): Pick<Calibration, 'threshold' | 'accepted'> | undefined {
  if (threshold === undefined && accepted === undefined) return {};
  if (!isShare(threshold) || !isObject(accepted)) return undefined;
  const { count, errors, coverage, upperBound } = accepted;
  if (!isCount(count) || !isCount(errors) || errors > count || count > labels) return undefined;
  if (!isShare(coverage) || !isShare(upperBound)) return undefined;
  // A file that was changed by hand does not make a threshold valid that its own counts refuse.
  if (binomialUpperBound(errors, count, probability) > maxErrorRate) return undefined;
  return { threshold, accepted: { count, errors, coverage, upperBound } };
}

function parseCurve(value: unknown): RiskCoverage | undefined {
  if (!isObject(value) || !Array.isArray(value['points']) || value['points'].length > maxCurvePoints + 1)
    return undefined;
  const area = value['area'];
  if (area !== undefined && !isShare(area)) return undefined;
  const points: CurvePoint[] = [];
  for (const each of value['points'] as readonly unknown[]) {
    const point = parsePoint(each);
    if (!point) return undefined;
    points.push(point);
  }
  return { points, ...(area === undefined ? {} : { area }) };
}

function parsePoint(value: unknown): CurvePoint | undefined {
  if (!isObject(value)) return undefined;
  const { threshold, coverage, count, errors, errorRate, interval } = value;
  if (!isShare(threshold) || !isShare(coverage) || !isShare(errorRate)) return undefined;
  if (!isCount(count) || !isCount(errors)) return undefined;
  if (!Array.isArray(interval) || interval.length !== 2) return undefined;
  const [low, high] = interval as readonly unknown[];
  if (!isShare(low) || !isShare(high)) return undefined;
  return { threshold, coverage, count, errors, errorRate, interval: [low, high] };
}
