// Waiting for a run to end, or to rest, without asking the store more often than is useful.
import { setTimeout as pause } from 'node:timers/promises';
import type { FleetRun } from '../../core/index.ts';
import type { ServerContext } from './context.ts';

/** The run once it has ended or rests, or as it stands when the time is over. */
export async function waitForRun(
  { store }: Pick<ServerContext, 'store'>,
  run: FleetRun,
  ms: number,
  signal: AbortSignal,
): Promise<FleetRun> {
  let now = run;
  const end = performance.now() + ms;
  for (let stepMs = 25; !signal.aborted; stepMs = Math.min(stepMs * 1.5, 500)) {
    now = (await store.queue.run(run.id)) ?? now;
    const left = end - performance.now();
    if (now.status === 'ended' || now.status === 'resting' || left <= 0) return now;
    await pause(Math.min(stepMs, left), undefined, { signal }).catch(() => {});
  }
  return now;
}
