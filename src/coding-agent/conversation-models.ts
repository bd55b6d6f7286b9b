// Decisions about the model of a conversation: which provider is listed, what is remembered for the next start, and whether a history can be sent as it is.
import { findFamily } from '../providers/index.ts';
import type { ConversationOptions, ConversationState } from './conversation-state.ts';
import { getModelEndpoint, type ResolvedModel } from './models/resolve-model.ts';
import type { Settings } from './settings/index.ts';
import { saveLastModel, type KnownModel, type ModelEndpoint } from './state/index.ts';

/** The provider whose models are listed: that of the model in use, or that of the settings. */
export function getListedEndpoint(
  { provider, baseUrl }: ResolvedModel['ref'],
  settings: Settings,
  known: readonly KnownModel[],
): ModelEndpoint {
  const isListed = findFamily(provider) !== undefined && findFamily(provider)?.protocol !== 'embedded';
  const own = isListed ? { provider, ...(baseUrl === undefined ? {} : { baseUrl }) } : undefined;
  return own ?? getModelEndpoint(settings, known) ?? { provider };
}

/** Returns a function that saves the model for the next start, to be called once the model has answered: a model that never answered does not become the default. A failure is reported once. */
export function createModelSaver(): (options: ConversationOptions, state: ConversationState) => void {
  let hasFailed = false;
  return (options, state) => {
    const warning = hasFailed ? undefined : rememberModel(options, state);
    if (warning === undefined) return;
    hasFailed = true;
    options.host.notify(warning);
  };
}

/** Saves the model for the next start, if that is wanted; returns a warning if it could not be saved. */
function rememberModel(
  { settings, rememberModel: isWanted = false }: Pick<ConversationOptions, 'settings' | 'rememberModel'>,
  { router, model }: Pick<ConversationState, 'router' | 'model'>,
): string | undefined {
  if (!isWanted && settings.remember !== 'always') return undefined;
  const { provider, model: id } = model.ref;
  const name = provider === settings.provider ? model.name : `${provider}/${id}`;
  return saveLastModel(settings, router?.name ?? name);
}

/** Whether a run without input sends the session as it is after an answer. Hosted providers refuse such a request. */
export const isSentAsIs = ({ continueWith }: Settings, { ref }: Pick<ResolvedModel, 'ref'>): boolean =>
  continueWith === 'state' && findFamily(ref.provider)?.local === true;

/** Finds a model that the user named in the conversation; throws an error that says which part of the name is wrong. */
export async function requireNamedModel(name: string, settings: Settings): Promise<ResolvedModel> {
  const { requireModel } = await import('./models/unknown-model.ts');
  return { ...requireModel(name, settings, 'slash'), isNamed: true };
}
