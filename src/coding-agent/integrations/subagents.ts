// The crew of a working folder: its agents' logs on disk, their questions put to the person, their models from the person's own list.
import type { ApprovalHandler } from '../../agent/index.ts';
import type { SubagentManagerOptions } from '../../agent/subagents/launch.ts';
import { createSubagentManager, type SubagentManager } from '../../agent/subagents/manager.ts';
import { truncateToLine, subagentStatus } from '../../agent/subagents/format.ts';
import { unwrapDeferredCall } from '../../core/index.ts';
import { createApprovalTracker } from '../approval-provenance.ts';
import { refreshApprovalQuestions } from '../approvals.ts';
import { findModel, getModelEndpoint, unknownModelError } from '../models/resolve-model.ts';
import { openModel } from '../models/open-model.ts';
import { readKnownModels } from '../state/index.ts';
import { createSubagentStore } from './subagent-store.ts';
import type { IntegrationContext, UserPrompter } from './context.ts';

/** The agents that are started from this ground. */
export const createSubagents = ({
  settings,
  prompter,
  assertModelAllowed,
  wrapProvider,
}: IntegrationContext): SubagentManager =>
  createSubagentManager({
    store: createSubagentStore(settings.dirs),
    approvalHandler: createApprovalQueue(prompter),
    createApprovalTracker: createApprovalTracker,
    onReopen: refreshApprovalQuestions,
    openModel: async (name) => {
      const known = readKnownModels(settings) ?? [];
      const place = getModelEndpoint(settings, known);
      const chosen = findModel(name, known, place);
      if (!chosen) throw unknownModelError(name, known, place);
      await assertModelAllowed?.(chosen);
      const opened = await openModel(chosen, settings, prompter);
      return wrapProvider?.(opened) ?? opened;
    },
    onEnd: (agent) =>
      prompter.notify(`${agent.id} is ${subagentStatus(agent)}. ${truncateToLine(agent.metadata.task, 60)}`),
  });

/** Puts the questions of all agents to the person, one after the other: the agent, its task, and the exact call. */
function createApprovalQueue(person: UserPrompter): NonNullable<SubagentManagerOptions['approvalHandler']> {
  // Where nobody is, a question stays open: the agent can be resumed and answered later.
  if (person.isAbsent) return () => async () => undefined;
  let turn: Promise<unknown> = Promise.resolve();
  return ({ id, metadata }): ApprovalHandler =>
    (call, signal) => {
      const aim = unwrapDeferredCall(call);
      const title = `Allow ${typeof aim === 'string' ? call.tool : aim.tool} for ${id} (${truncateToLine(metadata.task, 60)})?`;
      const mine = turn.then(async () => (signal.aborted ? undefined : person.confirm(title, call.question, signal)));
      turn = mine.catch(() => {});
      return mine;
    };
}
