// The two tools through which a model has agents of its own: one starts them, one looks after them.
import { FairleadError, output, type JsonObject, type Output, type Tool, type ToolContext } from '../../core/index.ts';
import { checkerWhenAsked } from '../schema.ts';
import type { AgentWish, Known } from './about.ts';
import type { Child } from './child.ts';
import type { Crew } from './crew.ts';
import type { Report } from './watching.ts';

type Managing = {
  readonly action: 'list' | 'inspect' | 'message' | 'wait' | 'stop';
  readonly agent?: string;
  readonly message?: string;
};

const text = (description: string, more: JsonObject = {}): JsonObject => ({ type: 'string', description, ...more });

/** The tools that start and manage agents; the crew is opened when one of them is first used. */
export function agentTools(crew: () => Promise<Crew>): readonly Tool[] {
  return [
    checkedLater({
      name: 'spawn_agent',
      description:
        'Start an agent for a task. It reports to you, has your tools or fewer, asks the same person, and uses your budget. In the background it works beside you and beside others: wait for it with manage_agents before you give your final answer.',
      effect: 'outside',
      // The same call finds the agent that it started, whose own log says what is done already.
      idempotent: true,
      input: {
        type: 'object',
        properties: {
          task: text('What to do, with everything needed to do it: it sees nothing of this conversation.', {
            minLength: 1,
            maxLength: 50_000,
          }),
          role: text('Who it is to be.', { maxLength: 5000 }),
          tools: {
            type: 'array',
            items: { type: 'string' },
            description: 'The tools it keeps; all of yours unless given.',
          },
          model: text('Another model for it.'),
          max_turns: { type: 'integer', minimum: 1, description: 'Turns it may take at most; 25 unless given.' },
          background: { type: 'boolean', description: 'Return at once and let it work beside you.' },
        },
        required: ['task'],
        additionalProperties: false,
      },
      run: async (input, context) => spawned(await crew(), input as AgentWish, context),
    }),
    checkedLater({
      name: 'manage_agents',
      description:
        'Look after the agents you started. List or inspect them, wait for them or stop them; a message to one that is done gives it more to do; an interrupted one goes on when it is waited for.',
      effect: 'read',
      input: {
        type: 'object',
        properties: {
          action: { type: 'string', enum: ['list', 'inspect', 'message', 'wait', 'stop'] },
          agent: text('Its id; for wait and stop all of them unless given.'),
          message: text('What to tell it.', { minLength: 1, maxLength: 50_000 }),
        },
        required: ['action'],
        additionalProperties: false,
      },
      run: async (input, context) => managed(await crew(), input as Managing, context),
    }),
  ];
}

/** Most runs never start an agent: the schema of a tool of ours is made ready by its first call, not by every start. */
const checkedLater = (tool: Tool): Tool => ({ ...tool, check: checkerWhenAsked(tool.input) });

/** The result of a call, with what agents have used until now charged to the run. */
function charged(crew: Crew, { state }: ToolContext, fields: Parameters<typeof output>[0]): Output {
  const spent = crew.owed(state.session);
  return output({ ...fields, ...(spent ? { spent } : {}) });
}

async function spawned(crew: Crew, wish: AgentWish, context: ToolContext): Promise<Output> {
  const child = await crew.start(wish, context);
  const data = { agent: child.id };
  if (wish.background)
    return charged(crew, context, { text: `${child.id} is at work. Wait for it with manage_agents.`, data });
  const { reportOn } = await import('./watching.ts');
  const [report] = await reportOn([child], context);
  return charged(crew, context, { text: report?.text ?? '', failed: report?.failed ?? true, data });
}

async function managed(crew: Crew, { action, agent, message }: Managing, context: ToolContext): Promise<Output> {
  const { inspected, listed } = await import('./about.ts');
  const all = await crew.of(context.state.session);
  const chosen = agent === undefined ? all : [named(agent, all)];
  const say = (words: string, failed = false): Output => charged(crew, context, { text: words, failed });
  switch (action) {
    case 'list':
      return say(all.map(listed).join('\n') || 'You have started no agents.');
    case 'inspect':
      return say(chosen.map(inspected).join('\n\n') || 'You have started no agents.');
    case 'message':
      return say(await passedOn(crew, agent === undefined ? undefined : chosen[0], message, context));
    case 'stop': {
      const going = chosen.flatMap(({ id }) => crew.live(id) ?? []);
      for (const child of going) child.stop();
      await Promise.all(going.map(({ over }) => over));
      for (const { id } of going) crew.read(id);
      return say(going.map(({ id }) => `${id} is stopped.`).join('\n') || 'Nothing was at work.');
    }
    case 'wait': {
      const came = await waitFor(crew, chosen, agent !== undefined, context);
      return say(came.text, came.failed);
    }
  }
}

/** Waits for those at work, and for interrupted ones, which go on for that; one that is done already gives its report if it is named, or if nobody had it yet. */
async function waitFor(crew: Crew, chosen: readonly Known[], named: boolean, context: ToolContext): Promise<Report> {
  const { reportOn, worded } = await import('./watching.ts');
  const going: Child[] = [];
  const done: Report[] = [];
  for (const known of chosen) {
    const { id, state } = known;
    const child = crew.live(id);
    if (child) going.push(child);
    else if (state.run !== undefined && known.live === false) going.push(await crew.goOn(known, undefined, context));
    else if (crew.read(id) || (named && state.run === undefined)) done.push(worded(id, state));
  }
  const reports = [...done, ...(await reportOn(going, context))];
  for (const { id } of going) crew.read(id);
  const text = reports.map((each) => each.text).join('\n\n') || 'No agent is at work.';
  return { text, failed: reports.length > 0 && reports.every((each) => each.failed) };
}

async function passedOn(
  crew: Crew,
  known: Known | undefined,
  message: string | undefined,
  context: ToolContext,
): Promise<string> {
  if (!known || message === undefined) throw incomplete();
  const child = crew.live(known.id);
  if (child) await child.say({ words: message, key: context.key });
  else await crew.goOn(known, message, context);
  return child ? `${known.id} was told.` : `${known.id} was told and is at work again. Wait for it with manage_agents.`;
}

function named(id: string, all: readonly Known[]): Known {
  const found = all.find((each) => each.id === id);
  if (found) return found;
  throw new FairleadError('agent/unknown', `You have started no agent ${JSON.stringify(id)}.`, {
    blame: 'model',
    hint: all.length ? `There are: ${all.map((each) => each.id).join(', ')}.` : 'There are none yet.',
  });
}

const incomplete = (): FairleadError =>
  new FairleadError('agent/incomplete', 'A message needs an agent and the words for it.', { blame: 'model' });
