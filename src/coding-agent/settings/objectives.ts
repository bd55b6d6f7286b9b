// What the person holds their fleet to, out of the settings; what they do not say is as usual.
import type { Objectives } from '../../fleet/health/index.ts';
import type { Settings } from './settings.ts';

const objectiveKeys = { answered: 'slo.answered', waitedMs: 'slo.waitedMs', tookMs: 'slo.tookMs' } as const;

/** The objectives that are set. */
export const getObjectives = ({ all }: Pick<Settings, 'all'>): Partial<Objectives> =>
  Object.fromEntries(
    Object.entries(objectiveKeys).flatMap(([name, key]) => {
      const setting = all.get(key);
      return setting ? [[name, setting.value]] : [];
    }),
  );
