// Opens the store of the fleet: the one named on the command line, the configured one, or a file of the user.
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { FairleadError, type FleetStore } from '../../../core/index.ts';
import type { WorkerOptions } from '../../../fleet/index.ts';
import { printErr } from '../../args/stdio.ts';
import { readSettings, type Settings } from '../../../coding-agent/settings/index.ts';

/** Returns the URL or absolute path of the store. */
function resolveStoreUrl(arg: string | undefined): string {
  const settings = readSettings();
  for (const warning of settings.warnings) printErr(`${warning}\n`);
  const configured = arg ?? settings.all.get('store')?.value;
  return configured === undefined ? path.join(settings.dirs.data, 'fleet.sqlite') : toAbsoluteStore(String(configured));
}

const isStoreUrl = (store: string): boolean => /^[a-z]{2,}:\/\//i.test(store);

/** Makes a file path absolute, so that processes in other directories open the same file. */
function toAbsoluteStore(store: string): string {
  const file = store.replace(/^sqlite:(\/\/)?/, '');
  if (!isStoreUrl(file)) return path.resolve(file);
  if (/^postgres(ql)?:/.test(file)) return file;
  throw new FairleadError('cli/unknown-store', `There is no store for ${file.slice(0, file.indexOf('/'))}//.`, {
    blame: 'user',
    hint: 'A store is postgres://<user>:<password>@<host>/<database>, or a file path.',
  });
}

/** Opens the store, runs some work with it, and closes it. */
export async function withFleetStore<T>(
  arg: string | undefined,
  work: (store: FleetStore, storeUrl: string) => Promise<T>,
): Promise<T> {
  const storeUrl = resolveStoreUrl(arg);
  if (!isStoreUrl(storeUrl)) mkdirSync(path.dirname(storeUrl), { recursive: true, mode: 0o700 });
  // Agents in this process protect the store from their models by this variable, as if the settings named it.
  process.env['HARNESS_STORE'] = storeUrl;
  const { openFleetStore } = await import('../../../stores/index.ts');
  const store = await openFleetStore(storeUrl);
  try {
    return await work(store, storeUrl);
  } finally {
    await store.close();
  }
}

/** Returns the retention of ended runs, from the settings. */
export function retentionOptions(settings: Pick<Settings, 'all'>): Pick<WorkerOptions, 'keepDays'> {
  const days = settings.all.get('keep')?.value;
  return typeof days === 'number' ? { keepDays: days } : {};
}
