// An agent as a tool: a child run with no more authority than its parent, paid for from the parent's limits.
import { subagentLimits, toolOutput, type SubagentOverrides, type Limits, type Tool } from '../../core/index.ts';
import { memoryLog } from '../../stores/memory.ts';
import { deriveUngrantedSubagent, subagentReport, runToEnd, type ApprovalHandler } from './run-to-end.ts';
import { defineTool, assertToolDefinition } from '../define-tool.ts';
import { Session } from '../session.ts';

/** What makes a child: its name and task, and how it is narrower than its parent. */
export type SubagentOptions = SubagentOverrides & {
  readonly name: string;
  readonly description: string;
  readonly limits?: Partial<Limits>;
  /** Who answers what the gates ask about its calls; without one a question ends its run. */
  readonly onApproval?: ApprovalHandler;
};

/** A tool that hands a task to a child agent and returns its answer. A child cannot hand on further. */
export function agentTool(options: SubagentOptions): Tool {
  assertToolDefinition(options);
  const { name, description, limits, onApproval, ...wish } = options;
  return defineTool({
    name,
    description,
    effect: 'external',
    input: {
      type: 'object',
      properties: { task: { type: 'string', description: 'What to do, with everything needed to do it.' } },
      required: ['task'],
    },
    async run(input, { agent, state, signal }) {
      const keep = (wish.tools ?? [...agent.tools.keys()]).filter((each) => each !== name);
      const session = await Session.open(deriveUngrantedSubagent(agent, state, { ...wish, tools: keep }), memoryLog());
      const task = (input as { task: string }).task;
      const end = await runToEnd(session, task, { signal, limits: subagentLimits(state, limits), answer: onApproval });
      return toolOutput({ ...subagentReport(end), spent: { ...end.spent, ms: 0 } });
    },
  });
}
