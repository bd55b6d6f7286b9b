// Keeps what a script measured where the scorecard finds it.
import { rmSync } from 'node:fs';
import path from 'node:path';
import { readSettings } from '../../src/coding-agent/settings/index.ts';
import { getMeasurementsDir, saveMeasurement, type RateCount } from '../../src/fleet/health/index.ts';

/** Keeps counts by the claims they measure. A claim that was to be measured and was not is forgotten: an old figure would say that it still holds. */
export function saveMeasurements(counts: Readonly<Record<string, RateCount | undefined>>, how: string): void {
  const folder = getMeasurementsDir(readSettings().dirs.state);
  for (const [id, count] of Object.entries(counts)) {
    if (count && count.total > 0) saveMeasurement(folder, { id, ...count, when: new Date().toISOString(), how });
    else rmSync(path.join(folder, `${id}.json`), { force: true });
  }
}
