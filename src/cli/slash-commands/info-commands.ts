// Commands that look: help, tools, cost, context, where we are, and the way out.
import {
  reportCacheMisses,
  formatContextBreakdown,
  reportCosts,
  formatCosts,
  measureContext,
} from '../../sessions/reports/index.ts';
import type { SlashCommand } from './context.ts';
import { notifyLoadedResources } from './loaded-resources.ts';

const toolsCommand: SlashCommand = {
  name: 'tools',
  description: 'what the model can do, and what is asked first',
  allowedDuringRun: true,
  run(_, { conversation, showPage }) {
    const lines = [...conversation.session.agent.tools.values()].map(
      ({ name, effect, deferred, description }) =>
        `${name.padEnd(28)}${(effect === 'read' ? 'free' : 'asks').padEnd(6)}${deferred ? '(loaded on demand) ' : ''}${description.split(/(?<=\.)\s/)[0]}`,
    );
    showPage(lines.join('\n') || 'This model cannot call tools.', 'Tools');
  },
};

const costCommand: SlashCommand = {
  name: 'cost',
  description: 'what this session has used, by model',
  allowedDuringRun: true,
  async run(_, { conversation, showPage }) {
    showPage(formatCosts(reportCosts(await conversation.events())), 'Cost');
  },
};

const contextCommand: SlashCommand = {
  name: 'context',
  description: 'what fills the window, and why the cache missed',
  allowedDuringRun: true,
  async run(_, { conversation, showPage }) {
    const { contextWindow } = conversation.session.agent.provider;
    const fill = measureContext(conversation.session.state, {
      instructions: conversation.agent.instructions.text,
      ...(contextWindow === undefined ? {} : { window: contextWindow }),
    });
    showPage(formatContextBreakdown(fill, reportCacheMisses(await conversation.events())), 'Context');
  },
};

const cwdCommand: SlashCommand = {
  name: 'cwd',
  description: 'show the working folder, or work in another one',
  argumentHint: '<folder>',
  async run(args, desk) {
    const { conversation, notify } = desk;
    if (args.trim()) await conversation.changeDirectory(args.trim());
    notify(`The working folder is ${conversation.agent.workspace.cwd}`);
    if (args.trim()) notifyLoadedResources(desk);
  },
};

const createExitCommand = (name: string): SlashCommand => ({
  name,
  description: 'leave; the session is kept',
  allowedDuringRun: true,
  run: (_, { quit }) => quit(),
});

/** Commands that look. */
export const infoCommands: readonly SlashCommand[] = [
  toolsCommand,
  costCommand,
  contextCommand,
  cwdCommand,
  createExitCommand('exit'),
  createExitCommand('quit'),
];
