// Slash commands that select, list and test models, store keys of providers, and continue a run.
import { isSentAsIs } from '../../coding-agent/index.ts';
import type { Conversation } from '../../coding-agent/index.ts';
import {
  chooseModel,
  findWithProgress,
  formatDestination,
  isRouterName,
  listLogins,
  listModelChoices,
  listOtherChoices,
  listRouterNames,
  loginProviders,
  formatNoToolsWarning,
  takeChoice,
  testConnection,
} from '../../coding-agent/models/index.ts';
import { readSettings, type Settings } from '../../coding-agent/settings/index.ts';
import { readAllKnownModels, type KnownModel } from '../../coding-agent/state/index.ts';
import { createModelChooser } from '../login/model-chooser.ts';
import type { UiChoice } from '../tui/ui.ts';
import type { CommandContext, SlashCommand } from './slash-command.ts';

/** Models by name for completion: those of the configured provider, then those of other listed providers, routers and short names. */
function completeModels(conversation: Conversation): readonly UiChoice[] {
  const { settings } = conversation;
  const own = conversation.models();
  const others = readAllKnownModels(settings).filter(
    ({ id, provider }) => !own.some((model) => model.id === id && model.provider === provider),
  );
  const toChoice = (name: string, { tools }: KnownModel): UiChoice => ({
    value: name,
    label: name,
    ...(tools === false ? { description: 'cannot call tools' } : {}),
  });
  return [
    ...own.map((model) => toChoice(model.id, model)),
    ...others.map((model) => toChoice(`${model.provider}/${model.id}`, model)),
    ...listNameChoices(settings),
  ];
}

/** The routers and the short names of the settings. */
const listNameChoices = (settings: Settings): readonly UiChoice[] => [
  ...Object.entries(settings.modelNames).map(([name, model]) => ({ value: name, label: name, description: model })),
  ...listRouterNames(settings).map((name) => ({
    value: name,
    label: name,
    description: 'selects a model for each message',
  })),
];

/** Lets the user choose among the models of all usable providers; true if the model was changed. */
async function chooseAnyModel({ conversation, ui, signal }: CommandContext): Promise<boolean> {
  const { settings } = conversation;
  const chooser = createModelChooser(ui, settings, signal);
  const sources = await findWithProgress(settings, chooser, signal);
  const names = listNameChoices(settings);
  const picked = await chooser.pick('Which model?', [
    ...listModelChoices(sources, settings),
    ...names,
    ...listOtherChoices(chooser),
  ]);
  if (picked === undefined) return false;
  if (names.some(({ value }) => value === picked)) return conversation.useModel(picked, signal).then(() => true);
  const chosen = await takeChoice(picked, sources, settings, chooser, signal);
  if (chosen && chosen.settings !== settings) await conversation.useSettings(chosen.settings);
  if (!chosen || !('model' in chosen)) return false;
  await conversation.switchModel(chosen.model, signal);
  return true;
}

/** Says which model answers next, and where the text goes. */
function notifyModel({ conversation, notify }: CommandContext): void {
  const { model, settings } = conversation;
  if (model.router !== undefined) return notify(`${model.router} selects a model for each message, and shows which.`);
  notify(`The next answer comes from ${model.name}. Your text goes to ${formatDestination(model.ref, settings.env)}.`);
  const noTools = formatNoToolsWarning(model);
  if (noTools !== undefined) notify(noTools, 'warning');
}

const modelCommand: SlashCommand = {
  name: 'model',
  description: 'switch to another model for the next messages',
  argumentHint: '<name>',
  complete: (_, { conversation }) => completeModels(conversation),
  async run(args, context) {
    const { conversation, notify, signal } = context;
    const name = args.trim();
    if (name === '' && !(await chooseAnyModel(context)))
      return notify(`The model is still ${conversation.model.name}.`);
    if (name !== '') await conversation.useModel(name, signal);
    if (isRouterName(name)) return notify(`${name} selects a model for each message from now on, and shows which.`);
    return notifyModel(context);
  },
};

const loginCommand: SlashCommand = {
  name: 'login',
  description: 'enter a key of a provider, and choose one of its models',
  argumentHint: '<provider>',
  complete: () => loginProviders.map(({ name }) => ({ value: name, label: name })),
  async run(args, context) {
    const { conversation, ui, notify, signal } = context;
    const { enterKey } = await import('../login/enter-key.ts');
    const [named, more] = args.trim().split(/\s+/);
    if (more !== undefined) return notify('The key is entered at the next question: /login <provider>', 'error');
    const provider = await enterKey(ui, conversation.settings, named || undefined, signal);
    if (provider === undefined) return undefined;
    const settings = readSettings({ cwd: conversation.agent.workspace.cwd });
    await conversation.useSettings(settings);
    const chosen = await chooseModel(settings, createModelChooser(ui, settings, signal), { endpoint: { provider } });
    if (!chosen) return notify(`The model is still ${conversation.model.name}.`);
    await conversation.switchModel(chosen.model, signal);
    return notifyModel(context);
  },
};

const logoutCommand: SlashCommand = {
  name: 'logout',
  description: 'remove the stored key of a provider',
  argumentHint: '<provider>',
  complete: (_, { conversation }) => listLogins(conversation.settings).map((name) => ({ value: name, label: name })),
  async run(args, { conversation, notify }) {
    const { formatLogout } = await import('../login/format-logout.ts');
    notify(formatLogout(conversation.settings, args.trim()));
    await conversation.useSettings(readSettings({ cwd: conversation.agent.workspace.cwd }));
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
    // An input can be waiting for its first turn, after the log was edited.
    if (conversation.session.messages.length === 0 && conversation.session.state.pending.length === 0)
      return notify('There is nothing to continue yet: send a message first.', 'warning');
    // Many providers refuse a request that ends with an assistant message, so a user message is added; the user must know about it.
    const { messages, state } = conversation.session;
    const answered = state.calls.length === 0 && messages.at(-1)?.role === 'assistant';
    if (answered && !isSentAsIs(conversation.settings, conversation.model))
      notify('The last answer was complete; sending "Go on."');
    return runAgent();
  },
};

/** The slash commands on models. */
export const modelCommands: readonly SlashCommand[] = [
  modelCommand,
  loginCommand,
  logoutCommand,
  streamCommand,
  continueCommand,
  refreshModelsCommand,
  testConnectionCommand,
];
