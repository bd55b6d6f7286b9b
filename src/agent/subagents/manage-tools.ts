// The tools spawn_agent and manage_agents: a model starts sub-agents and manages them.
import {
  FairleadError,
  toolOutput,
  type JsonObject,
  type ToolOutput,
  type Tool,
  type ToolContext,
} from '../../core/index.ts';
import { createLazyValidator } from '../schema.ts';
import type { SubagentSpec, SubagentInfo } from './metadata.ts';
import type { RunningSubagent } from './launch.ts';
import type { SubagentManager } from './lifecycle.ts';
import type { SubagentReport } from './format.ts';

type ManageAgentsInput = {
  readonly action: 'list' | 'inspect' | 'message' | 'wait' | 'stop';
  readonly agent?: string;
  readonly message?: string;
  readonly reviews?: string;
};

const stringSchema = (description: string, more: JsonObject = {}): JsonObject => ({
  type: 'string',
  description,
  ...more,
});

/** The tools that start and manage sub-agents; `openManager` is called by each call, and `names` are the agents that can be started by name. */
export function subagentTools(
  openManager: () => Promise<SubagentManager>,
  names: readonly string[] = [],
): readonly [spawnAgent: Tool, manageAgents: Tool] {
  return [
    withLazyValidation({
      name: 'spawn_agent',
      description:
        'Start an agent for a task. It reports to you, has your tools or fewer, asks the same user, and uses your budget. In the background it runs in parallel to you and to others: wait for it with manage_agents before you give your final answer.',
      effect: 'external',
      // A repeated call finds the agent that it started, whose own log says what is done.
      idempotent: true,
      input: {
        type: 'object',
        properties: {
          task: stringSchema('What to do, with everything needed to do it: it sees nothing of this conversation.', {
            minLength: 1,
            maxLength: 50_000,
          }),
          ...(names.length > 0 ? { agent: stringSchema('The agent to start, by name.', { enum: [...names] }) } : {}),
          role: stringSchema('The role that it takes.', { maxLength: 5000 }),
          tools: {
            type: 'array',
            items: { type: 'string' },
            description: 'The tools it may use; all of yours by default.',
          },
          model: stringSchema('Another model for it.'),
          reviews: stringSchema(
            'The id of the agent whose work it reviews, or self for yours. An author does not review itself.',
          ),
          max_turns: { type: 'integer', minimum: 1, description: 'The maximum number of its turns; 25 by default.' },
          background: { type: 'boolean', description: 'Return at once and let it run in parallel.' },
        },
        required: ['task'],
        additionalProperties: false,
      },
      execute: async (input, context) => spawnAgent(await openManager(), input as SubagentSpec, context),
    }),
    withLazyValidation({
      name: 'manage_agents',
      description:
        'Manage the agents you started. List or inspect them, wait for them or stop them; a message to one that is done gives it more to do; an interrupted one resumes when you wait for it.',
      effect: 'read',
      input: {
        type: 'object',
        properties: {
          action: { type: 'string', enum: ['list', 'inspect', 'message', 'wait', 'stop'] },
          agent: stringSchema('Its id; for wait and stop all of them by default.'),
          message: stringSchema('What to tell it.', { minLength: 1, maxLength: 50_000 }),
          reviews: stringSchema('With message: the id of the agent whose work it shall review, or self.'),
        },
        required: ['action'],
        additionalProperties: false,
      },
      execute: async (input, context) => manageAgents(await openManager(), input as ManageAgentsInput, context),
    }),
  ];
}

/** Most runs start no sub-agent: the schema is compiled at the first call. */
const withLazyValidation = (tool: Tool): Tool => ({ ...tool, validate: createLazyValidator(tool.input) });

/** The result of a call, with the uncharged usage of sub-agents, which is charged to the run. */
function outputWithUsage(
  manager: SubagentManager,
  { state }: ToolContext,
  fields: Parameters<typeof toolOutput>[0],
): ToolOutput {
  const spent = manager.takeUnchargedUsage(state.session);
  return toolOutput({ ...fields, ...(spent ? { spent } : {}) });
}

async function spawnAgent(manager: SubagentManager, spec: SubagentSpec, context: ToolContext): Promise<ToolOutput> {
  const child = await manager.spawn(spec, context);
  const { review } = child.metadata;
  const data = { agent: child.id, ...(review ? { review } : {}) };
  const note = review ? `${review.note}\n` : '';
  if (spec.background)
    return outputWithUsage(manager, context, {
      text: `${note}${child.id} is running. Wait for it with manage_agents.`,
      data,
    });
  const { waitForReports } = await import('./wait.ts');
  const [report] = await waitForReports([child], context);
  return outputWithUsage(manager, context, {
    text: `${note}${report?.text ?? ''}`,
    failed: report?.failed ?? true,
    data,
  });
}

async function manageAgents(
  manager: SubagentManager,
  { action, agent, message, reviews }: ManageAgentsInput,
  context: ToolContext,
): Promise<ToolOutput> {
  const { formatSubagentDetails, formatSubagentLine } = await import('./format.ts');
  const all = await manager.list(context.state.session);
  const selected = agent === undefined ? all : [findAgent(agent, all)];
  const output = (text: string, failed = false): ToolOutput => outputWithUsage(manager, context, { text, failed });
  switch (action) {
    case 'list':
      return output(all.map(formatSubagentLine).join('\n') || 'You have started no agents.');
    case 'inspect':
      return output(selected.map(formatSubagentDetails).join('\n\n') || 'You have started no agents.');
    case 'message': {
      const receiver = agent === undefined ? undefined : selected[0];
      const note = reviews === undefined || !receiver ? '' : await assertReviewer(receiver, reviews, all, context);
      return output(`${await sendToAgent(manager, receiver, message, context)}${note}`);
    }
    case 'stop': {
      const running = selected.flatMap(({ id }) => manager.running(id) ?? []);
      for (const child of running) child.stop();
      await Promise.all(running.map(({ done }) => done));
      for (const { id } of running) manager.markRead(id);
      return output(running.map(({ id }) => `${id} is stopped.`).join('\n') || 'No agent was running.');
    }
    case 'wait': {
      const report = await waitForAgents(manager, selected, agent !== undefined, context);
      return output(report.text, report.failed);
    }
  }
}

/** Waits for running sub-agents, and resumes interrupted ones and waits for them. One that is done reports if it is named, or if its report was not read. */
async function waitForAgents(
  manager: SubagentManager,
  selected: readonly SubagentInfo[],
  named: boolean,
  context: ToolContext,
): Promise<SubagentReport> {
  const { formatReport } = await import('./format.ts');
  const { waitForReports } = await import('./wait.ts');
  const running: RunningSubagent[] = [];
  const done: SubagentReport[] = [];
  for (const subagent of selected) {
    const { id, state } = subagent;
    const child = manager.running(id);
    if (child) running.push(child);
    else if (state.run !== undefined && subagent.running === false)
      running.push(await manager.resume(subagent, undefined, context));
    else if (manager.markRead(id) || (named && state.run === undefined)) done.push(formatReport(id, state));
  }
  const reports = [...done, ...(await waitForReports(running, context))];
  for (const { id } of running) manager.markRead(id);
  const text = reports.map((each) => each.text).join('\n\n') || 'No agent is running.';
  return { text, failed: reports.length > 0 && reports.every((each) => each.failed) };
}

/** Throws if the receiver wrote what it shall review; otherwise says how independent the review is. */
async function assertReviewer(
  receiver: SubagentInfo,
  reviews: string,
  all: readonly SubagentInfo[],
  context: ToolContext,
): Promise<string> {
  const { createReviewRecord, identifySubagent } = await import('./independence.ts');
  const { identifyAuthor } = await import('./find-author.ts');
  const author = await identifyAuthor(reviews, all, context);
  return ` ${createReviewRecord(author, await identifySubagent(receiver)).note}`;
}

async function sendToAgent(
  manager: SubagentManager,
  subagent: SubagentInfo | undefined,
  message: string | undefined,
  context: ToolContext,
): Promise<string> {
  if (!subagent || message === undefined) throw incompleteMessageError();
  const child = manager.running(subagent.id);
  if (child) await child.send({ text: message, key: context.key });
  else await manager.resume(subagent, message, context);
  return child
    ? `${subagent.id} received the message.`
    : `${subagent.id} received the message and runs again. Wait for it with manage_agents.`;
}

function findAgent(id: string, all: readonly SubagentInfo[]): SubagentInfo {
  const found = all.find((each) => each.id === id);
  if (found) return found;
  throw new FairleadError('agent/unknown', `You have started no agent ${JSON.stringify(id)}.`, {
    blame: 'model',
    hint: all.length ? `There are: ${all.map((each) => each.id).join(', ')}.` : 'There are none yet.',
  });
}

const incompleteMessageError = (): FairleadError =>
  new FairleadError('agent/incomplete', 'A message needs an agent and a text.', { blame: 'model' });
