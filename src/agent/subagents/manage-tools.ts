// The two tools through which a model has agents of its own: one starts them, one looks after them.
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
import type { SubagentManager } from './manager.ts';
import type { SubagentReport } from './wait.ts';

type ManageAgentsInput = {
  readonly action: 'list' | 'inspect' | 'message' | 'wait' | 'stop';
  readonly agent?: string;
  readonly message?: string;
};

const stringSchema = (description: string, more: JsonObject = {}): JsonObject => ({
  type: 'string',
  description,
  ...more,
});

/** The tools that start and manage agents; the crew is opened when one of them is first used. */
export function subagentTools(crew: () => Promise<SubagentManager>): readonly Tool[] {
  return [
    withLazyValidation({
      name: 'spawn_agent',
      description:
        'Start an agent for a task. It reports to you, has your tools or fewer, asks the same person, and uses your budget. In the background it works beside you and beside others: wait for it with manage_agents before you give your final answer.',
      effect: 'external',
      // The same call finds the agent that it started, whose own log says what is done already.
      idempotent: true,
      input: {
        type: 'object',
        properties: {
          task: stringSchema('What to do, with everything needed to do it: it sees nothing of this conversation.', {
            minLength: 1,
            maxLength: 50_000,
          }),
          role: stringSchema('Who it is to be.', { maxLength: 5000 }),
          tools: {
            type: 'array',
            items: { type: 'string' },
            description: 'The tools it keeps; all of yours unless given.',
          },
          model: stringSchema('Another model for it.'),
          max_turns: { type: 'integer', minimum: 1, description: 'Turns it may take at most; 25 unless given.' },
          background: { type: 'boolean', description: 'Return at once and let it work beside you.' },
        },
        required: ['task'],
        additionalProperties: false,
      },
      execute: async (input, context) => spawnAgent(await crew(), input as SubagentSpec, context),
    }),
    withLazyValidation({
      name: 'manage_agents',
      description:
        'Look after the agents you started. List or inspect them, wait for them or stop them; a message to one that is done gives it more to do; an interrupted one goes on when it is waited for.',
      effect: 'read',
      input: {
        type: 'object',
        properties: {
          action: { type: 'string', enum: ['list', 'inspect', 'message', 'wait', 'stop'] },
          agent: stringSchema('Its id; for wait and stop all of them unless given.'),
          message: stringSchema('What to tell it.', { minLength: 1, maxLength: 50_000 }),
        },
        required: ['action'],
        additionalProperties: false,
      },
      execute: async (input, context) => manageAgents(await crew(), input as ManageAgentsInput, context),
    }),
  ];
}

/** Most runs never start an agent: the schema of a tool of ours is made ready by its first call, not by every start. */
const withLazyValidation = (tool: Tool): Tool => ({ ...tool, validate: createLazyValidator(tool.input) });

/** The result of a call, with what agents have used until now charged to the run. */
function outputWithUsage(
  crew: SubagentManager,
  { state }: ToolContext,
  fields: Parameters<typeof toolOutput>[0],
): ToolOutput {
  const spent = crew.takeUnchargedUsage(state.session);
  return toolOutput({ ...fields, ...(spent ? { spent } : {}) });
}

async function spawnAgent(crew: SubagentManager, wish: SubagentSpec, context: ToolContext): Promise<ToolOutput> {
  const child = await crew.spawn(wish, context);
  const data = { agent: child.id };
  if (wish.background)
    return outputWithUsage(crew, context, { text: `${child.id} is at work. Wait for it with manage_agents.`, data });
  const { waitForReports } = await import('./wait.ts');
  const [report] = await waitForReports([child], context);
  return outputWithUsage(crew, context, { text: report?.text ?? '', failed: report?.failed ?? true, data });
}

async function manageAgents(
  crew: SubagentManager,
  { action, agent, message }: ManageAgentsInput,
  context: ToolContext,
): Promise<ToolOutput> {
  const { formatSubagentDetails, formatSubagentLine } = await import('./metadata.ts');
  const all = await crew.list(context.state.session);
  const chosen = agent === undefined ? all : [findAgent(agent, all)];
  const say = (words: string, failed = false): ToolOutput => outputWithUsage(crew, context, { text: words, failed });
  switch (action) {
    case 'list':
      return say(all.map(formatSubagentLine).join('\n') || 'You have started no agents.');
    case 'inspect':
      return say(chosen.map(formatSubagentDetails).join('\n\n') || 'You have started no agents.');
    case 'message':
      return say(await sendToAgent(crew, agent === undefined ? undefined : chosen[0], message, context));
    case 'stop': {
      const going = chosen.flatMap(({ id }) => crew.running(id) ?? []);
      for (const child of going) child.stop();
      await Promise.all(going.map(({ done }) => done));
      for (const { id } of going) crew.markRead(id);
      return say(going.map(({ id }) => `${id} is stopped.`).join('\n') || 'Nothing was at work.');
    }
    case 'wait': {
      const came = await waitForAgents(crew, chosen, agent !== undefined, context);
      return say(came.text, came.failed);
    }
  }
}

/** Waits for those at work, and for interrupted ones, which go on for that; one that is done already gives its report if it is named, or if nobody had it yet. */
async function waitForAgents(
  crew: SubagentManager,
  chosen: readonly SubagentInfo[],
  named: boolean,
  context: ToolContext,
): Promise<SubagentReport> {
  const { waitForReports, formatReport } = await import('./wait.ts');
  const going: RunningSubagent[] = [];
  const done: SubagentReport[] = [];
  for (const known of chosen) {
    const { id, state } = known;
    const child = crew.running(id);
    if (child) going.push(child);
    else if (state.run !== undefined && known.running === false)
      going.push(await crew.resume(known, undefined, context));
    else if (crew.markRead(id) || (named && state.run === undefined)) done.push(formatReport(id, state));
  }
  const reports = [...done, ...(await waitForReports(going, context))];
  for (const { id } of going) crew.markRead(id);
  const text = reports.map((each) => each.text).join('\n\n') || 'No agent is at work.';
  return { text, failed: reports.length > 0 && reports.every((each) => each.failed) };
}

async function sendToAgent(
  crew: SubagentManager,
  known: SubagentInfo | undefined,
  message: string | undefined,
  context: ToolContext,
): Promise<string> {
  if (!known || message === undefined) throw incompleteMessageError();
  const child = crew.running(known.id);
  if (child) await child.send({ text: message, key: context.key });
  else await crew.resume(known, message, context);
  return child ? `${known.id} was told.` : `${known.id} was told and is at work again. Wait for it with manage_agents.`;
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
  new FairleadError('agent/incomplete', 'A message needs an agent and the words for it.', { blame: 'model' });
