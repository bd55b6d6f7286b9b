// The slash command /agents: shows the agent files and the sub-agents of the session, one of them in full, and stops a running one.
import { withProgramName } from '../args/program-name.ts';
import type { SubagentInfo } from '../../agent/subagents/index.ts';
import { readSubagentCaps } from '../../coding-agent/settings/index.ts';
import type { CommandContext, SlashCommand } from './slash-command.ts';

const usageText = 'Use /agents alone, /agents <name or id>, or /agents stop <id>.';

/** The slash command `/agents`. */
export const agentsCommand: SlashCommand = {
  name: 'agents',
  description: 'agent files, and the sub-agents of this session with status and cost; stop <id>',
  argumentHint: '<name>|stop <id>',
  allowedDuringRun: true,
  async complete(_, { conversation }) {
    const { files = [] } = conversation.agent.agents ?? {};
    const running = (await listSubagents({ conversation })).filter(({ running: isRunning }) => isRunning === true);
    const names = [...files.map(({ name }) => name), ...running.map(({ id }) => `stop ${id}`)];
    return names.map((value) => ({ value, label: value }));
  },
  async run(args, context) {
    const [word = '', ...rest] = args.trim().split(/\s+/);
    if (word === '') return showOverview(context);
    if (word === 'stop') return stopAgent(rest.join(' '), context);
    return rest.length > 0 ? context.notify(usageText, 'warning') : showOne(word, context);
  },
};

const listSubagents = async ({
  conversation,
}: Pick<CommandContext, 'conversation'>): Promise<readonly SubagentInfo[]> =>
  (await conversation.agent.agents?.list(conversation.session.id)) ?? [];

async function showOverview(context: CommandContext): Promise<void> {
  const { conversation, showPage } = context;
  const { formatAgentOverview } = await import('../../agent/agent-files/index.ts');
  const text = formatAgentOverview({
    files: conversation.agent.agents?.files ?? [],
    subagents: await listSubagents(context),
    caps: readSubagentCaps(conversation.settings),
    tools: conversation.session.agent.tools.keys(),
  });
  showPage(withProgramName(text), 'Agents');
}

async function showOne(name: string, context: CommandContext): Promise<void> {
  const { conversation, showPage, notify } = context;
  const subagent = (await listSubagents(context)).find(({ id }) => id === name);
  if (subagent) {
    const { formatSubagentDetails } = await import('../../agent/subagents/index.ts');
    return showPage(formatSubagentDetails(subagent), name);
  }
  const file = conversation.agent.agents?.files.find((each) => each.name === name);
  if (!file) return notify(`There is no agent ${JSON.stringify(name)}. ${usageText}`, 'warning');
  const { formatAgentDetails } = await import('../../agent/agent-files/index.ts');
  return showPage(formatAgentDetails([file], Infinity), name);
}

async function stopAgent(id: string, { conversation, notify }: CommandContext): Promise<void> {
  const isStopped = (await conversation.agent.agents?.stop(id)) ?? false;
  notify(
    isStopped ? `${id} is stopped.` : `No agent ${JSON.stringify(id)} is running.`,
    isStopped ? 'info' : 'warning',
  );
}
