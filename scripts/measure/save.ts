// Saves measurements for the scorecard.
import { rmSync } from 'node:fs';
import path from 'node:path';
import { readSettings } from '../../src/coding-agent/settings/index.ts';
import { getMeasurementsDir, saveMeasurement, type RateCount } from '../../src/fleet/health/index.ts';

/** Saves counts by claim. The old result of a claim that was not measured this time is deleted, because it may no longer be true. */
export function saveMeasurements(counts: Readonly<Record<string, RateCount | undefined>>, how: string): void {
  const folder = getMeasurementsDir(readSettings().dirs.state);
  for (const [id, count] of Object.entries(counts)) {
    if (count && count.total > 0) saveMeasurement(folder, { id, ...count, when: new Date().toISOString(), how });
    else rmSync(path.join(folder, `${id}.json`), { force: true });
  }
}
