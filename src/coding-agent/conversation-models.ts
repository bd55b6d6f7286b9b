// Decisions about the model of a conversation: which provider is listed, what is remembered for the next start, and whether a history can be sent as it is.
import { findFamily } from '../providers/index.ts';
import { createContextWarnings } from './context-warnings.ts';
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

/** What happens after each turn. */
export type TurnHandler = {
  readonly onTurnEnded: (options: ConversationOptions, state: ConversationState) => void;
  /** Ends what it has begun. */
  readonly stop: () => void;
};

/** Creates what happens after each turn: the model is saved for the next start, warnings about the context are shown, and a new session gets a title if the model writes titles. */
export function createTurnHandler(): TurnHandler {
  const saveModel = createModelSaver();
  const warnOf = createContextWarnings();
  const stopped = new AbortController();
  const titled = new WeakSet<object>();
  const onTurnEnded: TurnHandler['onTurnEnded'] = (options, state) => {
    saveModel(options, state);
    const { open } = state;
    if (options.settings.sessionTitle === 'model' && open.session.state.calls.length === 0 && !titled.has(open)) {
      titled.add(open);
      void writeTitle(state, stopped.signal);
    }
    const { context } = state.open.session.state;
    const use = { ref: state.model.ref, used: context, window: state.parts.provider.contextWindow };
    for (const warning of warnOf(use)) options.host.notify(warning);
  };
  return { onTurnEnded, stop: () => stopped.abort() };
}

/** A title is not worth an error message: without one the session has its first message as its title. */
async function writeTitle(state: ConversationState, signal: AbortSignal): Promise<void> {
  try {
    const { titleByModel, wantsModelTitle } = await import('./session-title.ts');
    if (wantsModelTitle(state)) await titleByModel(state, signal);
  } catch {
    // The request failed, or the session was closed.
  }
}

/** Returns a function that saves the model for the next start, to be called once the model has answered: a model that never answered does not become the default. A failure is reported once. */
function createModelSaver(): (options: ConversationOptions, state: ConversationState) => void {
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
