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
  complete: (_, { conversation }) => modelChoices(conversation),
  async run(args, { conversation, ui, notify, signal }) {
    const name = args.trim() || (await ui.pick('Which model?', modelChoices(conversation), signal));
    if (!name) return notify(`The model is still ${conversation.model.name}.`);
    await conversation.useModel(name);
    if (isRouterName(name)) return notify(`${name} chooses a model for each message from now on, and says which.`);
    notify(`The next answer comes from ${conversation.model.name}.`);
    const poor = formatNoToolsWarning(conversation.model);
    return poor === undefined ? undefined : notify(poor, 'warning');
  },
};

const refreshModelsCommand: SlashCommand = {
  name: 'refresh-models',
  description: 'ask the provider again which models it has',
  async run(_, { conversation, notify, signal }) {
    const models = await conversation.refresh(signal);
    notify(
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
  async run(_, { conversation, notify, signal }) {
    notify(await testConnection(conversation.settings, conversation.endpoint, signal));
  },
};

const streamCommand: SlashCommand = {
  name: 'stream',
  description: 'show answers while they come, or whole; each use switches',
  allowedDuringRun: true,
  run(_, { conversation, refreshStatus, notify }) {
    conversation.stream = !conversation.stream;
    refreshStatus();
    notify(conversation.stream ? 'Answers are shown while they come.' : 'Answers are shown when they are whole.');
  },
};

const continueCommand: SlashCommand = {
  name: 'continue',
  description: 'let the model go on from here, without a new message',
  async run(_, { conversation, notify, runAgent }) {
    if (conversation.session.messages.length === 0)
      return notify('There is nothing to continue yet: say something first.', 'warning');
    // A request may not end with the model's own words, so the log adds some; nothing is added unseen.
    const { messages, state } = conversation.session;
    const answered = state.calls.length === 0 && messages.at(-1)?.role === 'assistant';
    if (answered) notify('It had answered, so "Go on." is put after its words.');
    return runAgent();
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
