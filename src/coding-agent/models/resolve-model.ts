// Which model answers: the rows' rules about lists, flags and the last model used, the same for both modes; only who is asked differs.
import { FairleadError, isObject, closestMatches } from '../../core/index.ts';
import { findFamily, type ModelRef } from '../../providers/index.ts';
import { readKnownModels, readLastModel, type KnownModel, type ModelEndpoint } from '../state/index.ts';
import type { Settings } from '../settings/index.ts';

/** A model that was chosen. */
export type ResolvedModel = {
  /** As a person names it. */
  readonly name: string;
  readonly ref: Exclude<ModelRef, string>;
  /** Whether it can call tools; absent where nobody knows. */
  readonly tools?: boolean;
  /** The router that chooses anew for each message; the model is then only where it begins. */
  readonly router?: string;
  /** Whether its router calls it local. */
  readonly isDeclaredLocal?: boolean;
};

/** Whether a name stands for a router, which chooses a model for each message, and not for a model. */
export const isRouterName = (name: string | undefined): name is 'auto' | `router:${string}` =>
  name === 'auto' || name?.startsWith('router:') === true;

/** The names under which the person's routers can be chosen. */
export function listRouterNames({ routers }: Pick<Settings, 'routers'>): readonly string[] {
  const names = isObject(routers) ? Object.keys(routers) : [];
  const auto = names.length === 1 || names.includes('auto') ? ['auto'] : [];
  return [...auto, ...names.filter((name) => name !== 'auto').map((name) => `router:${name}`)];
}

/** A router in the place of a model. */
export const toRouterModel = (name: string): ResolvedModel => ({
  name,
  ref: { provider: 'router', model: name },
  router: name,
});

/** Where this person's models are: where they said, or where the list they have came from; nothing if neither is known. */
export function getModelEndpoint(settings: Settings, known: readonly KnownModel[]): ModelEndpoint | undefined {
  const { provider, url } = settings;
  if (provider !== undefined) return { provider, ...(url === undefined ? {} : { baseUrl: url }) };
  const [first] = known;
  return first && { provider: first.provider, ...(first.url ? { baseUrl: first.url } : {}) };
}

/** Where models are when nobody said where. */
export const defaultEndpoint: ModelEndpoint = { provider: 'ollama' };

/** The place in words. */
export const formatEndpoint = ({ provider, baseUrl }: ModelEndpoint): string =>
  baseUrl === undefined ? provider : `${provider} (${baseUrl})`;

/** The model of this name: one of the list, or `provider/model` of another provider; nothing if it is neither. */
export function findModel(
  name: string,
  known: readonly KnownModel[],
  place: ModelEndpoint | undefined,
): ResolvedModel | undefined {
  const listed = known.find(({ id }) => id === name) ?? known.find(({ id, provider }) => `${provider}/${id}` === name);
  if (listed) return toResolvedModel(listed);
  const slash = name.indexOf('/');
  const provider = name.slice(0, Math.max(0, slash));
  if (slash < 0 || !findFamily(provider)) return undefined;
  const same = place !== undefined && findFamily(provider) === findFamily(place.provider);
  // What the list of the provider in use does not have is a mistake; without a list the person is believed.
  if (same && known.length > 0) return undefined;
  const ref = { ...(same ? place : { provider }), model: name.slice(slash + 1) };
  // It could, but the list of tools alone takes it a minute to read and half its window.
  return { name, ref, ...(provider === 'embedded' ? { tools: false } : {}) };
}

/** What a person has to know about a model that cannot call tools; nothing about one that can. */
export const formatNoToolsWarning = ({ name, tools }: ResolvedModel): string | undefined =>
  tools === false ? `${name} cannot call tools, so none are offered to it: it can only talk.` : undefined;

/** A model of the list, as chosen. */
export function toResolvedModel({ id, provider, url, tools, images, contextWindow }: KnownModel): ResolvedModel {
  return {
    name: id,
    ref: {
      provider,
      model: id,
      ...(url ? { baseUrl: url } : {}),
      // Of Ollama the list says what a model could hold at most; what it really holds is found when it is opened.
      ...(contextWindow === undefined || findFamily(provider)?.protocol === 'ollama' ? {} : { contextWindow }),
      ...(typeof images === 'boolean' ? { images } : {}),
    },
    ...(typeof tools === 'boolean' ? { tools } : {}),
  };
}

/** The error for a model that the list does not have. */
export function unknownModelError(
  name: string,
  known: readonly KnownModel[],
  place: ModelEndpoint | undefined,
): FairleadError {
  const near = closestMatches(
    name,
    known.map(({ id }) => id),
  );
  return new FairleadError(
    'cli/unknown-model',
    `${place ? formatEndpoint(place) : 'The list of models'} has no model "${name}".`,
    {
      blame: 'user',
      hint: near.length
        ? `Did you mean ${near.join(' or ')}?`
        : 'fairlead --one-shot --refresh-models reads the list again; fairlead models shows it.',
    },
  );
}

/** The model of a one-shot run; every way in which none can be told is a sentence that says what to do. */
export function requireModel(
  given: string | undefined,
  previous: string | undefined,
  known: readonly KnownModel[],
  place: ModelEndpoint,
): ResolvedModel {
  const wanted = given ?? previous;
  const named = wanted === undefined ? undefined : findModel(wanted, known, place);
  if (named && given !== undefined) return named;
  if (known.length === 0)
    throw new FairleadError('cli/no-model-list', `It is not known which models ${formatEndpoint(place)} has.`, {
      blame: 'user',
      hint: 'Ask it first: fairlead --one-shot --refresh-models',
    });
  if (wanted === undefined)
    throw new FairleadError('cli/no-model', 'No model was named, and none was used before.', {
      blame: 'user',
      hint: `Name one with --model, such as --model ${known[0]?.id}.`,
    });
  if (!named) throw unknownModelError(wanted, known, place);
  return named;
}

/** The model that was named, that the settings name, or that was used last; what was found on this machine where nothing is configured. */
export async function resolveModelUnattended(
  { model }: { readonly model?: string | undefined },
  settings: Settings,
  tell: (text: string) => void,
): Promise<ResolvedModel> {
  const known = readKnownModels(settings) ?? [];
  const place = getModelEndpoint(settings, known);
  const wanted = model ?? settings.model;
  const previous = readLastModel(settings);
  const first = wanted ?? previous;
  if (isRouterName(first)) return toRouterModel(first);
  if (place) return requireModel(wanted, previous, known, place);
  const { discoverModel } = await import('./discover-model.ts');
  const { model: chosen, message } = await discoverModel(settings, wanted);
  if (wanted === undefined) tell(`${message}\n`);
  return chosen;
}
