// The crew of a working folder: its agents' logs on disk, their questions put to the person, their models from the person's own list.
import type { ApprovalHandler } from '../../agent/agents/child-run.ts';
import type { SubagentManagerOptions } from '../../agent/agents/child.ts';
import { createSubagentManager, type SubagentManager } from '../../agent/agents/crew.ts';
import { truncateToLine, subagentStatus } from '../../agent/agents/about.ts';
import { unwrapDeferredCall } from '../../core/index.ts';
import { approvalsHere } from '../conversation/approvals.ts';
import { askAnew } from '../conversation/asks.ts';
import { modelNamed, placeOf, unknownModel } from '../conversation/model.ts';
import { openModel } from '../conversation/open-model.ts';
import { readKnownModels } from '../known-models/index.ts';
import { agentKeeping } from './agents-keeping.ts';
import type { Ground, Person } from './ground.ts';

/** The agents that are started from this ground. */
export const crewFor = ({ settings, person, mayUse, govern }: Ground): SubagentManager =>
  createSubagentManager({
    store: agentKeeping(settings.dirs),
    approvalHandler: askedOf(person),
    createApprovalTracker: approvalsHere,
    onReopen: askAnew,
    openModel: async (name) => {
      const known = readKnownModels(settings) ?? [];
      const place = placeOf(settings, known);
      const chosen = modelNamed(name, known, place);
      if (!chosen) throw unknownModel(name, known, place);
      await mayUse?.(chosen);
      const opened = await openModel(chosen, settings, person);
      return govern?.(opened) ?? opened;
    },
    onEnd: (agent) => person.say(`${agent.id} is ${subagentStatus(agent)}. ${truncateToLine(agent.metadata.task, 60)}`),
  });

/** Puts the questions of all agents to the person, one after the other: the agent, its task, and the exact call. */
function askedOf(person: Person): NonNullable<SubagentManagerOptions['approvalHandler']> {
  // Where nobody is, a question stays open: the agent can be resumed and answered later.
  if (person.absent) return () => async () => undefined;
  let turn: Promise<unknown> = Promise.resolve();
  return ({ id, metadata: about }): ApprovalHandler =>
    (call, signal) => {
      const aim = unwrapDeferredCall(call);
      const title = `Allow ${typeof aim === 'string' ? call.tool : aim.tool} for ${id} (${truncateToLine(about.task, 60)})?`;
      const mine = turn.then(async () =>
        signal.aborted ? undefined : person.agrees(title, call.ask?.question, signal),
      );
      turn = mine.catch(() => {});
      return mine;
    };
}
