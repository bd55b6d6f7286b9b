// Waiting for agents: what they do is shown as it happens, who interrupts stops them all, and each gives its report.
import type { RunState, ToolContext } from '../../core/index.ts';
import { reportOf } from './child-run.ts';
import type { Child } from './child.ts';

/** An agent's report. */
export type Report = { readonly text: string; readonly failed: boolean };

/** Waits until these agents are done; an abort stops them. */
export async function reportOn(
  children: readonly Child[],
  { signal, progress }: Pick<ToolContext, 'signal' | 'progress'>,
): Promise<readonly Report[]> {
  const deaf = children.map((child) => child.hear((line) => progress?.(`${child.id} ${line}\n`)));
  const stop = (): void => {
    for (const child of children) child.stop();
  };
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    return await Promise.all(children.map(reported));
  } finally {
    signal.removeEventListener('abort', stop);
    for (const end of deaf) end();
  }
}

const reported = async ({ id, over }: Child): Promise<Report> => worded(id, await over);

/** The report of an agent in this state, with its name above it. */
export function worded(id: string, end: RunState): Report {
  const { text, failed } = reportOf(end);
  const { turns, calls } = end.spent;
  return { text: `[${id}: ${failed ? 'not done' : 'done'}, ${turns} turns, ${calls} calls]\n${text}`, failed };
}
