// Commands about the model: which one answers, how, and whether it can be reached.
import type { Conversation } from '../../coding-agent/conversation.ts';
import { isRouterName, listRouterNames, formatNoToolsWarning } from '../../coding-agent/models/resolve-model.ts';
import { testConnection } from '../../coding-agent/models/test-connection.ts';
import type { UiChoice } from '../tui/ui.ts';
import type { SlashCommand } from './context.ts';

const modelChoices = (talk: Conversation): readonly UiChoice[] => [
  ...talk.models().map(({ id, tools }) => ({
    value: id,
    label: id,
    ...(tools === false ? { description: 'cannot call tools' } : {}),
  })),
  ...listRouterNames(talk.settings).map((name) => ({
    value: name,
    label: name,
    description: 'chooses for each message',
  })),
];

const modelCommand: SlashCommand = {
  name: 'model',
  description: 'switch to another model for what comes next',
  argumentHint: '<name>',
  complete: (_, { conversation: talk }) => modelChoices(talk),
  async run(args, { conversation: talk, ui: face, notify: say, signal }) {
    const name = args.trim() || (await face.pick('Which model?', modelChoices(talk), signal));
    if (!name) return say(`The model is still ${talk.model.name}.`);
    await talk.useModel(name);
    if (isRouterName(name)) return say(`${name} chooses a model for each message from now on, and says which.`);
    say(`The next answer comes from ${talk.model.name}.`);
    const poor = formatNoToolsWarning(talk.model);
    return poor === undefined ? undefined : say(poor, 'warning');
  },
};

const refreshModelsCommand: SlashCommand = {
  name: 'refresh-models',
  description: 'ask the provider again which models it has',
  async run(_, { conversation: talk, notify: say, signal }) {
    const models = await talk.refresh(signal);
    say(
      `${models.length} model${models.length === 1 ? '' : 's'}: ${models
        .map(({ id }) => id)
        .slice(0, 20)
        .join(', ')}${models.length > 20 ? ', …' : ''}`,
    );
  },
};

const testConnectionCommand: SlashCommand = {
  name: 'test-connection',
  description: 'see whether the provider answers',
  async run(_, { conversation: talk, notify: say, signal }) {
    say(await testConnection(talk.settings, talk.endpoint, signal));
  },
};

const streamCommand: SlashCommand = {
  name: 'stream',
  description: 'show answers while they come, or whole; each use switches',
  allowedDuringRun: true,
  run(_, { conversation: talk, refreshStatus: refresh, notify: say }) {
    talk.stream = !talk.stream;
    refresh();
    say(talk.stream ? 'Answers are shown while they come.' : 'Answers are shown when they are whole.');
  },
};

const continueCommand: SlashCommand = {
  name: 'continue',
  description: 'let the model go on from here, without a new message',
  async run(_, { conversation: talk, notify: say, runAgent: converse }) {
    if (talk.session.messages.length === 0)
      return say('There is nothing to continue yet: say something first.', 'warning');
    // A request may not end with the model's own words, so the log adds some; nothing is added unseen.
    const { messages, state } = talk.session;
    const answered = state.calls.length === 0 && messages.at(-1)?.role === 'assistant';
    if (answered) say('It had answered, so "Go on." is put after its words.');
    return converse();
  },
};

/** Commands about the model. */
export const modelCommands: readonly SlashCommand[] = [
  modelCommand,
  streamCommand,
  continueCommand,
  refreshModelsCommand,
  testConnectionCommand,
];
