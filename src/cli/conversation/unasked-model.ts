// Which model answers where nobody is there to be asked: in a single run, and for programs that drive a session.
import type { CliArgs } from '../front/asked.ts';
import { readKnownModels, readLastModel } from '../known-models/index.ts';
import type { Settings } from '../settings/index.ts';
import { firstRun } from './first-run.ts';
import { isRouter, modelForOnce, placeOf, routed, type Chosen } from './model.ts';

/** The model that was named, that the settings name, or that was used last; what was found on this machine where nothing is configured. */
export async function chosenUnasked(
  { model }: Pick<CliArgs, 'model'>,
  settings: Settings,
  tell: (text: string) => void,
): Promise<Chosen> {
  const known = readKnownModels(settings) ?? [];
  const place = placeOf(settings, known);
  const wanted = model ?? settings.model;
  const previous = readLastModel(settings);
  const first = wanted ?? previous;
  if (isRouter(first)) return routed(first);
  if (place) return modelForOnce(wanted, previous, known, place);
  const { chosen, words } = await firstRun(settings, wanted);
  if (wanted === undefined) tell(`${words}\n`);
  return chosen;
}
