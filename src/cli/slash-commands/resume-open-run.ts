// A session that is opened where a run was left: its questions are asked again, and an unfinished run is told of.
import { isAwaitingApproval } from '../../coding-agent/approvals.ts';
import type { CommandContext } from './context.ts';

/** Asks what the session waits for, or tells that its last run was not finished. */
export async function resumeOpenRun({
  conversation,
  notify,
  runAgent,
}: Pick<CommandContext, 'conversation' | 'notify' | 'runAgent'>): Promise<void> {
  const { state } = conversation.session;
  if (isAwaitingApproval(state)) await runAgent();
  else if (state.run !== undefined)
    notify('The last run of this session was not finished: /continue goes on with it.', 'warning');
}
