// Stores calibrations in the data directory: one JSON file per model, task kind and verifier version, replaced atomically.
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { parseStoredCalibration, type CalibrationKey, type StoredCalibration } from '../../checks/index.ts';
import { errorMessage, systemErrorCode } from '../../core/index.ts';
import { readTextIfExists, writeTextAtomic } from '../../stores/index.ts';
import type { AppDirs } from '../settings/dirs.ts';

type DataDir = Pick<AppDirs, 'data'>;

/** A calibration, or one sentence that says why there is none. */
export type FoundCalibration =
  | { readonly calibration: StoredCalibration }
  | { readonly calibration?: undefined; readonly problem: string };

const calibrationsDir = ({ data }: DataDir): string => path.join(data, 'calibrations');

/** The file of a calibration; its name is a hash, because names of models contain slashes. */
function calibrationFile(dirs: DataDir, { model, task, verifier }: CalibrationKey): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([model, task, verifier]))
    .digest('hex');
  return path.join(calibrationsDir(dirs), `${hash.slice(0, 32)}.json`);
}

/** Saves a calibration, in the place of an older one for the same model, task and verifier; returns the file. */
export function saveCalibration(dirs: DataDir, calibration: StoredCalibration): string {
  const file = calibrationFile(dirs, calibration);
  writeTextAtomic(file, `${JSON.stringify(calibration)}\n`);
  return file;
}

/** Reads the calibration for a model, a task and a verifier. A damaged file is no calibration. */
export function readCalibration(dirs: DataDir, key: CalibrationKey): FoundCalibration {
  const name = `${key.model}, ${key.task}, ${key.verifier}`;
  const file = calibrationFile(dirs, key);
  let text: string | undefined;
  try {
    text = readTextIfExists(file);
  } catch (error) {
    return { problem: `Not calibrated for ${name}: ${errorMessage(error)}` };
  }
  if (text === undefined) return { problem: `Not calibrated for ${name}.` };
  const calibration = parseStoredCalibration(text);
  const isSame =
    calibration?.model === key.model && calibration.task === key.task && calibration.verifier === key.verifier;
  if (!calibration || !isSame) return { problem: `Not calibrated for ${name}: ${file} is damaged.` };
  return { calibration };
}

/** Lists all calibrations, newest first, and one sentence per file that is damaged. */
export function listCalibrations(dirs: DataDir): {
  readonly calibrations: readonly StoredCalibration[];
  readonly problems: readonly string[];
} {
  const calibrations: StoredCalibration[] = [];
  const problems: string[] = [];
  for (const name of listFiles(calibrationsDir(dirs))) {
    const file = path.join(calibrationsDir(dirs), name);
    const found = readFile(file);
    if (found && calibrationFile(dirs, found) === file) calibrations.push(found);
    else problems.push(`Not calibrated: ${file} is damaged.`);
  }
  return { calibrations: calibrations.toSorted((a, b) => (a.when < b.when ? 1 : -1)), problems };
}

function readFile(file: string): StoredCalibration | undefined {
  try {
    return parseStoredCalibration(readTextIfExists(file) ?? '');
  } catch {
    return undefined;
  }
}

function listFiles(directory: string): readonly string[] {
  try {
    return readdirSync(directory).filter((name) => name.endsWith('.json'));
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return [];
    throw error;
  }
}
