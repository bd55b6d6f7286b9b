// Slash commands that show tools, cost and context use, change the working directory, and quit.
import {
  reportCache,
  formatContextBreakdown,
  reportCosts,
  formatCosts,
  measureContext,
} from '../../sessions/reports/index.ts';
import { withProgramName } from '../args/program-name.ts';
import type { CommandContext, SlashCommand } from './slash-command.ts';

const toolsCommand: SlashCommand = {
  name: 'tools',
  description: 'list the tools of the model, and which need approval',
  allowedDuringRun: true,
  async run(_, { conversation, showPage }) {
    const { tools } = conversation.session.agent;
    const lines = [...tools.values()].map(
      ({ name, effect, deferred, description }) =>
        `${name.padEnd(28)}${(effect === 'read' ? 'free' : 'asks').padEnd(6)}${deferred ? '(loaded on demand) ' : ''}${description.split(/(?<=\.)\s/)[0]}`,
    );
    if (lines.length === 0) return showPage('This model cannot call tools.', 'Tools');
    const { reportCoreTools } = await import('../../coding-agent/index.ts');
    const needing = reportCoreTools(tools.keys()).needing.map(({ tool, needs }) => `${tool.padEnd(28)}needs ${needs}`);
    return showPage(withProgramName([...lines, ...needing].join('\n')), 'Tools');
  },
};

const costCommand: SlashCommand = {
  name: 'cost',
  description: 'tokens and cost of this session, by model',
  allowedDuringRun: true,
  async run(_, { conversation, showPage }) {
    showPage(formatCosts(reportCosts(await conversation.events())), 'Cost');
  },
};

const contextCommand: SlashCommand = {
  name: 'context',
  description: 'what fills the context window, and why the cache missed',
  allowedDuringRun: true,
  async run(_, { conversation, showPage }) {
    const { contextWindow } = conversation.session.agent.provider;
    const breakdown = measureContext(conversation.session.state, {
      instructions: conversation.agent.instructions.text,
      ...(contextWindow === undefined ? {} : { window: contextWindow }),
    });
    showPage(formatContextBreakdown(breakdown, reportCache(await conversation.events())), 'Context');
  },
};

const cwdCommand: SlashCommand = {
  name: 'cwd',
  description: 'show the working directory, or change it',
  argumentHint: '<directory>',
  async run(args, context) {
    const { conversation, notify } = context;
    if (args.trim()) await conversation.changeDirectory(args.trim());
    notify(`The working directory is ${conversation.agent.workspace.cwd}`);
    if (args.trim()) notifyLoadedResources(context);
  },
};

const createExitCommand = (name: string): SlashCommand => ({
  name,
  description: 'quit; the session is kept',
  allowedDuringRun: true,
  run: (_, { quit }) => quit(),
});

/** Shows which instructions and skills were loaded for the working directory, and the problems found on the way. */
export function notifyLoadedResources({ conversation, notify }: Pick<CommandContext, 'conversation' | 'notify'>): void {
  const { origin } = conversation.settings.all.get('instructions') ?? {};
  if (origin?.type === 'project') notify(`Instructions loaded: ${origin.file}`);
  const { instructions, skills, problems } = conversation.agent;
  for (const problem of problems) notify(problem, 'warning');
  if (conversation.model.tools === false) return;
  if (instructions.files.length)
    notify(`Instructions loaded: ${instructions.files.map(({ path }) => path).join(', ')}`);
  if (skills.length) notify(`Skills: ${skills.map(({ name }) => name).join(', ')}`);
}

/** The slash commands that show information or quit. */
export const infoCommands: readonly SlashCommand[] = [
  toolsCommand,
  costCommand,
  contextCommand,
  cwdCommand,
  createExitCommand('exit'),
  createExitCommand('quit'),
];
