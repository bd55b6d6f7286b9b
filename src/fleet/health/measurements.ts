// Measurements of the scorecard as small JSON files: written atomically, ignored if damaged.
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { FairleadError, isObject } from '../../core/index.ts';
import type { RateCount } from './statistics.ts';

/** A measurement: counts, time and command. */
export type Measurement = RateCount & {
  readonly id: string;
  readonly when: string;
  /** The command that measured it. */
  readonly how: string;
  /** The model or dataset that was measured. */
  readonly about?: string;
};

const idPattern = /^[a-z\d][a-z\d-]{0,62}$/;
const maxFileChars = 100_000;

/** Returns the directory of measurements in the state directory. */
export const getMeasurementsDir = (state: string): string => path.join(state, 'measured');

/** Saves a measurement, replacing the previous one of the same id. */
export function saveMeasurement(directory: string, measured: Measurement): void {
  const problem = findMeasurementError(measured);
  if (problem !== undefined)
    throw new FairleadError('fleet/bad-measurement', `Invalid measurement: ${problem}.`, {
      blame: 'harness',
    });
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const { id, good, total, when, how, about } = measured;
  const file = path.join(directory, `${id}.json`);
  const tempFile = `${file}.${process.pid}.tmp`;
  try {
    const text = JSON.stringify({ format: 1, id, good, total, when, how, about }, null, 2);
    writeFileSync(tempFile, `${text}\n`, { mode: 0o600 });
    renameSync(tempFile, file);
  } finally {
    rmSync(tempFile, { force: true });
  }
}

/** Reads the measurements of a directory; damaged files are ignored. */
export function readMeasurements(directory: string): readonly Measurement[] {
  let names: readonly string[];
  try {
    names = readdirSync(directory);
  } catch {
    return [];
  }
  return names.filter((name) => name.endsWith('.json')).flatMap((name) => readMeasurementFile(directory, name) ?? []);
}

function readMeasurementFile(directory: string, name: string): Measurement | undefined {
  try {
    const text = readFileSync(path.join(directory, name), 'utf8');
    if (text.length > maxFileChars) return undefined;
    const value: unknown = JSON.parse(text);
    if (!isObject(value) || value['format'] !== 1 || findMeasurementError(value) !== undefined) return undefined;
    const { id, good, total, when, how, about } = value as Measurement;
    if (`${id}.json` !== name) return undefined;
    return { id, good, total, when, how, ...(about === undefined ? {} : { about }) };
  } catch {
    return undefined;
  }
}

/** Returns what is wrong with a measurement, if anything is. */
function findMeasurementError(value: Readonly<Record<string, unknown>>): string | undefined {
  const { id, good, total, when, how, about } = value;
  if (typeof id !== 'string' || !idPattern.test(id)) return 'its id is not valid';
  if (!isCount(good) || !isCount(total) || good > total || total === 0) return 'its counts are not valid';
  if (typeof when !== 'string' || !/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(when) || Number.isNaN(Date.parse(when)))
    return 'its time is not valid';
  if (typeof how !== 'string' || how === '') return 'it has no command';
  return about === undefined || typeof about === 'string' ? undefined : 'its subject is not a text';
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
