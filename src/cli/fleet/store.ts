// The store that the commands of a fleet share: named on the command line, in the settings, or a file of this person.
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { FleetStore } from '../../core/index.ts';
import { tell } from '../front/print.ts';
import { readSettings } from '../settings/index.ts';

/** Where the runs of a fleet are kept, as the store itself is told. */
export function storePlace(given: string | undefined): string {
  const settings = readSettings();
  const set = settings.all.get('store');
  if (given !== undefined) return absolute(given);
  // What a folder brings along must not lead a person's runs to a database of somebody else.
  if (set && set.origin.type !== 'env-file') return absolute(String(set.value));
  if (set?.origin.type === 'env-file')
    tell(`HARNESS_STORE in ${set.origin.file} is not used: set it in the environment or with "fairlead config".\n`);
  return path.join(settings.dirs.data, 'fleet.sqlite');
}

const absolute = (where: string): string => {
  if (/^[a-z]{2,}:\/\//i.test(where)) return where;
  return where.startsWith('sqlite:') ? `sqlite:${path.resolve(where.slice(7))}` : path.resolve(where);
};

/** Opens a store, does something with it, and closes it. */
export async function withStore<T>(
  given: string | undefined,
  work: (store: FleetStore, place: string) => Promise<T>,
): Promise<T> {
  const place = storePlace(given);
  const file = /^[a-z]{2,}:\/\//i.test(place) ? undefined : place.replace(/^sqlite:/, '');
  if (file !== undefined) mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const { openFleetStore } = await import('../../stores/open-fleet.ts');
  const store = await openFleetStore(place);
  try {
    return await work(store, place);
  } finally {
    await store.close();
  }
}
