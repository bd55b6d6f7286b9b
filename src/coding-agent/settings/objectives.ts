// The service level objectives of the fleet, read from the settings.
import type { Objectives } from '../../fleet/health/index.ts';
import type { Settings } from './settings.ts';

const objectiveKeys = { answered: 'slo.answered', waitedMs: 'slo.waitedMs', tookMs: 'slo.tookMs' } as const;

/** The objectives that the user has set. */
export const getObjectives = ({ all }: Pick<Settings, 'all'>): Partial<Objectives> =>
  Object.fromEntries(
    Object.entries(objectiveKeys).flatMap(([name, key]) => {
      const setting = all.get(key);
      return setting ? [[name, setting.value]] : [];
    }),
  );
