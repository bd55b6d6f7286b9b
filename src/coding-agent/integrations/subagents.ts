// Creates the sub-agent manager of a working directory: logs on disk, approvals by the user, models from the user's list.
import { formatApprovalTitle } from '../approval-title.ts';
import { formatApprovalDetail } from '../format-preview.ts';
import type { ApprovalHandler } from '../../agent/index.ts';
import {
  type SubagentManagerOptions,
  createSubagentManager,
  type SubagentManager,
  truncateToLine,
  subagentStatus,
} from '../../agent/subagents/index.ts';
import { unwrapDeferredCall } from '../../core/index.ts';
import { createApprovalTracker, refreshApprovalQuestions } from '../approval-prompts.ts';
import { requireModel } from '../models/resolve-model.ts';
import { openModel } from '../models/open-model.ts';
import { createSubagentStore } from './subagent-store.ts';
import type { IntegrationContext, UserPrompter } from './context.ts';

/** Creates the manager of the sub-agents. */
export const createSubagents = ({
  settings,
  prompter,
  assertModelAllowed,
  wrapProvider,
}: IntegrationContext): SubagentManager =>
  createSubagentManager({
    store: createSubagentStore(settings.dirs),
    approvalHandler: createApprovalQueue(prompter),
    createApprovalTracker,
    onReopen: refreshApprovalQuestions,
    openModel: async (name) => {
      const model = requireModel(name, settings);
      await assertModelAllowed?.(model);
      const opened = await openModel(model, settings, prompter);
      return wrapProvider?.(opened) ?? opened;
    },
    onEnd: (agent) =>
      prompter.notify(`${agent.id} is ${subagentStatus(agent)}. ${truncateToLine(agent.metadata.task, 60)}`),
  });

/** Asks the user about the calls of all sub-agents, one at a time; the question names the sub-agent, its task and the exact call. */
function createApprovalQueue(prompter: UserPrompter): NonNullable<SubagentManagerOptions['approvalHandler']> {
  // Without a user the call stays pending: the sub-agent can be resumed later.
  if (prompter.isAbsent) return () => async () => undefined;
  let queue: Promise<unknown> = Promise.resolve();
  return ({ id, metadata }): ApprovalHandler =>
    (call, signal) => {
      const inner = unwrapDeferredCall(call);
      const asked = call.preview?.title ?? formatApprovalTitle(typeof inner === 'string' ? call : inner);
      const title = asked.replace(/\?$/, ` for ${id} (${truncateToLine(metadata.task, 60)})?`);
      const detail = formatApprovalDetail(call);
      const answer = queue.then(async () => (signal.aborted ? undefined : prompter.confirm(title, detail, signal)));
      queue = answer.catch(() => {});
      return answer;
    };
}
