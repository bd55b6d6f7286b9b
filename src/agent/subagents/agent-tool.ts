// A sub-agent as a tool: a child run with no more authority than its parent, within the limits of its parent.
import {
  subagentLimits,
  toolOutput,
  type Limits,
  type SubagentOverrides,
  type Tool,
  type ApprovalHandler,
} from '../../core/index.ts';
import { runWithApprovals } from '../approval-loop.ts';
import { assertToolDefinition, tool } from '../define-tool.ts';
import { openSession } from '../session-store.ts';
import { subagentReport } from './format.ts';
import { deriveSubagentWithoutGrants, recordOrigin } from './launch.ts';

/** The name and description of a sub-agent tool, and how the sub-agent is narrower than its parent. */
export type SubagentOptions = SubagentOverrides & {
  /** The name of the tool. */
  readonly name: string;
  /** Tells the model what the sub-agent does. */
  readonly description: string;
  /** Limits of each run of the sub-agent, within those of the parent. */
  readonly limits?: Partial<Limits>;
  /** Decides about its tool calls that need approval; without it such a call ends its run. */
  readonly onApproval?: ApprovalHandler;
};

/** A tool that gives a task to a sub-agent and returns its answer. The sub-agent does not get this tool. */
export function agentTool(options: SubagentOptions): Tool {
  assertToolDefinition(options);
  const { name, description, limits, onApproval, ...overrides } = options;
  return tool({
    name,
    description,
    effect: 'external',
    inputSchema: {
      type: 'object',
      properties: { task: { type: 'string', description: 'What to do, with everything needed to do it.' } },
      required: ['task'],
    },
    async execute({ task }, { agent, state, signal, key }) {
      const tools = (overrides.tools ?? [...agent.tools.keys()]).filter((each) => each !== name);
      await using session = await openSession(deriveSubagentWithoutGrants(agent, state, { ...overrides, tools }));
      await recordOrigin(session, { task, parent: '', key }, state);
      const end = await runWithApprovals(session, task, {
        signal,
        limits: subagentLimits(state, limits),
        onApproval,
      });
      return toolOutput({ ...subagentReport(end), spent: { ...end.spent, ms: 0 } });
    },
  });
}
