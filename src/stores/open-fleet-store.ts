// Opens the store that a fleet shares, whatever it is kept in; only what is asked for is loaded.
import { FairleadError, type FleetStore } from '../core/index.ts';
import type { SqliteOptions } from './sqlite/store.ts';

/** How a store is to behave, wherever it is kept. */
export type FleetStoreOptions = Pick<SqliteOptions, 'leaseMs' | 'retryMs'>;

/** Opens a fleet's store: `postgres://...`, or the name of a file, with or without `sqlite:` before it. */
export async function openFleetStore(where: string, options: FleetStoreOptions = {}): Promise<FleetStore> {
  if (typeof where !== 'string' || where.trim() === '')
    throw new FairleadError('store/no-place', 'A store needs a place: postgres://..., or the name of a file.', {
      blame: 'user',
    });
  if (/^postgres(ql)?:/.test(where)) {
    const { openPostgres } = await import('./postgres/store.ts');
    return openPostgres(where, options);
  }
  const { openSqlite } = await import('./sqlite/store.ts');
  return openSqlite(where.replace(/^sqlite:(\/\/)?/, ''), options);
}
