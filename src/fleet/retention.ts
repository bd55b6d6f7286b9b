// What a worker forgets for the whole fleet: once a day, the runs that ended long ago.
import { setTimeout as pause } from 'node:timers/promises';
import { errorMessage, type FleetStore } from '../core/index.ts';
import type { KillSwitchWatcher } from './kill-switch.ts';

/** What is forgotten, and when. */
export type RetentionOptions = {
  readonly store: Pick<FleetStore, 'prune'>;
  /** Nothing is forgotten while the fleet is stopped: somebody may be looking for what went wrong. */
  readonly killSwitch: Pick<KillSwitchWatcher, 'waitUntilActive'>;
  /** Days that a run is kept once it has ended. */
  readonly keepDays: number;
  readonly notify?: ((sentence: string) => void) | undefined;
};

const dayMs = 24 * 60 * 60 * 1000;

/** Forgets at once and then daily, until the signal aborts. */
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
      notify?.(`What is old could not be forgotten: ${errorMessage(error)}`);
    }
    await pause(dayMs, undefined, { signal }).catch(() => undefined);
  }
}
