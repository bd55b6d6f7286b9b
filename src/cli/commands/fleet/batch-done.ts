// Whether the runs of a command have ended or cannot continue now.
import type { FleetRun, FleetStore } from '../../../core/index.ts';
import { getBlockReason } from '../../../fleet/index.ts';
import { version } from '../../version.ts';

/** Whether none of these runs is running or can start now. */
export async function isBatchDone(store: FleetStore, open: readonly FleetRun[]): Promise<boolean> {
  if (open.some(({ status }) => status === 'running')) return false;
  if (open.length > 0 && (await store.killSwitch.status()).stopped) return true;
  for (const run of open) if ((await getBlockReason(store, run, version)) === undefined) return false;
  return true;
}
