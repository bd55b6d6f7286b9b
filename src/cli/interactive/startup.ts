// Prepares a conversation in interactive mode: chooses the model, and asks the user where needed.
import { FairleadError, formatError } from '../../core/index.ts';
import { createUiPrompter } from '../tui/create-ui.ts';
import type { TerminalUI } from '../tui/ui.ts';
import type { CliArgs } from '../args/parse-args.ts';
import { exitCodeForError, exitCodes } from '../args/exit-codes.ts';
import {
  readKnownModels,
  readLastModel,
  refreshModels,
  type KnownModel,
  type ModelEndpoint,
} from '../../coding-agent/state/index.ts';
import type { Settings } from '../../coding-agent/settings/index.ts';
import type { ConversationOptions } from '../../coding-agent/index.ts';
import {
  discoverModel,
  toResolvedModel,
  isRouterName,
  findModel,
  getModelEndpoint,
  formatEndpoint,
  toRouterModel,
  defaultEndpoint,
  type ResolvedModel,
  testConnection,
} from '../../coding-agent/models/index.ts';

/** The options of a conversation without its session. */
export type PreparedConversation = Omit<ConversationOptions, 'selector'>;

/** Returns the options of a conversation, or an exit code if the program ends here. */
export async function prepareConversation(
  args: CliArgs,
  settings: Settings,
  ui: TerminalUI,
): Promise<PreparedConversation | number> {
  const selected = await selectModel(args, settings, ui);
  if (typeof selected === 'number') return selected;
  const prompter = createUiPrompter(ui);
  // The lines of a pipe are input for the model, not the answer of a user.
  const answers = process.stdin.isTTY ? {} : { onInstructionsChanged: false as const };
  return { settings, flags: args, host: prompter, prompter, ...answers, ...selected };
}

type SelectedModel = { readonly model: ResolvedModel };

async function selectModel(args: CliArgs, settings: Settings, ui: TerminalUI): Promise<SelectedModel | number> {
  const notify = (text: string, level: 'info' | 'error' = 'info'): void =>
    ui.putBlock({ type: 'notice', id: crypto.randomUUID(), level, text });
  const fail = (error: unknown): number => {
    if (!(error instanceof FairleadError)) throw error;
    notify(formatError(error), 'error');
    return exitCodeForError(error.code);
  };
  let known = readKnownModels(settings) ?? [];
  const needsServer = args.action?.type === 'test-connection' || args.action?.type === 'refresh-models';
  const first = args.model ?? settings.model ?? readLastModel(settings);
  if (isRouterName(first) && !needsServer) return { model: toRouterModel(first) };
  const endpoint = getModelEndpoint(settings, known) ?? (needsServer ? defaultEndpoint : undefined);
  if (!endpoint) {
    const { model, message } = await discoverModel(settings, args.model ?? settings.model);
    notify(message);
    return { model };
  }
  try {
    if (args.action?.type === 'test-connection') notify(await testConnection(settings, endpoint));
    if (args.action?.type === 'refresh-models' || (known.length === 0 && !namesOtherProvider(args, endpoint))) {
      if (args.action?.type !== 'refresh-models' && !(await confirmListModels(endpoint, ui))) return exitCodes.failed;
      known = await refreshModels(settings, { endpoint, onWarning: notify });
      notify(`${known.length} model${known.length === 1 ? '' : 's'} at ${formatEndpoint(endpoint)}.`);
    }
  } catch (error) {
    return fail(error);
  }
  return pickModel(args.model, known, endpoint, settings, ui);
}

/** A model of another provider needs no list of this one. */
const namesOtherProvider = (args: CliArgs, endpoint: ModelEndpoint): boolean =>
  args.model !== undefined && findModel(args.model, [], endpoint) !== undefined;

async function confirmListModels(endpoint: ModelEndpoint, ui: TerminalUI): Promise<boolean> {
  const key = await ui.askKey({
    title: `It is not known which models ${formatEndpoint(endpoint)} has. Ask it now?`,
    keys: [
      { key: 'y', label: 'yes' },
      { key: 'n', label: 'no, leave' },
    ],
    defaultKey: 'n',
  });
  return key === 'y';
}

/** The model of the command line, the settings or the last start; otherwise the user picks one. */
async function pickModel(
  name: string | undefined,
  known: readonly KnownModel[],
  endpoint: ModelEndpoint,
  settings: Settings,
  ui: TerminalUI,
): Promise<SelectedModel | number> {
  const wanted = name ?? settings.model ?? readLastModel(settings);
  if (isRouterName(wanted)) return { model: toRouterModel(wanted) };
  const found = wanted === undefined ? undefined : findModel(wanted, known, endpoint);
  if (found) return { model: found };
  if (known.length === 0) {
    ui.putBlock({ type: 'notice', id: 'none', level: 'error', text: `${formatEndpoint(endpoint)} has no models.` });
    return exitCodes.failed;
  }
  const title =
    wanted === undefined ? 'Which model?' : `${formatEndpoint(endpoint)} has no model "${wanted}". Which one instead?`;
  const picked = await ui.pick(
    title,
    known.map(({ id, tools }) => ({
      value: id,
      label: id,
      ...(tools === false ? { description: 'cannot call tools' } : {}),
    })),
  );
  const model = known.find(({ id }) => id === picked);
  return model ? { model: toResolvedModel(model) } : exitCodes.failed;
}
