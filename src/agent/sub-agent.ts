// An agent as a tool: a child run with no more authority than its parent, paid for from the parent's limits.
import {
  childLimits,
  childParts,
  last,
  output,
  textOf,
  type ChildWish,
  type Limits,
  type Tool,
} from '../core/index.ts';
import { memoryLog } from '../stores/memory.ts';
import { defineTool } from './define-tool.ts';
import { Session } from './session.ts';

/** What makes a child: its name and task, and how it is narrower than its parent. */
export type SubAgentOptions = ChildWish & {
  readonly name: string;
  readonly description: string;
  readonly limits?: Partial<Limits>;
};

/** A tool that hands a task to a child agent and returns its answer. A child cannot hand on further. */
export function agentTool({ name, description, limits, ...wish }: SubAgentOptions): Tool {
  return defineTool({
    name,
    description,
    effect: 'outside',
    input: {
      type: 'object',
      properties: { task: { type: 'string', description: 'What to do, with everything needed to do it.' } },
      required: ['task'],
    },
    async run(input, { agent, state, signal }) {
      const keep = (wish.tools ?? [...agent.tools.keys()]).filter((each) => each !== name);
      const session = await Session.open(childParts(agent, state, { ...wish, tools: keep }), memoryLog());
      const task = (input as { task: string }).task;
      const end = await session.run(task, { signal, limits: childLimits(state, limits) });
      const answer = last(end.messages);
      const asked = end.calls.filter((call) => call.ask).map((call) => call.ask?.question);
      const said = answer?.role === 'assistant' ? textOf(answer) : '';
      const failed = end.ended?.reason !== 'answered' && end.ended?.reason !== 'task-complete';
      const why = asked.length
        ? `It needs a person’s answer: ${asked.join('; ')}`
        : `It stopped: ${end.ended?.reason}. ${end.ended?.detail ?? ''}`;
      return output({ text: failed ? `${why}\n${said}` : said, failed, spent: { ...end.spent, ms: 0 } });
    },
  });
}
