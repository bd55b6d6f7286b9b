// The store that the commands of a fleet share: named on the command line, in the settings, or a file of this person.
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { FairleadError, type FleetStore } from '../../../core/index.ts';
import type { WorkerOptions } from '../../../fleet/index.ts';
import { printErr } from '../../args/stdio.ts';
import { readSettings, type Settings } from '../../../coding-agent/settings/index.ts';

/** Where the runs of a fleet are kept, as the store itself is told. */
function resolveStoreUrl(given: string | undefined): string {
  const settings = readSettings();
  for (const warning of settings.warnings) printErr(`${warning}\n`);
  const named = given ?? settings.all.get('store')?.value;
  return named === undefined ? path.join(settings.dirs.data, 'fleet.sqlite') : toAbsoluteStore(String(named));
}

const isStoreUrl = (where: string): boolean => /^[a-z]{2,}:\/\//i.test(where);

/** A file by its whole path: another process, or another folder, means the same one. */
function toAbsoluteStore(where: string): string {
  const file = where.replace(/^sqlite:(\/\/)?/, '');
  if (!isStoreUrl(file)) return path.resolve(file);
  if (/^postgres(ql)?:/.test(file)) return file;
  throw new FairleadError('cli/unknown-store', `There is no store for ${file.slice(0, file.indexOf('/'))}//.`, {
    blame: 'user',
    hint: 'A store is postgres://<user>:<password>@<host>/<database>, or the name of a file.',
  });
}

/** Opens a store, does something with it, and closes it. */
export async function withFleetStore<T>(
  given: string | undefined,
  work: (store: FleetStore, place: string) => Promise<T>,
): Promise<T> {
  const place = resolveStoreUrl(given);
  if (!isStoreUrl(place)) mkdirSync(path.dirname(place), { recursive: true, mode: 0o700 });
  // Whatever is equipped in this process keeps its models away from it, as it does where the settings name it.
  process.env['HARNESS_STORE'] = place;
  const { openFleetStore } = await import('../../../stores/open-fleet-store.ts');
  const store = await openFleetStore(place);
  try {
    return await work(store, place);
  } finally {
    await store.close();
  }
}

/** How long a worker keeps runs that have ended, as it is told. */
export function retentionOptions(settings: Pick<Settings, 'all'>): Pick<WorkerOptions, 'keepDays'> {
  const days = settings.all.get('keep')?.value;
  return typeof days === 'number' ? { keepDays: days } : {};
}
