// From a command line to an open conversation in interactive mode: what has to be asked first is asked here.
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
import type { ConversationOptions } from '../../coding-agent/conversation-state.ts';
import { discoverModel } from '../../coding-agent/models/discover-model.ts';
import {
  toResolvedModel,
  isRouterName,
  findModel,
  getModelEndpoint,
  formatEndpoint,
  toRouterModel,
  defaultEndpoint,
  type ResolvedModel,
} from '../../coding-agent/models/resolve-model.ts';
import { testConnection } from '../../coding-agent/models/test-connection.ts';
import { resolveSession, type SessionResolution } from '../../sessions/resolve-session.ts';

/** What a conversation needs, and who must let go of its session first. */
export type PreparedConversation = ConversationOptions & Pick<SessionResolution, 'locked'>;

/** Everything a conversation needs, or the exit code of a program that ends here. */
export async function prepareConversation(
  asked: CliArgs,
  settings: Settings,
  face: TerminalUI,
): Promise<PreparedConversation | number> {
  const ready = await selectModel(asked, settings, face);
  if (typeof ready === 'number') return ready;
  const session = await resolveSession(asked.session, settings.dirs, face);
  if (!session) return exitCodes.failed;
  const person = createUiPrompter(face);
  return { settings, flags: asked, host: person, prompter: person, ...ready, ...session };
}

type SelectedModel = { readonly model: ResolvedModel };

async function selectModel(asked: CliArgs, settings: Settings, face: TerminalUI): Promise<SelectedModel | number> {
  const say = (text: string, level: 'info' | 'error' = 'info'): void =>
    face.putBlock({ type: 'notice', id: crypto.randomUUID(), level, text });
  const fail = (error: unknown): number => {
    if (!(error instanceof FairleadError)) throw error;
    say(formatError(error), 'error');
    return exitCodeForError(error.code);
  };
  let known = readKnownModels(settings) ?? [];
  const asksServer = asked.action?.type === 'test-connection' || asked.action?.type === 'refresh-models';
  const first = asked.model ?? settings.model ?? readLastModel(settings);
  if (isRouterName(first) && !asksServer) return { model: toRouterModel(first) };
  const place = getModelEndpoint(settings, known) ?? (asksServer ? defaultEndpoint : undefined);
  if (!place) {
    const { model, message } = await discoverModel(settings, asked.model ?? settings.model);
    say(message);
    return { model };
  }
  try {
    if (asked.action?.type === 'test-connection') say(await testConnection(settings, place));
    if (asked.action?.type === 'refresh-models' || (known.length === 0 && !namesOtherProvider(asked, place))) {
      if (asked.action?.type !== 'refresh-models' && !(await confirmListModels(place, face))) return exitCodes.failed;
      known = await refreshModels(settings, { endpoint: place, onWarning: say });
      say(`${known.length} model${known.length === 1 ? '' : 's'} at ${formatEndpoint(place)}.`);
    }
  } catch (error) {
    return fail(error);
  }
  return pickModel(asked.model, known, place, settings, face);
}

/** A model of another provider needs no list of this one. */
const namesOtherProvider = (asked: CliArgs, place: ModelEndpoint): boolean =>
  asked.model !== undefined && findModel(asked.model, [], place) !== undefined;

async function confirmListModels(place: ModelEndpoint, face: TerminalUI): Promise<boolean> {
  const key = await face.askKey({
    title: `It is not known which models ${formatEndpoint(place)} has. Ask it now?`,
    keys: [
      { key: 'y', label: 'yes' },
      { key: 'n', label: 'no, leave' },
    ],
    defaultKey: 'n',
  });
  return key === 'y';
}

/** The model named on the command line, the last one used, or the one the person picks; there is no prompt before there is a model. */
async function pickModel(
  given: string | undefined,
  known: readonly KnownModel[],
  place: ModelEndpoint,
  settings: Settings,
  face: TerminalUI,
): Promise<SelectedModel | number> {
  const wanted = given ?? settings.model ?? readLastModel(settings);
  if (isRouterName(wanted)) return { model: toRouterModel(wanted) };
  const found = wanted === undefined ? undefined : findModel(wanted, known, place);
  if (found) return { model: found };
  if (known.length === 0) {
    face.putBlock({ type: 'notice', id: 'none', level: 'error', text: `${formatEndpoint(place)} has no models.` });
    return exitCodes.failed;
  }
  const title =
    wanted === undefined ? 'Which model?' : `${formatEndpoint(place)} has no model "${wanted}". Which one instead?`;
  const picked = await face.pick(
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
