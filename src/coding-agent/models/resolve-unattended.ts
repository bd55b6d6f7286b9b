// Which model answers where nobody is there to be asked: in a single run, and for programs that drive a session.
import { readKnownModels, readLastModel } from '../state/index.ts';
import type { Settings } from '../settings/index.ts';
import { discoverModel } from './discover-model.ts';
import { isRouterName, requireModel, getModelEndpoint, toRouterModel, type ResolvedModel } from './resolve-model.ts';

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
  const { model: chosen, message } = await discoverModel(settings, wanted);
  if (wanted === undefined) tell(`${message}\n`);
  return chosen;
}
