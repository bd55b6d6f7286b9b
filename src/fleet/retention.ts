// Deletes runs that ended long ago, once a day, for the whole fleet.
import { setTimeout as sleep } from 'node:timers/promises';
import { errorMessage, type FleetStore } from '../core/index.ts';
import type { KillSwitchWatcher } from './kill-switch.ts';

/** The options of retention. */
export type RetentionOptions = {
  readonly store: Pick<FleetStore, 'prune'>;
  /** Nothing is deleted while the fleet is stopped: an operator may need it to find out what went wrong. */
  readonly killSwitch: Pick<KillSwitchWatcher, 'waitUntilActive'>;
  /** Days that an ended run is kept. */
  readonly keepDays: number;
  readonly notify?: ((message: string) => void) | undefined;
};

const dayMs = 24 * 60 * 60 * 1000;

/** Deletes old runs at once and then daily, until the signal aborts. */
export async function pruneDaily(
  { store, killSwitch, keepDays, notify }: RetentionOptions,
  signal: AbortSignal,
): Promise<void> {
  for (; !signal.aborted && Number.isFinite(keepDays);) {
    await killSwitch.waitUntilActive(signal);
    if (signal.aborted) return;
    try {
      await store.prune(new Date(Math.max(0, Date.now() - keepDays * dayMs)).toISOString());
    } catch (error) {
      notify?.(`Could not delete old runs: ${errorMessage(error)}`);
    }
    await sleep(dayMs, undefined, { signal }).catch(() => undefined);
  }
}
