// The worktree of a queued run: its name is derived from the session, so that a run that continues finds its files again.
import { createHash } from 'node:crypto';
import { FairleadError, type FleetRun } from '../../core/index.ts';
import type { Session } from '../../agent/index.ts';
import type { CodingAgent } from '../create-agent.ts';
import type { CreateCodingAgentOptions } from '../create-agent-options.ts';
import type { RunAgentSettings } from './agent-factory.ts';

/** The annotation of a session that names its worktree. */
export const worktreeAnnotationKey = 'worktree';

/** True if a run works in a worktree. Throws for a value that is no kind of isolation. */
export function isIsolated({ isolation = 'none' }: Pick<RunAgentSettings, 'isolation'>): boolean {
  if (isolation === 'none' || isolation === 'worktree') return isolation === 'worktree';
  throw new FairleadError('coding-agent/bad-run', `The run setting isolation cannot be ${JSON.stringify(isolation)}.`, {
    blame: 'user',
    hint: 'It must be worktree or none.',
  });
}

/** The agent of an isolated run, and the function that records in the session where it works. */
export type IsolatedRun = { readonly agent: CodingAgent; readonly record: (session: Session) => Promise<void> };

/** Creates the agent of a run in its worktree. */
export async function openIsolatedRun(
  run: Pick<FleetRun, 'id' | 'session'>,
  options: CreateCodingAgentOptions,
  notify: (text: string) => void,
): Promise<IsolatedRun> {
  const { createIsolatedAgent } = await import('../isolated-agent.ts');
  const { agent, isolation } = await createIsolatedAgent(options, {
    name: `run-${createHash('sha256').update(run.session).digest('hex').slice(0, 12)}`,
    purpose: `run ${run.id}`,
    notify,
  });
  const { name, branch } = isolation.record;
  return { agent, record: (session) => session.annotate(worktreeAnnotationKey, { name, branch }) };
}
