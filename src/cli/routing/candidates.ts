// What is known of a router's models before any of them is asked: their prices, windows and tools, and whether what they are told stays here.
import { FairleadError } from '../../core/index.ts';
import { resolveModel, partsOf, familyOf, type Resolved } from '../../providers/index.ts';
import { knownModel } from '../../providers/models/known.ts';
import { usualQuality, type Candidate } from '../../providers/routing/index.ts';
import { modelNamed, placeOf, type Chosen } from '../conversation/model.ts';
import { isHere } from '../conversation/privacy.ts';
import { readKnownModels, type KnownModel, type Whence } from '../known-models/index.ts';
import type { Settings } from '../settings/index.ts';
import type { ListedModel, RouterSettings } from './routers.ts';

/** A candidate, and the model as it is opened. */
export type Entrant = { readonly candidate: Candidate; readonly chosen: Chosen };

/** The models of a router. Nothing is sent anywhere. */
export function entrantsOf({ models }: RouterSettings, settings: Settings): Promise<readonly Entrant[]> {
  const known = readKnownModels(settings) ?? [];
  const place = placeOf(settings, known);
  return Promise.all(models.map((listed) => entrantOf(listed, settings, known, place)));
}

async function entrantOf(
  listed: ListedModel,
  settings: Settings,
  known: readonly KnownModel[],
  place: Whence | undefined,
): Promise<Entrant> {
  const chosen = chosenFor(listed, known, place);
  const { ref } = chosen;
  const resolved = resolvedOr(ref, settings);
  const told = knownModel(ref.model);
  const tools = listed.tools ?? chosen.tools ?? told.tools;
  const window = ref.contextWindow ?? (familyOf(ref.provider)?.local ? undefined : told.contextWindow);
  const local = listed.local ?? (await isHere(chosen, settings));
  const [price, images] = 'why' in resolved ? [] : [resolved.price, resolved.images];
  return {
    chosen: { ...chosen, vouched: local, ...(tools === 'unknown' ? {} : { tools }) },
    candidate: {
      name: listed.model,
      model: ref.model,
      local,
      quality: listed.quality ?? usualQuality(ref),
      ...(price ? { price } : {}),
      ...(window === undefined ? {} : { window }),
      ...(tools === 'unknown' ? {} : { tools }),
      ...(images === undefined ? {} : { images }),
      ...('why' in resolved ? { unusable: resolved.why } : {}),
    },
  };
}

/** The model by its full name, with what the person's list knows of it and what the router says over that. */
function chosenFor(
  { model, url, window, price }: ListedModel,
  known: readonly KnownModel[],
  place: Whence | undefined,
): Chosen {
  const parts = partsOf(model);
  const same = place !== undefined && familyOf(parts.provider) === familyOf(place.provider);
  const found = modelNamed(model, known, place) ?? { name: model, ref: { ...(same ? place : {}), ...parts } };
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
function resolvedOr(
  ref: Chosen['ref'],
  { env }: Settings,
): Pick<Resolved, 'price' | 'images'> | { readonly why: string } {
  if (ref.provider === 'scripted' || ref.provider === 'replay') return {};
  try {
    return resolveModel(ref, env);
  } catch (error) {
    if (error instanceof FairleadError) return { why: error.message.replace(/\.$/, '') };
    throw error;
  }
}
