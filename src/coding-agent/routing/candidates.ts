// What is known of a router's models before any of them is asked: their prices, windows and tools, and whether what they are told stays here.
import { FairleadError } from '../../core/index.ts';
import { resolveModel, parseModelRef, findFamily, type ResolvedModelRef } from '../../providers/index.ts';
import { lookUpKnownModel } from '../../providers/models/known-models.ts';
import { defaultQuality, type ModelCandidate } from '../../providers/routing/index.ts';
import { findModel, getModelEndpoint, type ResolvedModel } from '../models/resolve-model.ts';
import { isLocalModel } from '../privacy.ts';
import { readKnownModels, type KnownModel, type ModelEndpoint } from '../state/index.ts';
import type { Settings } from '../settings/index.ts';
import type { RouterModel, RouterSettings } from './router-config.ts';

/** A candidate, and the model as it is opened. */
export type RouterCandidate = { readonly candidate: ModelCandidate; readonly model: ResolvedModel };

/** The models of a router. Nothing is sent anywhere. */
export function loadRouterCandidates(
  { models }: RouterSettings,
  settings: Settings,
): Promise<readonly RouterCandidate[]> {
  const known = readKnownModels(settings) ?? [];
  const place = getModelEndpoint(settings, known);
  return Promise.all(models.map((listed) => loadRouterCandidate(listed, settings, known, place)));
}

async function loadRouterCandidate(
  listed: RouterModel,
  settings: Settings,
  known: readonly KnownModel[],
  place: ModelEndpoint | undefined,
): Promise<RouterCandidate> {
  const chosen = resolveListedModel(listed, known, place);
  const { ref } = chosen;
  const resolved = resolveOrReason(ref, settings);
  const told = lookUpKnownModel(ref.model);
  const tools = listed.tools ?? chosen.tools ?? told.tools;
  const window = ref.contextWindow ?? (findFamily(ref.provider)?.local ? undefined : told.contextWindow);
  const local = listed.local ?? (await isLocalModel(chosen, settings));
  const [price, images] = 'why' in resolved ? [] : [resolved.price, resolved.images];
  return {
    model: { ...chosen, isDeclaredLocal: local, ...(tools === 'unknown' ? {} : { tools }) },
    candidate: {
      name: listed.model,
      model: ref.model,
      local,
      quality: listed.quality ?? defaultQuality(ref),
      ...(price ? { price } : {}),
      ...(window === undefined ? {} : { window }),
      ...(tools === 'unknown' ? {} : { tools }),
      ...(images === undefined ? {} : { images }),
      ...('why' in resolved ? { unusable: resolved.why } : {}),
    },
  };
}

/** The model by its full name, with what the person's list knows of it and what the router says over that. */
function resolveListedModel(
  { model, url, window, price }: RouterModel,
  known: readonly KnownModel[],
  place: ModelEndpoint | undefined,
): ResolvedModel {
  const parts = parseModelRef(model);
  const same = place !== undefined && findFamily(parts.provider) === findFamily(place.provider);
  const found = findModel(model, known, place) ?? { name: model, ref: { ...(same ? place : {}), ...parts } };
  return {
    ...found,
    name: model,
    ref: {
      ...found.ref,
      ...(url === undefined ? {} : { baseUrl: url }),
      ...(window === undefined ? {} : { contextWindow: window }),
      ...(price === undefined ? {} : { price }),
    },
  };
}

/** Where it is reached, or why it cannot be: a key that is not set, a provider that nobody knows. */
function resolveOrReason(
  ref: ResolvedModel['ref'],
  { env }: Settings,
): Pick<ResolvedModelRef, 'price' | 'images'> | { readonly why: string } {
  if (ref.provider === 'scripted' || ref.provider === 'replay') return {};
  try {
    return resolveModel(ref, env);
  } catch (error) {
    if (error instanceof FairleadError) return { why: error.message.replace(/\.$/, '') };
    throw error;
  }
}
