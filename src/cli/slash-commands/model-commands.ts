// Slash commands that select, list and test models, and continue a run.
import type { Conversation } from '../../coding-agent/index.ts';
import {
  isRouterName,
  listRouterNames,
  formatNoToolsWarning,
  testConnection,
} from '../../coding-agent/models/index.ts';
import type { UiChoice } from '../tui/ui.ts';
import type { SlashCommand } from './slash-command.ts';

const modelChoices = (conversation: Conversation): readonly UiChoice[] => [
  ...conversation.models().map(({ id, tools }) => ({
    value: id,
    label: id,
    ...(tools === false ? { description: 'cannot call tools' } : {}),
  })),
  ...listRouterNames(conversation.settings).map((name) => ({
    value: name,
    label: name,
    description: 'selects a model for each message',
  })),
];

const modelCommand: SlashCommand = {
  name: 'model',
  description: 'switch to another model for the next messages',
  argumentHint: '<name>',
  complete: (_, { conversation }) => modelChoices(conversation),
  async run(args, { conversation, ui, notify, signal }) {
    const name = args.trim() || (await ui.pick('Which model?', modelChoices(conversation), signal));
    if (!name) return notify(`The model is still ${conversation.model.name}.`);
    await conversation.useModel(name);
    if (isRouterName(name)) return notify(`${name} selects a model for each message from now on, and shows which.`);
    notify(`The next answer comes from ${conversation.model.name}.`);
    const noTools = formatNoToolsWarning(conversation.model);
    return noTools === undefined ? undefined : notify(noTools, 'warning');
  },
};

const refreshModelsCommand: SlashCommand = {
  name: 'refresh-models',
  description: 'update the list of models from the provider',
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
  description: 'check that the provider answers',
  async run(_, { conversation, notify, signal }) {
    notify(await testConnection(conversation.settings, conversation.endpoint, signal));
  },
};

const streamCommand: SlashCommand = {
  name: 'stream',
  description: 'switch streaming of answers on or off',
  allowedDuringRun: true,
  run(_, { conversation, refreshStatus, notify, isRunning }) {
    conversation.stream = !conversation.stream;
    refreshStatus();
    // An answer that was requested as a whole cannot be streamed any more.
    const from = conversation.stream && isRunning ? ', from the next request on' : '';
    notify(conversation.stream ? `Streaming on${from}.` : 'Streaming off.');
  },
};

const continueCommand: SlashCommand = {
  name: 'continue',
  description: 'let the model continue without a new message',
  async run(_, { conversation, notify, runAgent }) {
    if (conversation.session.messages.length === 0)
      return notify('There is nothing to continue yet: send a message first.', 'warning');
    // A request may not end with an assistant message, so a user message is added; the user must know about it.
    const { messages, state } = conversation.session;
    const answered = state.calls.length === 0 && messages.at(-1)?.role === 'assistant';
    if (answered) notify('The model had answered, so the message "Go on." is added.');
    return runAgent();
  },
};

/** The slash commands on models. */
export const modelCommands: readonly SlashCommand[] = [
  modelCommand,
  streamCommand,
  continueCommand,
  refreshModelsCommand,
  testConnectionCommand,
];
