// Opens the store of a fleet by its location. Only the driver that is needed is loaded.
import { FairleadError, type FleetStore } from '../core/index.ts';
import type { FleetStoreOptions } from './defaults.ts';

/** Opens a store: `postgres://...`, or the name of a SQLite file, with or without the prefix `sqlite:`. */
export async function openFleetStore(location: string, options: FleetStoreOptions = {}): Promise<FleetStore> {
  if (typeof location !== 'string' || location.trim() === '')
    throw new FairleadError('store/no-location', 'A store needs a location: postgres://..., or the name of a file.', {
      blame: 'user',
    });
  if (/^postgres(ql)?:/.test(location)) {
    const { openPostgres } = await import('./postgres/store.ts');
    return openPostgres(location, options);
  }
  const { openSqlite } = await import('./sqlite/store.ts');
  return openSqlite(location.replace(/^sqlite:(\/\/)?/, ''), options);
}
