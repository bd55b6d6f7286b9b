// Commands that look: help, tools, cost, context, where we are, and the way out.
import { cacheMisses, contextText, costs, costsText, whatFills } from '../branches/index.ts';
import type { SlashCommand } from './desk.ts';
import { tellLoaded } from './loaded.ts';

const tools: SlashCommand = {
  name: 'tools',
  about: 'what the model can do, and what is asked first',
  anytime: true,
  run(_, { talk, page }) {
    const lines = [...talk.session.agent.tools.values()].map(
      ({ name, effect, deferred: hidden, description }) =>
        `${name.padEnd(28)}${(effect === 'read' ? 'free' : 'asks').padEnd(6)}${hidden ? '(loaded on demand) ' : ''}${description.split(/(?<=\.)\s/)[0]}`,
    );
    page(lines.join('\n') || 'This model cannot call tools.', 'Tools');
  },
};

const cost: SlashCommand = {
  name: 'cost',
  about: 'what this session has used, by model',
  anytime: true,
  async run(_, { talk, page }) {
    page(costsText(costs(await talk.events())), 'Cost');
  },
};

const context: SlashCommand = {
  name: 'context',
  about: 'what fills the window, and why the cache missed',
  anytime: true,
  async run(_, { talk, page }) {
    const { contextWindow: window } = talk.session.agent.provider;
    const fill = whatFills(talk.session.state, {
      instructions: talk.outfit.instructions.text,
      ...(window === undefined ? {} : { window }),
    });
    page(contextText(fill, cacheMisses(await talk.events())), 'Context');
  },
};

const cwd: SlashCommand = {
  name: 'cwd',
  about: 'show the working folder, or work in another one',
  takes: '<folder>',
  async run(args, desk) {
    const { talk, say } = desk;
    if (args.trim()) await talk.moveTo(args.trim());
    say(`The working folder is ${talk.outfit.workspace.cwd}`);
    if (args.trim()) tellLoaded(desk);
  },
};

const exit = (name: string): SlashCommand => ({
  name,
  about: 'leave; the session is kept',
  anytime: true,
  run: (_, { quit }) => quit(),
});

/** Commands that look. */
export const outlookCommands: readonly SlashCommand[] = [tools, cost, context, cwd, exit('exit'), exit('quit')];
