// What our own commands measured, as small files: written whole or not at all, and believed only where they are whole.
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { FairleadError, isObject } from '../../core/index.ts';
import type { RateCount } from './rates.ts';

/** A measurement: so many good of so many, when, and by which command. */
export type Measurement = RateCount & {
  readonly id: string;
  readonly when: string;
  /** The command that measured it, so that anybody can do it again. */
  readonly how: string;
  /** What was measured besides: the model, the dataset. */
  readonly about?: string;
};

const idPattern = /^[a-z\d][a-z\d-]{0,62}$/;
const maxFileChars = 100_000;

/** Where measurements are kept beside the program's other state. */
export const getMeasurementsDir = (state: string): string => path.join(state, 'measured');

/** Keeps a measurement in place of the one before. */
export function saveMeasurement(folder: string, measured: Measurement): void {
  const problem = findMeasurementError(measured);
  if (problem !== undefined)
    throw new FairleadError('fleet/bad-measurement', `A measurement that cannot be kept: ${problem}.`, {
      blame: 'harness',
    });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { id, good, total, when, how, about } = measured;
  const file = path.join(folder, `${id}.json`);
  const draft = `${file}.${process.pid}.tmp`;
  try {
    const text = JSON.stringify({ format: 1, id, good, total, when, how, about }, null, 2);
    writeFileSync(draft, `${text}\n`, { mode: 0o600 });
    renameSync(draft, file);
  } finally {
    rmSync(draft, { force: true });
  }
}

/** The measurements in a folder. One that is damaged counts as not measured. */
export function readMeasurements(folder: string): readonly Measurement[] {
  let names: readonly string[];
  try {
    names = readdirSync(folder);
  } catch {
    return [];
  }
  return names.filter((name) => name.endsWith('.json')).flatMap((name) => readMeasurementFile(folder, name) ?? []);
}

function readMeasurementFile(folder: string, name: string): Measurement | undefined {
  try {
    const text = readFileSync(path.join(folder, name), 'utf8');
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

/** What is wrong with a measurement, if anything is. */
function findMeasurementError(value: Readonly<Record<string, unknown>>): string | undefined {
  const { id, good, total, when, how, about } = value;
  if (typeof id !== 'string' || !idPattern.test(id)) return 'its id is none';
  if (!isCount(good) || !isCount(total) || good > total || total === 0) return 'its counts are none';
  if (typeof when !== 'string' || !/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(when) || Number.isNaN(Date.parse(when)))
    return 'its time is none';
  if (typeof how !== 'string' || how === '') return 'it does not say how';
  return about === undefined || typeof about === 'string' ? undefined : 'what it is about is no text';
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
