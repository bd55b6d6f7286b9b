// Waiting for agents: what they do is shown as it happens, who interrupts stops them all, and each gives its report.
import type { RunState, ToolContext } from '../../core/index.ts';
import { subagentReport } from './run-to-end.ts';
import type { RunningSubagent } from './launch.ts';

/** An agent's report. */
export type SubagentReport = { readonly text: string; readonly failed: boolean };

/** Waits until these agents are done; an abort stops them. */
export async function waitForReports(
  children: readonly RunningSubagent[],
  { signal, progress }: Pick<ToolContext, 'signal' | 'progress'>,
): Promise<readonly SubagentReport[]> {
  const deaf = children.map((child) => child.subscribe((line) => progress?.(`${child.id} ${line}\n`)));
  const stop = (): void => {
    for (const child of children) child.stop();
  };
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    return await Promise.all(children.map(reportWhenDone));
  } finally {
    signal.removeEventListener('abort', stop);
    for (const end of deaf) end();
  }
}

const reportWhenDone = async ({ id, done }: RunningSubagent): Promise<SubagentReport> => formatReport(id, await done);

/** The report of an agent in this state, with its name above it. */
export function formatReport(id: string, end: RunState): SubagentReport {
  const { text, failed } = subagentReport(end);
  const { turns, calls } = end.spent;
  return { text: `[${id}: ${failed ? 'not done' : 'done'}, ${turns} turns, ${calls} calls]\n${text}`, failed };
}
