// Waits for sub-agents: relays their progress, and stops them all if the wait is aborted.
import type { ToolContext } from '../../core/index.ts';
import { formatReport, type SubagentReport } from './format.ts';
import type { RunningSubagent } from './launch.ts';

/** Waits until these sub-agents are done and returns their reports. */
export async function waitForReports(
  children: readonly RunningSubagent[],
  { signal, progress }: Pick<ToolContext, 'signal' | 'progress'>,
): Promise<readonly SubagentReport[]> {
  const unsubscribes = children.map((child) => child.subscribe((line) => progress?.(`${child.id} ${line}\n`)));
  const stopAll = (): void => {
    for (const child of children) child.stop();
  };
  signal.addEventListener('abort', stopAll, { once: true });
  if (signal.aborted) stopAll();
  try {
    return await Promise.all(children.map(async ({ id, done }) => formatReport(id, await done)));
  } finally {
    signal.removeEventListener('abort', stopAll);
    for (const unsubscribe of unsubscribes) unsubscribe();
  }
}
