// Creates the sub-agent manager of a working directory: logs on disk, approvals by the user, models from the user's list.
import { formatApprovalDetail } from '../format-preview.ts';
import type { AgentFile } from '../../agent/agent-files/index.ts';
import type { ApprovalHandler } from '../../agent/index.ts';
import {
  type SubagentManagerOptions,
  createSubagentManager,
  type SubagentManager,
  truncateToLine,
  subagentStatus,
} from '../../agent/subagents/index.ts';
import {
  createApprovalHandler,
  createApprovalTracker,
  refreshApprovalQuestions,
  type ApprovalPrompt,
  type GrantContext,
  type UserAnswer,
} from '../approval-prompts.ts';
import { readSubagentCaps } from '../settings/index.ts';
import { openModel } from '../models/open-model.ts';
import { createSubagentStore } from './subagent-store.ts';
import type { IntegrationContext, UserPrompter } from './context.ts';

/** Creates the manager of the sub-agents; `agents` can be started by name. */
export const createSubagents = (
  { settings, prompter, approvals, assertModelAllowed, wrapProvider }: IntegrationContext,
  agents: readonly AgentFile[] = [],
): SubagentManager =>
  createSubagentManager({
    agents,
    caps: readSubagentCaps(settings),
    store: createSubagentStore(settings.dirs),
    approvalHandler: createApprovalQueue(prompter, approvals),
    createApprovalTracker,
    onReopen: refreshApprovalQuestions,
    openModel: async (name) => {
      const { requireModel } = await import('../models/unknown-model.ts');
      const model = requireModel(name, settings);
      await assertModelAllowed?.(model);
      // A model chose the name: it may use an embedded model that is on this machine, and download none.
      const opened = await openModel(model, settings, {
        confirm: async () => false,
        progress: (text) => prompter.progress(text),
        notify: (text) => prompter.notify(text),
      });
      return wrapProvider?.(opened) ?? opened;
    },
    onEnd: (agent) =>
      prompter.notify(`${agent.id} is ${subagentStatus(agent)}. ${truncateToLine(agent.metadata.task, 60)}`),
  });

/** Asks the user about the calls of all sub-agents that no grant covers, one at a time; the question names the sub-agent, its task and the exact call. */
function createApprovalQueue(
  prompter: UserPrompter,
  approvals: GrantContext,
): NonNullable<SubagentManagerOptions['approvalHandler']> {
  // Without a user the call stays pending: the sub-agent can be resumed later.
  if (prompter.isAbsent) return () => async () => undefined;
  let queue: Promise<unknown> = Promise.resolve();
  return ({ id, metadata, session }): ApprovalHandler => {
    const handle = createApprovalHandler({ ...approvals, session }, (prompt, signal) => {
      const title = formatSubagentTitle(prompt.title, id, metadata.task);
      return askAboutCall(prompter, { ...prompt, title }, signal);
    });
    return (call, signal) => {
      const answer = queue.then(async () => (signal.aborted ? undefined : handle(call, signal)));
      queue = answer.catch(() => {});
      return answer;
    };
  };
}

/** The title of a question with the sub-agent and its task, whose text may contain anything. */
export const formatSubagentTitle = (title: string, id: string, task: string): string =>
  title.replace(/\?$/, () => ` for ${id} (${truncateToLine(task, 60)})?`);

/** Asks with all choices, or for yes or no if the prompter has no more. */
async function askAboutCall(
  prompter: UserPrompter,
  prompt: ApprovalPrompt,
  signal: AbortSignal,
): Promise<UserAnswer | undefined> {
  if (prompter.askApproval) return prompter.askApproval(prompt, signal);
  return (await prompter.confirm(prompt.title, formatApprovalDetail(prompt), signal)) ? 'once' : 'no';
}
