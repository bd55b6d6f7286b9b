// Checks the canary while a fleet works: reads the ended runs of the store, and records a rollback or an activation.
import type { FleetStore } from '../../core/index.ts';
import type { RunHandler } from '../../fleet/index.ts';
import type { CanaryOptions } from './canary.ts';
import { foldHistory } from './history.ts';
import { checkCanary, type CanaryCheck } from './promote.ts';
import type { ReleaseStore } from './release-store.ts';

/** The options of a canary monitor. */
export type CanaryMonitorOptions = {
  readonly releases: ReleaseStore;
  /** When a canary is rolled back or activated. */
  readonly canary?: CanaryOptions;
  /** The minimum time between two checks in milliseconds; 1,000 by default. */
  readonly intervalMs?: number;
  /** Called after a rollback or an activation. */
  readonly onDecided?: (check: CanaryCheck) => void;
  /** Called if a check fails; the next one is made as usual. */
  readonly onError?: (error: unknown) => void;
};

/** A monitor of the canary. */
export type CanaryMonitor = {
  /** Schedules a check, unless one is scheduled. It does not keep the process alive. */
  schedule(): void;
  /** Checks now. */
  check(): Promise<CanaryCheck | undefined>;
};

/** The maximum number of ended runs that a check of the canary reads. */
export const maxCanaryRuns = 5000;

/** Creates the monitor of a store; `by` is the worker that the history names. */
export function createCanaryMonitor(
  { queue }: Pick<FleetStore, 'queue'>,
  options: CanaryMonitorOptions,
  by: string,
): CanaryMonitor {
  const { releases, canary, intervalMs = 1000, onDecided, onError } = options;
  let isScheduled = false;
  const check = async (): Promise<CanaryCheck | undefined> => {
    if (foldHistory(releases.readHistory()).canary === undefined) return undefined;
    const checked = await checkCanary(
      releases,
      await queue.list({ status: 'ended', limit: maxCanaryRuns }),
      by,
      canary,
    );
    if (checked?.entry) onDecided?.(checked);
    return checked;
  };
  return {
    check,
    schedule() {
      if (isScheduled) return;
      isScheduled = true;
      setTimeout(() => {
        isScheduled = false;
        check().catch((error: unknown) => onError?.(error));
      }, intervalMs).unref();
    },
  };
}

/** Wraps a handler so that a check is scheduled after each of its runs. */
export function withCanaryMonitor(handle: RunHandler, options: CanaryMonitorOptions): RunHandler {
  let monitor: CanaryMonitor | undefined;
  return async (run, context) => {
    const settlement = await handle(run, context);
    monitor ??= createCanaryMonitor(context.store, options, context.worker);
    monitor.schedule();
    return settlement;
  };
}
