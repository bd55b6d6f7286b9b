// The candidates of a router: price, context window, tools and locality of its models, known without a request.
import { FairleadError } from '../../core/index.ts';
import { resolveModel, parseModelRef, findFamily, type ResolvedModelRef } from '../../providers/index.ts';
import { lookUpKnownModel } from '../../providers/models/index.ts';
import { defaultQuality, type ModelCandidate } from '../../providers/routing/index.ts';
import { findModel, getModelEndpoint, type ResolvedModel } from '../models/resolve-model.ts';
import { isLocalModel } from '../private-sessions.ts';
import { readKnownModels, type KnownModel, type ModelEndpoint } from '../state/index.ts';
import type { Settings } from '../settings/index.ts';
import type { RouterModel, RouterSettings } from './router-config.ts';

/** A candidate, and the model to open for it. */
export type RouterCandidate = { readonly candidate: ModelCandidate; readonly model: ResolvedModel };

/** Loads the candidates of a router without a request to any of them. */
export function loadRouterCandidates(
  { models }: RouterSettings,
  settings: Settings,
): Promise<readonly RouterCandidate[]> {
  const known = readKnownModels(settings) ?? [];
  const endpoint = getModelEndpoint(settings, known);
  return Promise.all(models.map((listed) => loadRouterCandidate(listed, settings, known, endpoint)));
}

async function loadRouterCandidate(
  listed: RouterModel,
  settings: Settings,
  known: readonly KnownModel[],
  endpoint: ModelEndpoint | undefined,
): Promise<RouterCandidate> {
  const model = resolveListedModel(listed, known, endpoint);
  const { ref } = model;
  const resolved = resolveOrReason(ref, settings);
  const defaults = lookUpKnownModel(ref.model);
  const tools = listed.tools ?? model.tools ?? defaults.tools;
  const window = ref.contextWindow ?? (findFamily(ref.provider)?.local ? undefined : defaults.contextWindow);
  const local = listed.local ?? (await isLocalModel(model, settings));
  const [price, images] = 'why' in resolved ? [] : [resolved.price, resolved.images];
  return {
    model: { ...model, isDeclaredLocal: local, ...(tools === 'unknown' ? {} : { tools }) },
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

/** Resolves a model by its full name; the values of the router override those of the cached list. */
function resolveListedModel(
  { model, url, window, price }: RouterModel,
  known: readonly KnownModel[],
  endpoint: ModelEndpoint | undefined,
): ResolvedModel {
  const parts = parseModelRef(model);
  const isConfigured = endpoint !== undefined && findFamily(parts.provider) === findFamily(endpoint.provider);
  const found = findModel(model, known, endpoint) ?? {
    name: model,
    ref: { ...(isConfigured ? endpoint : {}), ...parts },
  };
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

/** The price and capabilities of a model, or why it cannot be used: a missing key, an unknown provider. */
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
